# The command line itself.
load common

tools="it-import it-opt it-run it-check it-bench"

@test "--help is a page on stdout, whatever else is there" {
    for tool in $tools; do
        run --separate-stderr $tool --nonsense --help
        [ "$status" = 0 ]
        [ -z "$stderr" ]
        [[ "${lines[0]}" = "Usage: $tool [OPTION]... "* ]]
        has_line "Examples:"
        has_line "Exit status:"
        run $tool -h
        [ "$status" = 0 ]
    done
}

@test "--version" {
    for tool in $tools; do
        run --separate-stderr $tool --version
        [ "$status" = 0 ]
        [[ "${lines[0]}" = "$tool (InfiniTensor) "* ]]
        has_line "Licence: Apache-2.0"
        has_line "Commit: "
        [ "$($tool -V)" = "$output" ]
    done
}

@test "--help=json is JSON" {
    for tool in $tools; do
        $tool --help=json | json "d['schema'] == 'it-help/1' and d['tool'] == '$tool' and any('--help' in o['names'] for o in d['options'])"
    done
    run it-run --help=xml
    [ "$status" = 2 ]
}

@test "an unknown option is one line and the closest spelling" {
    run it-run --prnt "$digits"
    [ "$status" = 2 ]
    has_line "it-run: unknown option '--prnt'; did you mean '--print'?"
    has_line "Try 'it-run --help'."
    run it-opt --emti=text "$digits"
    [ "$status" = 2 ]
    has_line "did you mean '--emit'?"
    run it-bench --zzzzzzzz "$digits"
    [ "$status" = 2 ]
    has_line "it-bench: unknown option '--zzzzzzzz'"
    has_no_line "did you mean"
}

@test "a value that is missing or none of the choices" {
    run it-run "$digits" --dim
    [ "$status" = 2 ]
    has_line "it-run: --dim needs a value: SYMBOL=N"
    run it-opt -O
    [ "$status" = 2 ]
    has_line "it-opt: -O needs a value: 0|1|2|3"
    run it-opt --emit=xml "$digits"
    [ "$status" = 2 ]
    has_line "--emit takes text, onnx, dot, json, not 'xml'"
    run it-run --color=blue "$digits"
    [ "$status" = 2 ]
}

@test "an option takes one value and leaves the operand" {
    run --separate-stderr it-run -i "image=@$seven" "$digits"
    [ "$status" = 0 ]
    run it-opt -O0 --print-ir-after "$digits" -o x.itg
    [ "$status" = 0 ]
    it-opt --passes= "$digits" -o none.itg
    it-opt -O0 "$digits" -o zero.itg
    cmp none.itg zero.itg
}

@test "-- ends options" {
    cp "$digits" ./--print.onnx
    run --separate-stderr it-run -q -- --print.onnx
    [ "$status" = 0 ]
    run sh -c 'it-run -q -- </dev/null'
    [ "$status" = 3 ]
    run it-run -- a b
    [ "$status" = 2 ]
    has_line "unexpected operand 'b'"
}

@test "operands: empty, too many, too few" {
    for tool in it-import it-opt it-run it-bench; do
        run $tool ""
        [ "$status" = 2 ]
        has_line "$tool: an operand is empty: "
    done
    run it-import
    [ "$status" = 2 ]
    has_line "it-import: an operand is missing: FILE.onnx|-"
    run it-run "$digits" more
    [ "$status" = 2 ]
}

@test "-q leaves errors, -v says more" {
    run it-run -q "$digits" -i nosuch=1
    [ -n "$output" ]
    run --separate-stderr it-run "$digits" -q
    [ -z "$stderr" ]
    run --separate-stderr it-run "$digits"
    [ -n "$stderr" ]
}

@test "colours" {
    run it-run --color=always "$digits" -i nosuch=1
    [[ "$output" = *$'\033['* ]]
    for setting in "NO_COLOR=1" "TERM=dumb"; do
        run env CLICOLOR_FORCE= $setting it-run "$digits" -i nosuch=1
        [[ "$output" != *$'\033['* ]]
    done
    run env CLICOLOR_FORCE=1 it-run --color=never "$digits" -i nosuch=1
    [[ "$output" != *$'\033['* ]]
}

@test "devices" {
    run it-run --list-devices
    [ "$status" = 0 ]
    for device in cpu reference null; do has_line "$device: "; done
    run it-run -d nosuch "$digits"
    [ "$status" = 2 ]
    has_line "known are cpu, reference, null"
    run it-run -q "$digits" -d cpu --device-option isa=portable
    [ "$status" = 0 ]
    run it-run -q "$digits" --threads 0
    [ "$status" = 2 ]
    run it-run -d cpu:7 "$digits"
    [ "$status" = 2 ]
    has_line "cpu has 1 device, number 0; there is no number 7"
    run it-run --device-option isa=nosuch "$digits"
    [ "$status" = 2 ]
    has_line "portable"
}
