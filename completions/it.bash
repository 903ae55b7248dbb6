# Completion for bash: source this file. Options, their choices, passes and devices all come from the tools.

_it_options() { "$1" --help=json 2>/dev/null | grep -o '"names": \[[^]]*\]' | grep -o '"-[^"]*"' | tr -d '"'; }
# Of the option $2: "auto always never" where these are all values there are.
_it_choices() { "$1" --help=json 2>/dev/null | grep -F "\"$2\"" | sed -n 's/.*"value": "\([a-z0-9|]*\)".*/\1/p' | tr '|' ' '; }

_it() {
    local tool=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=
    # "--emit=te" comes as three words.
    if [ "$word" = = ]; then word=; fi
    if [ "$before" = = ]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi
    case $before in
        --passes | --stop-after-pass | --explain | --print-ir-after) words=$(it-opt --list-passes 2>/dev/null | sed -n 's/^\([a-z][a-z-]*\) .*/\1/p') ;;
        -d | --device | --fallback | --require) words=$(it-run --list-devices 2>/dev/null | cut -d: -f1) ;;
        -*) words=$(_it_choices "$tool" "$before") ;;
    esac
    case $word in
        -*) words=$(_it_options "$tool") ;;
        *) if [ "$tool" = it-check ] && [ "$COMP_CWORD" = 1 ]; then words='graph outputs coverage diff env'; fi ;;
    esac
    # shellcheck disable=SC2207  # words without blanks
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}

complete -o default -F _it it-import it-opt it-run it-check it-bench
