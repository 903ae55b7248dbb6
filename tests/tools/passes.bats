# Pipelines of passes.
load common

nodes() { it-check graph "$1" | sed -n 's/^graph .*: \([0-9]*\) nodes.*/\1/p'; }

@test "-O0 changes nothing, higher levels do" {
    it-opt -O0 "$digits" -o 0.itg
    it-opt -O2 "$digits" -o 2.itg
    it-opt "$digits" -o standard.itg
    [ "$(nodes 0.itg)" = 14 ]
    [ "$(nodes 2.itg)" -lt 10 ]
    cmp 2.itg standard.itg
    for level in 1 3; do it-opt -O$level "$digits" -o $level.itg; done
    [ "$(nodes 3.itg)" -le "$(nodes 1.itg)" ]
    run it-opt -O7 "$digits" -o 7.itg
    [ "$status" = 2 ]
}

@test "-O1 is exact: the same bits on the reference device" {
    need_onnx
    for model in "$digits" "$models/rewrites.onnx" "$models/lookup.onnx"; do
        it-run -O0 -d reference "$model" -q -o zero.npz
        it-run -O1 -d reference "$model" -q -o one.npz
        cmp zero.npz one.npz
    done
}

@test "a list of passes, and the same as a file" {
    need_onnx
    it-opt "$models/rewrites.onnx" --passes='fix(canon,fold{max=1KiB},cse,dce){max=4}' -o list.itg
    printf -- '- fix: [canon, fold: {max: 1KiB}, cse, dce]\n  max: 4\n' >passes.yaml
    it-opt "$models/rewrites.onnx" --pipeline passes.yaml -o file.itg
    cmp list.itg file.itg
    [ "$(nodes list.itg)" -lt 7 ]
    run it-run list.itg -q -i 'x=[[1 2 3][4 5 6]]' --print
    [ "$output" = "y f32[2,3] = [[2, 4, 6], [8, 10, 12]]" ]
}

@test "pipelines that make no sense" {
    for passes in nosuch 'fold{size=3}' 'fix(canon' 'canon,,dce' 'fix(){max=2}x'; do
        run it-opt "$digits" --passes="$passes" -o x.itg
        [ "$status" = 2 ]
        [ "${#lines[@]}" = 1 ]
    done
    run it-opt "$digits" --passes=fuse-conv-bm -o x.itg
    has_line "did you mean 'fuse-conv-bn'?"
    echo 'not: [a list' >bad.yaml
    run it-opt "$digits" --pipeline bad.yaml -o x.itg
    [ "$status" = 2 ]
    has_line "bad.yaml"
    run it-opt "$digits" -O1 --passes=canon -o x.itg
    [ "$status" = 2 ]
    has_line "exclude each other"
    [ ! -e x.itg ]
}

@test "--list-passes" {
    run it-opt --list-passes
    [ "$status" = 0 ]
    for stem in $(sed -n 's/^PASS(\(.*\))$/\1/p' "$IT_ROOT/passes/passes.def"); do has_line "${stem//_/-}"; done
    has_line "-O2: "
}

@test "--stats and --print-pipeline go to stderr" {
    run --separate-stderr it-opt "$digits" --stats --print-pipeline -o x.itg
    [ "$status" = 0 ]
    [ -z "$output" ]
    output="$stderr"
    has_line "fuse-conv-bn"
    has_line "3 rewrites"
    has_line "fix(canon,"
}

@test "--stop-after-pass and --stop-after" {
    it-opt "$digits" --stop-after-pass fuse-conv-bn -o stopped.itg
    run it-check graph stopped.itg
    has_no_line "fused"
    run it-opt "$digits" --stop-after 0 --stats -o none.itg
    has_no_line "3 rewrites"
    run it-opt "$digits" --passes=fuse-conv-bn,dce --stop-after 1 -o one.itg
    [ "$(nodes one.itg)" = 14 ] || [ "$(nodes one.itg)" = 13 ]
    run it-check graph one.itg
    has_line "BatchNormalization"
    run it-opt "$digits" --stop-after-pass nosuch -o x.itg
    [ "$status" = 2 ]
}

@test "printing the graph between passes" {
    run --separate-stderr it-opt "$digits" --print-ir-after-change -o x.itg
    output="$stderr"
    [ "$(count_lines "after fuse-conv-bn:")" = 1 ]
    [ "$(count_lines "after canon:")" = 0 ]
    run --separate-stderr it-opt "$digits" --print-ir-after=canon -o x.itg
    output="$stderr"
    [ "$(count_lines "after canon:")" -ge 1 ]
    [ "$(count_lines "after dce:")" = 0 ]
    run it-opt "$digits" --print-ir-after=nosuch -o x.itg
    [ "$status" = 2 ]
}

@test "--explain says why a pass left something alone" {
    need_onnx
    "$IT_PYTHON" - <<'PYTHON'
import numpy, onnx
from onnx import helper, numpy_helper, TensorProto
f = lambda name, *shape: numpy_helper.from_array(numpy.ones(shape, numpy.float32), name)
nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("BatchNormalization", ["c", "s", "s", "s", "s"], ["n"]), helper.make_node("Add", ["c", "n"], ["y"])]
info = lambda name, *shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
graph = helper.make_graph(nodes, "g", [info("x", 1, 2, 4, 4)], [info("y", 1, 3, 4, 4)], [f("w", 3, 2, 1, 1), f("s", 3)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), "shared.onnx")
PYTHON
    run it-opt shared.onnx --explain=fuse-conv-bn -o x.itg
    [ "$status" = 0 ]
    has_line "it-opt: fuse-conv-bn: "
    run it-opt shared.onnx --explain=nosuch -o x.itg
    [ "$status" = 2 ]
}

@test "--verify-each=numeric holds every pass to its class" {
    need_onnx
    for model in "$digits" "$models/rewrites.onnx" "$models/lookup.onnx"; do
        for level in 1 2 3; do
            run it-opt -O$level "$model" --verify-each=numeric -o checked.itg
            [ "$status" = 0 ]
            it-opt -O$level "$model" -o plain.itg
            cmp checked.itg plain.itg
        done
    done
    run it-opt "$digits" --verify-each=maybe -o x.itg
    [ "$status" = 2 ]
}

@test "the ledger tells each stage" {
    it-import "$digits" | it-opt -O1 | it-opt --passes=dce -o x.itg
    run it-check graph --history x.itg
    [ "$(count_lines "ledger  ")" = 3 ]
    has_line "ledger  it-import "
    has_line "--passes=dce -> "
}

@test "what is optimised stays as it is" {
    for level in 1 2 3; do
        it-opt -O$level "$digits" -o once.itg
        it-opt -O$level once.itg -o twice.itg
        it-check diff once.itg twice.itg
    done
}
