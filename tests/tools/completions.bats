# Completions ask the tools, so there is little that can be wrong; each shell that is here tries.
load common

# What bash offers for a command line, cut into words as bash does.
offered() {
    bash -c 'source "$IT_ROOT/completions/it.bash"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _it; printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

@test "bash: options, choices, passes, devices, checks" {
    run offered it-run --loa
    [ "$output" = --load-inputs ]
    run offered it-opt --emit = ""
    [ "${lines[*]}" = "text onnx dot json" ]
    run offered it-opt --emit = o
    [ "$output" = onnx ]
    run offered it-opt --explain fuse-c
    [ "$output" = fuse-conv-bn ]
    run offered it-run -d re
    [ "$output" = reference ]
    run offered it-check co
    [ "$output" = coverage ]
    for tool in it-import it-opt it-run it-check it-bench; do
        run offered $tool --he
        [ "$output" = --help ]
    done
}

@test "zsh and fish: the files are read without complaint, and the list has a line per name" {
    list='s/.*"names": \[\(.*\)\], "takes".*"help": "\(.*\)"}.*/\1\t\2/p'
    for file in it.zsh it.fish; do grep -qF "$list" "$IT_ROOT/completions/$file"; done
    [ "$(it-run --help=json | sed -n "$list" | wc -l)" = "$(it-run --help=json | grep -c '"names"')" ]
    if command -v zsh; then zsh -n "$IT_ROOT/completions/it.zsh"; fi
    if command -v fish; then fish -n "$IT_ROOT/completions/it.fish"; fi
}
