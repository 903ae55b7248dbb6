# Completion for bash: source this file. What may stand where is what the tools say (--complete); here it is put in as bash wants it.

# Files behind $1 that end in one of $3...; all, where none does and $2, the number of words that fit, is 0. Folders end in /.
_it_files() {
    local file suffix
    local -a all fit=() wanted=("${@:3}")
    mapfile -t all < <(compgen -f -- "$1")
    for file in "${all[@]}"; do
        if [ -d "${file/#\~/$HOME}" ]; then fit+=("$file/"); continue; fi
        for suffix in "${wanted[@]}"; do
            if [ "$suffix" != / ] && [ "${file%"$suffix"}" != "$file" ]; then fit+=("$file"); fi
        done
    done
    if [ ${#fit[@]} = 0 ] && [ "$2" = 0 ] && [ "${wanted[*]}" != / ]; then fit=("${all[@]}"); fi
    if [ ${#fit[@]} != 0 ]; then printf '%s\n' "${fit[@]}"; fi
}

_it() {
    local -a said words=()
    local entry file prefix suffixes word typed=${COMP_WORDS[COMP_CWORD]} quote='' filenames=''
    COMPREPLY=()
    mapfile -t said < <(command "${COMP_WORDS[0]/#\~/$HOME}" --complete="${COMP_LINE:0:COMP_POINT}"$'\n'"${COMP_LINE:COMP_POINT}" 2>/dev/null)
    word=${said[0]}
    for entry in "${said[@]:1}"; do
        if [ "${entry:0:1}" != $'\t' ]; then words+=("${entry%%$'\t'*}"); continue; fi
        filenames=1 entry=${entry:1}
        prefix=${entry%%$'\t'*} suffixes=${entry#*$'\t'}
        # shellcheck disable=SC2086  # suffixes, split on purpose
        while IFS= read -r file; do words+=("$prefix$file"); done < <(_it_files "${word:${#prefix}}" ${#words[@]} $suffixes)
    done
    # Readline replaces what is behind the last of = and :, from an @ on, or behind an opening quote.
    case $typed in
        [\'\"]*) quote=${typed:0:1} typed=${typed:1} ;;
        *[!=:@]*) typed=${typed//\\/} ;;
        *) typed='' ;;
    esac
    local stays=$((${#word} - ${#typed}))
    if [ $stays -lt 0 ]; then stays=0; fi
    if [ -z "$quote" ] && [ $stays -gt 0 ] && [ "${word:stays-1:1}" = @ ]; then stays=$((stays - 1)); fi
    for entry in "${words[@]}"; do
        case $entry in *[=:@/]) compopt -o nospace 2>/dev/null ;; esac
        entry=${entry:stays}
        if [ -n "$filenames" ]; then :  # which bash quotes
        elif [ "$quote" = \' ]; then entry=${entry//\'/\'\\\'\'}
        elif [ "$quote" = \" ]; then entry=${entry//\\/\\\\} entry=${entry//\"/\\\"} entry=${entry//\$/\\\$} entry=${entry//\`/\\\`}
        else printf -v entry %q "$entry"
        fi
        COMPREPLY+=("$entry")
    done
    if [ -n "$filenames" ]; then compopt -o filenames 2>/dev/null; fi
}

complete -F _it it-import it-opt it-run it-check it-bench
