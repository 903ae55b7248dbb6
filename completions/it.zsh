#compdef it-import it-opt it-run it-check it-bench
# Completion for zsh: put this file into a folder of $fpath as _it. What may stand where is what the tools say (--complete).

_it() {
    local entry word prefix typed
    local -a said suffixes open open_help done done_help
    said=("${(@f)$(command ${${(Q)words[1]}/#\~/$HOME} --complete="${(j: :)words[1,CURRENT-1]} $QIPREFIX$PREFIX"$'\n'" ${(j: :)words[CURRENT+1,-1]}" 2>/dev/null)}")
    word=$said[1]
    for entry in "${(@)said[2,-1]}"; do
        if [[ $entry == *[=:@]$'\t'* ]]; then
            open+=("${entry%%$'\t'*}") open_help+=("${entry/$'\t'/  }")
        elif [[ $entry != $'\t'* ]]; then
            done+=("${entry%%$'\t'*}") done_help+=("${entry/$'\t'/  }")
        fi
    done
    if (( $#open )); then compadd -S '' -l -d open_help -a open; fi
    if (( $#done )); then compadd -l -d done_help -a done; fi
    for entry in ${(M)said:#$'\t'*}; do
        prefix=${${entry#$'\t'}%%$'\t'*} suffixes=(${=entry##*$'\t'}) typed=${word#$prefix}
        if [[ -z $QIPREFIX ]]; then typed=${(q)typed}; fi
        compset -p $(( $#PREFIX - $#typed ))
        if [[ $suffixes == / ]]; then _files -/
        elif (( $#open + $#done )); then _path_files -g "*(${(j:|:)suffixes:#/})(-.)"
        elif (( $#suffixes )); then _files -g "*(${(j:|:)suffixes:#/})(-.)"
        else _files
        fi
    done
}

_it "$@"
