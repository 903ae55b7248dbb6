# Files: whole or not at all; forms of a graph; terminals.
load common

@test "-o writes the file and nothing else" {
    run it-opt "$digits" -o out.itg
    [ "$status" = 0 ]
    [ -z "$output" ]
    [ "$(ls)" = out.itg ]
}

@test "nothing half-written stays after a failure" {
    need_onnx
    echo before >out.itg
    it-import --embed "$models/large.onnx" | head -c 9000000 >cut
    run bash -c 'it-opt --embed -o out.itg <cut'
    [ "$status" = 3 ]
    [ "$(cat out.itg)" = before ]
    run it-run "$digits" -q -d null -o new.npz
    [ "$status" = 4 ]
    [ "$(ls)" = "cut"$'\n'"out.itg" ]
}

@test "a byte that changed in a saved stream is found by it-check graph" {
    need_onnx
    it-import --embed "$models/large.onnx" -o whole.itg
    run it-check graph whole.itg
    [ "$status" != 3 ]
    cp whole.itg damaged.itg
    printf '\252' | dd of=damaged.itg bs=1 seek=5000000 conv=notrunc status=none
    run it-check graph damaged.itg
    [ "$status" = 3 ]
    [[ "$output" = *"is damaged: its digest is"* ]]
}

@test "an output that is the input" {
    it-import "$digits" -o same.itg
    it-opt -O2 same.itg -o same.itg
    it-import "$digits" | it-opt -O2 -o other.itg
    cmp same.itg other.itg
}

@test "the text form reads back as itself" {
    need_onnx
    for model in "$digits" "$models/colons.onnx" "$models/symbols.onnx" "$models/rewrites.onnx" "$models/carried.onnx"; do
        it-opt -q -O0 --emit=text "$model" >first.txt
        it-opt -q -O0 --emit=text first.txt >second.txt
        it-opt -q -O0 --emit=text <second.txt >third.txt
        # Each stage adds itself to the ledger; the graph stays.
        for file in first second third; do sed '/^ledger {/,/^}/d' $file.txt >$file; done
        cmp first second
        cmp first third
        [ -s first ]
    done
}

@test "the text form runs" {
    need_onnx
    it-opt -O0 --emit=text "$models/rewrites.onnx" | it-run -i 'x=[[1 2 3][4 5 6]]' -o text.npz
    it-run -O0 "$models/rewrites.onnx" -i 'x=[[1 2 3][4 5 6]]' -o model.npz
    cmp text.npz model.npz
}

@test "the text form with all weights runs elsewhere" {
    it-opt -O2 --emit=text --embed "$digits" >all.txt
    it-run all.txt -i "image=@$seven" -o text.npz
    it-run "$digits" -i "image=@$seven" -o model.npz
    cmp text.npz model.npz
    run --separate-stderr it-opt -O2 --emit=text "$digits"
    [[ "$stderr" = *"--embed writes them" ]]
}

@test "json and dot" {
    it-opt -O0 "$digits" --emit=json | json 'd["schema"] == "it-graph/1" and d["name"] == "digits"'
    run it-opt -O0 "$digits" --emit=dot
    [ "${lines[0]}" = 'digraph "digits" {' ]
    [ "${lines[-1]}" = "}" ]
}

@test "a terminal gets no binary graph unless -f" {
    run at_terminal it-opt "$digits"
    [ "$status" = 2 ]
    has_line "a binary graph does not go to a terminal"
    has_line "-o FILE"
    run at_terminal it-opt "$digits" --emit=onnx
    [ "$status" = 2 ]
    run at_terminal it-opt -f "$digits"
    [ "$status" = 0 ]
    run at_terminal it-opt "$digits" --emit=text
    [ "$status" = 0 ]
    has_line 'graph "digits"'
}

@test "a terminal as input is no graph" {
    run at_terminal sh -c 'it-run --color=never </dev/tty'
    [ "$status" = 2 ]
    has_line "it-run: no graph: give a file, or pipe one in (see --help)"
}

@test "--embed and --by-reference exclude each other" {
    run it-import "$digits" --embed --by-reference -o x.itg
    [ "$status" = 2 ]
}

@test "references stay inside the folder of the file" {
    need_onnx
    cp "$models/large.onnx" here.onnx
    it-import here.onnx --by-reference -o here.itg
    [ "$(wc -c <here.itg)" -lt 65536 ]
    mkdir moved && mv here.onnx here.itg moved
    it-run moved/here.itg -q -o y.npz
    it-import moved/here.onnx --by-reference -o above.itg
    it-run above.itg -q
    run it-import "$models/large.onnx" --by-reference -o elsewhere.itg
    [ "$status" = 2 ]
    has_line "--embed"
    [ ! -e elsewhere.itg ]
}

@test "standard output by a name, where it is a pipe" {
    it-run -q "$digits" -i "image=@$seven" -o y.npz
    it-run -q "$digits" -i "image=@$seven" -o /dev/stdout | cmp - y.npz
    it-run -q "$digits" -i "image=@$seven" -o z.npz --json /dev/fd/1 | json 'd["schema"] == "it-run/1"'
    it-import -q "$digits" -o /dev/stdout | it-opt -o /dev/stdout | it-run -q -i "image=@$seven" -o /dev/stdout | cmp - y.npz
}

@test "no name at all" {
    for option in "-o" "--json" "--expect" "--load-inputs"; do
        run it-run -q "$digits" "$option" ""
        [ "$status" = 2 ]
        has_line "takes a name, not ''"
    done
}

@test "a name with blanks and a name that looks like an option" {
    cp "$digits" "my model.onnx"
    it-import "my model.onnx" -o ./-o.itg
    it-run -q -- -o.itg
    it-run -q ./-o.itg
}

@test "an output by reference does not replace what it refers to" {
    need_onnx
    cp "$models/large.onnx" m.onnx
    it-import --by-reference m.onnx -o m.itg
    ln m.onnx same.itg
    run it-opt --by-reference m.itg -o same.itg
    [ "$status" = 2 ]
    has_line "would replace the file that the weights are in"
    cmp m.onnx "$models/large.onnx"
    run it-opt m.itg -o m.onnx
    [ "$status" = 2 ]
    has_line "an ONNX model is written by it-opt --emit=onnx"
    cmp m.onnx "$models/large.onnx"
}

@test "a limit on file sizes is an error like any other" {
    need_onnx
    run bash -c 'ulimit -f 100; it-import --embed "$0" -o big.itg' "$models/large.onnx"
    [ "$status" = 5 ]
    has_line "File too large"
    [ -z "$(ls)" ]
}

@test "a killed writer leaves nothing" {
    need_onnx
    mkfifo slow
    it-import - -o out.itg <slow &
    writer=$!
    exec 9>slow
    head -c 1000 "$models/large.onnx" >&9
    sleep 0.2
    kill -9 $writer
    exec 9>&-
    [ "$(ls)" = slow ]
}

@test "an archive is not called .npy" {
    run it-run "$digits" -o y.npy
    [ "$status" = 2 ]
    [ -z "$(ls)" ]
}
