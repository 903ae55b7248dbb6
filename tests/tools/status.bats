# Every exit status, with its message exactly once; in plain sh, where only the last stage's status is seen.
load common

in_sh() { run sh -c "$1"; }

@test "0: yes" {
    run it-run "$digits"
    [ "$status" = 0 ]
}

@test "1: the answer is no" {
    it-run "$digits" -q --seed 1 -o one.npz
    run it-run "$digits" -q --seed 2 --expect one.npz
    [ "$status" = 1 ]
    has_line "DIFFERS  probabilities: "
    [ "$(count_lines "worst at")" = 1 ]
}

@test "2: usage" {
    run it-run "$digits" -i nosuch=ones
    [ "$status" = 2 ]
    [ "${#lines[@]}" = 1 ]
    has_line "it-run: -i nosuch=ones: the graph has no such input; it has image"
}

@test "3: a broken model, said once by the stage that found it" {
    echo junk >broken.onnx
    in_sh 'it-import broken.onnx | it-opt | it-run; echo $?'
    [ "${#lines[@]}" = 2 ]
    [[ "${lines[0]}" = "it-import: broken.onnx: not an ONNX model: "* ]]
    [ "${lines[1]}" = 3 ]
}

@test "3: a truncated model" {
    head -c 30000 "$digits" >cut.onnx
    in_sh 'it-import cut.onnx | it-opt | it-run; echo $?'
    [ "${#lines[@]}" = 2 ]
    [[ "${lines[0]}" = "it-import: cut.onnx: "* ]]
    [ "${lines[1]}" = 3 ]
}

@test "3: a model that is not there, said once" {
    in_sh 'it-import nosuch.onnx | it-opt | it-run; echo $?'
    [ "$output" = "it-import: cannot examine nosuch.onnx: No such file or directory"$'\n'3 ]
    for tool in "it-run nosuch.itg" "it-run -i image=@nosuch.npy $digits" "it-run --load-inputs nosuch.npz $digits" "it-run --expect nosuch.npz $digits" \
        "it-opt --pipeline nosuch.yaml $digits -o x.itg" "it-check graph nosuch.itg" "it-bench nosuch.itg"; do
        run $tool -q
        [ "$status" = 3 ]
        has_line "nosuch"
        has_line "No such file or directory"
    done
}

@test "3: no graph, and what it is instead" {
    printf 'PK\003\004 and more than that' >archive.itg
    run it-run archive.itg
    [ "$status" = 3 ]
    has_line "it-run: archive.itg is no graph: it is a zip archive"
    in_sh 'it-run </dev/null; echo $?'
    [ "$output" = "it-run: standard input is no graph: it is empty"$'\n'3 ]
}

@test "3: a killed producer is a truncated stream" {
    need_onnx
    mkfifo pipe
    it-import --embed "$models/large.onnx" >pipe &
    producer=$!
    run bash -c '{ dd bs=65536 count=1 iflag=fullblock status=none; kill -9 '$producer'; cat; } <pipe | it-run'
    [ "$status" = 3 ]
    [ "${#lines[@]}" = 1 ]
    has_line "it-run: standard input: the stream stopped"
    has_line "killed"
}

@test "3: a stream cut in its weights, anywhere" {
    need_onnx
    it-import --embed "$models/large.onnx" >whole.itg
    for bytes in 3 20 40 1000 8192 5000000 16000000; do
        head -c $bytes whole.itg >cut.itg
        run it-run cut.itg -q
        [ "$status" = 3 ]
        has_line "stopped"
        in_sh "head -c $bytes whole.itg | it-opt | it-run -q; echo \$?"
        [ "${#lines[@]}" = 2 ]
        [ "${lines[1]}" = 3 ]
    done
}

@test "3: a model that changed after a by-reference import is named" {
    need_onnx
    cp "$models/large.onnx" changing.onnx
    in_sh 'it-import changing.onnx | { cat >kept; touch -d 2001-02-03 changing.onnx; cat kept; } | it-opt -O0 | it-run -q; echo $?'
    [ "${lines[-1]}" = 3 ]
    [ "$(count_lines "changing.onnx")" = 1 ]
    has_line "changed"
}

@test "3: a model deleted after a by-reference import is named" {
    need_onnx
    cp "$models/large.onnx" leaving.onnx
    in_sh 'it-import leaving.onnx | { cat >kept; rm leaving.onnx; cat kept; } | it-opt -O0 | it-run -q; echo $?'
    [ "${lines[-1]}" = 3 ]
    [ "$(count_lines "leaving.onnx")" = 1 ]
    has_line "No such file"
}

@test "3: a saved stream with absolute references names --embed" {
    need_onnx
    it-import "$models/large.onnx" | cat >saved.itg
    run it-run saved.itg
    [ "$status" = 3 ]
    has_line "--embed"
}

@test "4: an unsupported operator travels, and the stage that must run it reports it" {
    need_onnx
    in_sh "it-import '$models/carried.onnx' | it-opt | it-run; echo \$?"
    [ "${lines[-1]}" = 4 ]
    [ "$(count_lines "it-run: ")" -ge 1 ]
    [ "$(count_lines "it-import: ")" = 1 ]
    has_line "org.example.Mystery"
    has_line "who"
    run --separate-stderr bash -c "it-import '$models/carried.onnx' | it-opt | it-check graph -; exit \${PIPESTATUS[1]}"
    [ "$status" = 0 ]
    [[ "$output" = *"1 x org.example.Mystery"* ]]
}

@test "4: it-import --strict refuses at once" {
    need_onnx
    in_sh "it-import --strict '$models/carried.onnx' | it-opt | it-run; echo \$?"
    [ "${lines[-1]}" = 4 ]
    [ "$(count_lines "it-import: ")" = 1 ]
    [ "$(count_lines "it-run: ")" = 0 ]
    has_line "org.example.Mystery"
}

@test "4: a device that runs nothing gives one grouped report" {
    run it-run "$digits" -q -d null
    [ "$status" = 4 ]
    [ "$(count_lines "it-run: ")" = 1 ]
    has_line "nodes are not supported"
    has_line "on null: the null device runs nothing ('softmax')"
    run it-run "$digits" -q -d null --fallback=cpu
    [ "$status" = 0 ]
}

@test "5: a full disk" {
    for tool in "it-import $digits --embed" "it-opt $digits" "it-run $digits -q" "it-check graph $digits" "it-bench $digits -q --iterations 1" "it-opt --list-passes" \
        "it-run --help" "it-check --version"; do
        in_sh "$tool >/dev/full; echo \$?"
        [ "${#lines[@]}" = 2 ]
        [[ "${lines[0]}" = *"cannot write standard output: No space left on device" ]]
        [ "${lines[1]}" = 5 ]
    done
    run it-run "$digits" -q -o /dev/full
    [ "$status" = 5 ]
    run it-run "$digits" -q -o nosuch/y.npz
    [ "$status" = 5 ]
    has_line "nosuch/y.npz"
}

@test "141: a closed pipe is quiet" {
    need_onnx
    for tool in "it-import --embed $models/large.onnx" "it-opt --embed $models/large.onnx" "it-opt --emit=text --embed $digits"; do
        run bash -c "$tool | head -c 10 >/dev/null; echo \${PIPESTATUS[0]}"
        [ "${#lines[@]}" = 1 ]
        [ "$output" = 141 ]
    done
}

@test "the first fault is the one that counts, through three stages" {
    echo junk >broken.onnx
    in_sh 'it-import broken.onnx | it-opt -O1 | it-opt -O2 | it-check graph -; echo $?'
    [ "${#lines[@]}" = 2 ]
    [ "${lines[1]}" = 3 ]
    in_sh "it-import '$digits' | it-opt --passes=nosuch | it-run; echo \$?"
    [ "${#lines[@]}" = 2 ]
    [ "${lines[1]}" = 2 ]
}

@test "a cut is held to what it keeps" {
    need_onnx
    run it-import --strict --to r "$models/carried.onnx" -o cut.itg
    [ "$output" = "" ]
    [ "$status" = 0 ]
    run it-import --from m --to r "$models/carried.onnx" -o off.itg
    [ "$status" = 2 ]
    has_line "--from m: none of its values is computed by a node and needed for the outputs"
}
