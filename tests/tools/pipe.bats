# The main pipe on a real model.
load common

top_class() { "$IT_PYTHON" -c 'import numpy, sys; print(numpy.load(sys.argv[1])["probabilities"].argmax())' "$1"; }

@test "import | opt | run recognises a seven" {
    it-import "$digits" | it-opt -O2 | it-run -i "image=@$seven" -o y.npz
    "$IT_PYTHON" -c 'import numpy' || skip "Python has no NumPy"
    [ "$(top_class y.npz)" = 7 ]
}

@test "each level gives ONNX Runtime's numbers" {
    need_ort
    for level in 0 1 2 3; do
        it-import "$digits" | it-opt -O$level | it-run -i "image=@$seven" --save-inputs x.npz -o y.npz
        "$IT_PYTHON" "$IT_ROOT/tests/tools/oracle.py" "$digits" x.npz y.npz
    done
}

@test "a chain with 16 MiB of weights gives ONNX Runtime's numbers, by reference and embedded" {
    need_onnx
    need_ort
    for how in --by-reference --embed; do
        it-import $how "$models/large.onnx" | it-opt | it-run --dim batch=3 -q --save-inputs x.npz -o y.npz
        "$IT_PYTHON" "$IT_ROOT/tests/tools/oracle.py" "$models/large.onnx" x.npz y.npz
    done
}

@test "tee in between changes nothing, and what it kept is a graph" {
    it-import --embed "$digits" | tee kept.itg | it-opt | it-run -i "image=@$seven" -o piped.npz
    it-opt kept.itg | it-run -i "image=@$seven" -o kept.npz
    cmp piped.npz kept.npz
}

@test "a saved graph equals the piped one" {
    it-import "$digits" | it-opt --embed >piped.itg
    it-import "$digits" | it-opt -o saved.itg
    cmp piped.itg saved.itg
    it-import "$digits" | it-opt | it-run -i "image=@$seven" -o piped.npz
    it-run saved.itg -i "image=@$seven" -o saved.npz
    cmp piped.npz saved.npz
}

@test "the same input and options give the same bytes" {
    it-import "$digits" | it-opt -o first.itg
    it-import "$digits" | it-opt -o second.itg
    cmp first.itg second.itg
}

@test "by reference is small, embedded is whole" {
    need_onnx
    [ "$(it-import "$models/large.onnx" | wc -c)" -lt 65536 ]
    [ "$(it-import --embed "$models/large.onnx" | wc -c)" -gt 16777216 ]
    it-import "$models/large.onnx" >redirected.itg
    [ "$(wc -c <redirected.itg)" -gt 16777216 ]
}

@test "a model on standard input" {
    it-import - <"$digits" | it-run -i "image=@$seven" -o piped.npz
    it-import "$digits" | it-run -i "image=@$seven" -o named.npz
    cmp piped.npz named.npz
}

@test "it-run takes a model as it is" {
    run --separate-stderr it-run "$digits" -i "image=@$seven"
    [ "$status" = 0 ]
    [[ "$output" =~ ^"probabilities f32[1,10] min "[-0-9.e]+" max 0.99"[0-9]+" mean "[0-9.]+$ ]]
    [ -z "$stderr" ]
}

@test "the model written back gives the same numbers in ONNX Runtime" {
    need_ort
    it-opt -O1 --emit=onnx "$digits" -o again.onnx
    it-run "$digits" -O0 -i "image=@$seven" --save-inputs x.npz -o y.npz
    "$IT_PYTHON" "$IT_ROOT/tests/tools/oracle.py" again.onnx x.npz y.npz
}

@test "a stage that writes text tells the next one that it failed" {
    need_onnx
    run bash -c 'it-opt --emit=text missing.onnx | it-run; echo "${PIPESTATUS[@]}"'
    [ "$(count_lines missing.onnx)" = 1 ]
    [ "${lines[-1]}" = "3 3" ] || [ "${lines[-1]}" = "5 5" ]
}
