#compdef it-import it-opt it-run it-check it-bench
# Completion for zsh: put this file into a folder of $fpath as _it. The options and what they do come from the tool.

_it() {
    local -a options
    options=("${(@f)$($words[1] --help=json 2>/dev/null |
        sed -n 's/.*"names": \[\(.*\)\], "takes".*"help": "\(.*\)"}.*/\1\t\2/p' |
        awk -F '\t' '{ n = split($1, names, /, /); for (i = 1; i <= n; i++) { gsub(/"/, "", names[i]); print names[i] ":" $2 } }')}")
    if [[ $PREFIX == -* ]]; then
        _describe option options
    elif [[ $words[1] == it-check && $CURRENT == 2 ]]; then
        _values check graph outputs coverage diff env
    else
        _files
    fi
}

_it "$@"
