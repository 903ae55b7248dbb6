# it-check: yes or no.
load common

@test "graph: summary and digests" {
    run it-check graph "$digits" --digest
    [ "$status" = 0 ]
    has_line 'graph "digits": 14 nodes'
    has_line "input   image: f32[batch,1,8,8]"
    has_line "output  probabilities: f32[batch,10]"
    [[ "$output" =~ structure\ \ [0-9a-f]{32} ]]
    [[ "$output" =~ content\ \ \ \ [0-9a-f]{32} ]]
    digests="$(grep -E '^(structure|content)' <<<"$output")"
    it-import --embed "$digits" >embedded.itg
    [ "$(it-check graph embedded.itg --digest | grep -E '^(structure|content)')" = "$digests" ]
}

@test "graph: findings are a no" {
    need_onnx
    run it-check graph "$models/rewrites.onnx"
    [ "$status" = 1 ]
    has_line "IT-G002 warning: Neg"
    run it-check graph "$models/carried.onnx" -q
    [ "$status" = 1 ]
    has_line "IT-G004 warning: org.example.Mystery: 1 nodes"
    it-opt -O1 "$models/rewrites.onnx" | it-check graph
}

@test "outputs: what the stream carries" {
    need_onnx
    need_ort
    "$IT_PYTHON" - "$digits" "$seven" <<'PYTHON'
import os, sys
import numpy, onnxruntime
from onnx import numpy_helper
x = numpy.load(sys.argv[2])
y, = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"]).run(None, {"image": x})
for folder, value in ("good", y), ("bad", y + numpy.float32(0.01)):
    os.makedirs(f"{folder}/test_data_set_0")
    for name, array in ("input_0", x), ("output_0", value):
        open(f"{folder}/test_data_set_0/{name}.pb", "wb").write(numpy_helper.from_array(array).SerializeToString())
PYTHON
    it-import "$digits" --with-test-data good | it-opt -O2 | it-check outputs
    run bash -c "it-import '$digits' --with-test-data bad | it-opt | it-check outputs"
    [ "$status" = 1 ]
    has_line "DIFFERS  probabilities"
    it-import "$digits" --with-test-data bad | it-check outputs --atol 0.1
    # it-run takes the same inputs when nothing else is asked for.
    run --separate-stderr bash -c "it-import '$digits' --with-test-data good | it-run"
    [[ "$output" = "probabilities f32[1,10] min "*" max 0.99"* ]]
    [ -z "$stderr" ]
}

@test "outputs: from files" {
    it-run "$digits" -q --save-inputs x.npz -o y.npz
    it-check outputs "$digits" --load-inputs x.npz --expect y.npz
    run it-check outputs "$digits" --seed 3 --expect y.npz
    [ "$status" = 1 ]
    run it-check outputs "$digits"
    [ "$status" = 2 ]
    has_line "--with-test-data"
}

@test "no such check" {
    run it-check nosuch "$digits"
    [ "$status" = 2 ]
    has_line "graph, outputs, coverage, diff or env"
    run it-check
    [ "$status" = 2 ]
}

@test "outputs: nothing to compare with is no yes" {
    need_onnx
    "$IT_PYTHON" -c 'import numpy, sys; x = numpy.load(sys.argv[1]); numpy.savez("in.npz", image=x); numpy.savez("none.npz")' "$seven"
    run bash -o pipefail -c 'it-import "$0" --with-test-data in.npz | it-check outputs' "$digits"
    [ "$status" = 3 ]
    has_line "nothing to compare with"
    run it-run "$digits" -q --expect none.npz
    [ "$status" = 3 ]
    it-run "$models/rewrites.onnx" -O0 -q --save-inputs x.npz --dump='*' -o all.npz
    it-run "$models/rewrites.onnx" -O0 -q --load-inputs x.npz -o some.npz
    run it-run "$models/rewrites.onnx" -O0 -q --load-inputs x.npz --dump='*' --expect some.npz
    [ "$status" = 0 ]
    has_line "skipped  "
}

@test "outputs: the first value that differs, and what made it" {
    need_onnx
    "$IT_PYTHON" - "$digits" <<'PYTHON'
import sys
import onnx
model = onnx.load(sys.argv[1])
conv = [node for node in model.graph.node if node.op_type == "Conv"][1]
weight = next(tensor for tensor in model.graph.initializer if tensor.name == conv.input[1])
array = onnx.numpy_helper.to_array(weight).copy()
array.flat[:9] += 0.5
weight.CopyFrom(onnx.numpy_helper.from_array(array, weight.name))
onnx.save(model, "other.onnx")
print(f"{conv.output[0]}, made by Conv '{conv.name}', whose inputs agree", file=open("culprit", "w"))
PYTHON
    it-run -q -O0 "$digits" -i "image=@$seven" --dump='*' -o good.npz
    run it-run -q -O0 other.onnx -i "image=@$seven" --dump='*' --expect good.npz
    [ "$status" = 1 ]
    [ "${lines[-1]}" = "first difference: $(cat culprit)" ]
    [[ "$(grep -m1 DIFFERS <<<"$output")" = "DIFFERS  $(cut -d, -f1 culprit):"* ]]
    run it-run -q -O0 other.onnx -i "image=@$seven" --dump='*' --expect good.npz --json -
    [ "$status" = 1 ]
    json 'not d["comparison"]["equal"] and d["comparison"]["first_difference"] == open("culprit").read().strip()' <<<"$output"
    run it-run -q -O2 other.onnx -i "image=@$seven" --dump='*' --expect good.npz  # fused: fewer values
    [ "$status" = 1 ]
    has_line "expected, and the graph gives no value of that name"
}

@test "outputs: tolerances are numbers" {
    for number in nan inf -1; do
        run it-check outputs "$digits" --rtol $number
        [ "$status" = 2 ]
    done
}

@test "names with control bytes neither reach the terminal nor break a line" {
    need_onnx
    for command in "it-run" "it-check graph" "it-bench --profile --iterations 1"; do
        run $command "$models/control.onnx"
        [ "$status" = 0 ]
        has_line 'a\x1b[31m\nb'
        [[ "$output" != *$'\x1b'* ]]
    done
}

@test "a run names all that is missing" {
    need_onnx
    run it-run -q "$models/later.onnx"
    [ "$status" = 4 ]
    has_line "2 of 5 nodes are not supported"
    has_line "1 x If bool[]: operator has no definition here"
    has_line "1 x TopK"
}

@test "diff: the same, however it is written" {
    it-import --embed "$digits" -o embedded.itg
    it-opt -O0 --emit=onnx "$digits" -o again.onnx
    for other in "$digits" embedded.itg again.onnx; do
        run it-check diff "$digits" "$other"
        [ "$status" = 0 ]
        [ "$output" = "the same: 14 nodes" ]
    done
    it-import "$digits" | it-check diff - "$digits" --json | json 'd == {"schema": "it-diff/1", "same": True, "nodes_a": 14, "nodes_b": 14, "nodes_alike": 14, "types_that_follow": 0, "not_compared": [], "differences": []}'
    it-import --no-weights "$digits" | it-check diff - "$digits" | grep -q '^the same: 14 nodes; [1-9][0-9]* weights without content were not compared$'
}

@test "diff: a weight, an attribute, a name" {
    need_onnx
    "$IT_PYTHON" - "$digits" <<'PYTHON'
import sys, numpy, onnx
from onnx import numpy_helper
model = onnx.load(sys.argv[1])
first = next(n for n in model.graph.node if n.op_type == "Conv")
weight = next(w for w in model.graph.initializer if w.name == first.input[1])
array = numpy_helper.to_array(weight).copy()
array.flat[3] += 0.5
weight.CopyFrom(numpy_helper.from_array(array, weight.name))
onnx.save(model, "weight.onnx")
model = onnx.load(sys.argv[1])
for node in model.graph.node:
    if node.op_type == "Softmax":
        node.attribute[0].i = 0
model.graph.output[0].name = "p"
model.graph.node[-1].output[0] = "p"
onnx.save(model, "names.onnx")
PYTHON
    run it-check diff "$digits" weight.onnx
    [ "$status" = 1 ]
    has_line "weight    Conv 'conv_0': input 1 "
    has_line ": 1 of "
    has_line "largest difference 0.5"
    has_line "not the same: 1 difference; 13 nodes are alike, of 14 in A and 14 in B"
    run it-check diff "$digits" names.onnx --json
    [ "$status" = 1 ]
    json 'not d["same"] and sorted(e["kind"] for e in d["differences"]) == ["attribute", "output"]' <<<"$output"
}

@test "diff: what the optimiser did" {
    run bash -c "it-import '$digits' | it-opt -O2 | it-check diff '$digits' -"
    [ "$status" = 1 ]
    has_line "rewritten Conv 'conv_0', BatchNormalization 'batchnormalization_1'"
    it-opt -O2 "$digits" -o once.itg
    it-import "$digits" | it-opt -O2 | it-check diff once.itg -
    it-check diff once.itg once.itg
}

@test "diff: what makes no sense" {
    for command in "diff" "diff $digits" "diff - -" "diff $digits $digits $digits" "graph $digits $digits" "graph $digits --require cpu" "diff $digits $digits --digest"; do
        run it-check -q $command
        [ "$status" = 2 ]
    done
    run it-check diff "$digits" nosuch.onnx
    [ "$status" = 3 ] || [ "$status" = 5 ]
}
