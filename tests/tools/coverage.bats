# it-check coverage: what runs where, at what cost; what is missing; folders; sizes that only running tells.
load common

setup_file() {
    export models="$BATS_FILE_TMPDIR"
    build_plugins mini
    if "$IT_PYTHON" -c 'import onnx' 2>/dev/null; then
        "$IT_PYTHON" "$IT_ROOT/tests/tools/fixtures.py" "$models"
        mkdir "$models/costs"
        "$IT_PYTHON" - "$models" <<'PYTHON'
import sys
import numpy as np, onnx
from onnx import helper, numpy_helper

f32, i64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
node = helper.make_node

def save(name, nodes, inputs, outputs, constants={}, opset=23):
    values = [[helper.make_tensor_value_info(n, t, s) for n, t, s in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "g", *values, [numpy_helper.from_array(a, n) for n, a in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), f"{sys.argv[1]}/{name}.onnx")

def one(op, operands, result, **attributes):  # one node on inputs of these shapes
    names = [f"x{i}" for i in range(len(operands))]
    save(f"costs/{op}", [node(op, names, ["y"], **attributes)], [(n, f32, s) for n, s in zip(names, operands)], [("y", f32, result)])

one("Conv", [[1, 3, 8, 8], [4, 3, 3, 3]], [1, 4, 8, 8], pads=[1, 1, 1, 1])
one("ConvTranspose", [[1, 4, 5, 5], [4, 2, 3, 3]], [1, 2, 11, 11], strides=[2, 2])
one("Gemm", [[7, 5], [7, 6]], [5, 6], transA=1)
one("MatMul", [[2, 3, 4], [4, 5]], [2, 3, 5])
one("Einsum", [[2, 3, 4], [2, 4, 5]], [2, 3, 5], equation="bij,bjk->bik")
one("Attention", [[1, 2, 3, 4], [1, 2, 5, 4], [1, 2, 5, 6]], [1, 2, 3, 6])
one("LSTM", [[5, 1, 3], [1, 16, 3], [1, 16, 4]], [5, 1, 1, 4], hidden_size=4)
one("Relu", [[1, 4, 8, 8]], [1, 4, 8, 8])

save("turns", [node("Relu", ["x"], ["r"]), node("Sigmoid", ["r"], ["s"], "curve"), node("Add", ["s", "b"], ["y"])],
     [("x", f32, [2, 8])], [("y", f32, [2, 8])], {"b": np.ones(8, np.float32)})
# The elements of x decide the sizes of r.
save("decided", [node("Abs", ["x"], ["a"]), node("Cast", ["a"], ["s"], to=i64), node("Reshape", ["x", "s"], ["r"]), node("Neg", ["r"], ["y"])],
     [("x", f32, [2])], [("y", f32, ["p", "q"])])
save("window", [node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2])], [("x", f32, [1, 1, "height", "width"])], [("y", f32, None)])
PYTHON
    fi
}

@test "FLOPs and bytes are those of the definition" { # worked out by hand
    need_onnx
    run --separate-stderr it-check coverage --json "$models/costs"
    [ "$status" = 1 ]  # LSTM
    "$IT_PYTHON" -c '
import json, sys
report = json.load(sys.stdin)
found = {row["op"]: (row["flops"], row["bytes"]) for row in report["total"]["rows"]}
expected = {
    "Conv": (2 * 256 * 27, 4 * (192 + 108 + 256)),
    "ConvTranspose": (2 * 100 * 18, 4 * (100 + 72 + 242)),  # each input element meets each tap once
    "Gemm": (2 * 30 * 7, 4 * (35 + 42 + 30)),
    "MatMul": (2 * 30 * 4, 4 * (24 + 20 + 30)),
    "Einsum": (2 * 30 * 4, 4 * (24 + 40 + 30)),
    "Attention": (2 * (2 * 3 * 5 * 4 + 2 * 3 * 5 * 6), 4 * (24 + 40 + 60 + 36)),
    "LSTM": (2 * 5 * (48 + 64), 4 * (15 + 48 + 64 + 20)),
    "Relu": (256, 4 * 512)}
assert found == expected, (found, expected)
assert report["total"]["flops"] == sum(flops for flops, _ in expected.values())
' <<<"$output"
}

@test "partitions, and copies between memories" {
    need_onnx
    x_mini="-d $plugins/libmini.so"
    run --separate-stderr it-check coverage --json $x_mini --fallback=cpu "$models/turns.onnx"
    [ "$status" = 0 ]
    # x there, Relu's result back, Sigmoid's there, y back: 16 elements each
    json '[p["where"] for p in d["total"]["partitions"]] == ["mini", "cpu", "mini"] and d["total"]["copies"] == {"count": 4, "bytes": 4 * 64}' <<<"$output"
    json 'd["devices"] == ["mini", "cpu", "reference"] and [(m["op"], m["now"]) for m in d["total"]["missing"]] == [("Sigmoid", "cpu")]' <<<"$output"
    run it-check coverage $x_mini --fallback=cpu "$models/turns.onnx"
    has_line "partitions  3: 1 on cpu, 2 on mini"
    has_line "copies      4 between devices, 256 byte"
    has_line "Sigmoid f32, now on cpu: mini runs Add, Mul, Relu and MatMul"
    run it-run $x_mini --fallback=cpu "$models/turns.onnx"
    has_line "1 of 3 nodes go to a device that stands in, 4 copies between devices:"
    run --separate-stderr it-check coverage --json $x_mini "$models/turns.onnx"
    [ "$status" = 1 ]
    json '[p["where"] for p in d["total"]["partitions"]] == ["mini", "nowhere", "mini"] and d["total"]["nowhere"] == 1' <<<"$output"
}

@test "the report: where, by which kernel, what is missing first" {
    need_onnx
    run it-check coverage "$digits"
    [ "$status" = 0 ]
    grep -qE '^ +3  Conv +f32 +symbolic +98\.9% .* on cpu by conv' <<<"$output"
    has_line "assumed     batch=1 (--dim says otherwise)"
    grep -qE "^yes: 14 nodes, [0-9]+ on cpu" <<<"$output"
    run it-check coverage "$digits" --dim batch=3
    has_no_line assumed
    run it-check coverage "$digits" -d null
    [ "$status" = 1 ]
    grep -qE '^ +1\. +3 +98\.9% .* Conv f32, now nowhere: the null device runs nothing' <<<"$output"
    has_line "no: 14 of 14 nodes run nowhere on null"
    run it-check coverage "$models/carried.onnx" -q
    [ "$status" = 1 ]
    grep -qE '1  org.example::Mystery .* nowhere: operator has no definition here' <<<"$output"
    run it-check coverage -O2 "$digits"
    has_line "fused Conv+Relu"
}

@test "each node once, those of bodies as well" {
    need_onnx
    run --separate-stderr it-check coverage --json "$models/later.onnx"
    [ "$status" = 1 ]
    json 'sum(row["nodes"] for row in d["total"]["rows"]) == d["total"]["nodes"] == 7 and d["total"]["nowhere"] == 2' <<<"$output"
    json '{row["op"]: row["where"] for row in d["total"]["rows"]} == dict.fromkeys(["Relu", "ReduceSum", "Cast", "Neg", "Abs"], "device") | {"If": "nowhere", "TopK": "nowhere"}' <<<"$output"
}

@test "a folder: each model, one that cannot be read, and all together" {
    need_onnx
    mkdir -p folder/inner
    cp "$digits" folder/inner/digits.onnx
    it-import "$models/two.onnx" -o folder/two.itg
    echo "no model" >folder/broken.onnx
    echo "no model" >folder/notes.txt
    run --separate-stderr it-check coverage --json folder --dim rows=2
    [ "$status" = 3 ]
    json '[m["model"] for m in d["models"]] == ["folder/inner/digits.onnx", "folder/two.itg"] and d["total"]["nodes"] == 15' <<<"$output"
    json 'len(d["failed"]) == 1 and d["failed"][0]["model"] == "folder/broken.onnx" and d["failed"][0]["status"] == 3' <<<"$output"
    json '[m["assumed"] for m in d["models"]] == [{"batch": 1}, {"columns": 1}]' <<<"$output"
    run it-check coverage folder
    [ "$status" = 3 ]
    has_line "failed: folder/broken.onnx: "
    has_line "all 2"
    rm folder/broken.onnx
    mkfifo folder/pipe.onnx # holds no model, and is not waited for
    mkdir folder/inner/zoo.onnx
    timeout 20 it-check coverage folder
    ln -s nowhere folder/gone.onnx
    run it-check coverage folder
    [ "$status" = 3 ]
    has_line "failed: cannot examine folder/gone.onnx: No such file"
    ln -s ring.onnx folder/ring.onnx
    run it-check coverage folder
    has_line "failed: cannot examine folder/ring.onnx: Too many levels"
    mkdir none
    run it-check coverage none
    [ "$status" = 3 ]
    has_line "none holds no .onnx and no .itg"
}

@test "a folder that cannot be looked into is told among the others" {
    mkdir -p folder/locked
    cp "$digits" folder/
    chmod 000 folder/locked
    plainly=""
    [ "$(id -u)" != 0 ] || plainly="setpriv --bounding-set=-dac_override,-dac_read_search"  # root may look anywhere
    run $plainly it-check coverage folder
    chmod 700 folder/locked
    [ "$status" = 3 ]
    has_line "failed: folder/locked: Permission denied"
    has_line "all 1"
}

@test "a tensor that no memory holds" {
    for extents in 1073741824,1073741824 4611686018427387904,4611686018427387904; do
        printf '%s\n' 'graph "g" (' "  %x: f32[$extents]" ') -> (%y) {' '  %y = Relu(%x)' '}' >huge.txt
        run it-check coverage huge.txt
        [ "$status" = 5 ]
        has_line "has more elements than memory can hold"
    done
}

@test "what only running tells is said to be so, and what lies behind it is asked for" {
    need_onnx
    run --separate-stderr it-check coverage --json "$models/decided.onnx"
    [ "$status" = 0 ]
    json 'd["total"]["later"] == 1 and {r["op"]: (r["sizes"], r["where"]) for r in d["total"]["rows"]} == {"Abs": ("static", "device"), "Cast": ("static", "device"), "Reshape": ("dynamic", "later"), "Neg": ("dynamic", "device")}' <<<"$output"
    run --separate-stderr it-check coverage --json -d null "$models/decided.onnx"
    [ "$status" = 1 ]
    json '{r["op"] for r in d["total"]["rows"] if r["where"] == "nowhere"} == {"Abs", "Cast", "Neg"}' <<<"$output"
    run it-run -q "$models/decided.onnx" -i 'x=[2,1]' --print
    [ "$status" = 0 ]
}

@test "sizes that nobody gave are named where they do not fit" {
    need_onnx
    run it-check coverage "$models/window.onnx"
    [ "$status" = 3 ]
    has_line "a window of 2 does not fit into an axis of 1 with padding 0 and 0; assumed is height=1, width=1: give other sizes with --dim"
    it-check coverage "$models/window.onnx" --dim height=4,width=4
}
