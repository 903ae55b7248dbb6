"""Models and arrays that the tests of the tools read. fixtures.py FOLDER"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, I64 = TensorProto.FLOAT, TensorProto.INT64


def value(name, dtype, shape):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, constants=None, domains=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(a, n) for n, a in (constants or {}).items()])
    opsets = [helper.make_opsetid("", 17)] + [helper.make_opsetid(domain, 1) for domain in domains]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def models():
    random = np.random.default_rng(0)
    node = helper.make_node
    # 16 MiB of weights: more than a pipe holds.
    large = {f"w{i}": (random.standard_normal((1024, 1024)) / 32).astype(np.float32) for i in range(4)}
    chain = [node("MatMul", [f"h{i}", f"w{i}"], [f"h{i + 1}"]) for i in range(4)]
    yield "large", model(chain, [value("h0", F32, ["batch", 1024])], [value("h4", F32, ["batch", 1024])], large)

    table = {"table": np.arange(40, dtype=np.float32).reshape(10, 4)}
    yield "lookup", model([node("Gather", ["table", "ids"], ["y"])], [value("ids", I64, ["batch", "seq"])], [value("y", F32, ["batch", "seq", 4])], table)

    # Names that hold what separates the parts of -i.
    inputs = [value(name, F32, [2, 2]) for name in ("a", "a:0", "a:0=b")]
    sums = [node("Sub", ["a", "a:0"], ["d"]), node("Mul", ["d", "a:0=b"], ["y"])]
    yield "colons", model(sums, inputs, [value("y", F32, [2, 2])])

    # Names that shells have to quote.
    awkward = [value(name, F32, [2]) for name in ("my input", "my:in/put", "it's", 'say "x"', "a$b")]
    chain = [node("Sum", [v.name for v in awkward], ["y"], "node one")]
    yield "awkward", model(chain, awkward, [value("y", F32, [2])])

    yield "symbols", model([node("Add", ["x", "x"], ["y"])], [value("x", F32, ["rows", "columns"])], [value("y", F32, ["rows", "columns"])])
    two = [value("x", F32, ["rows", "columns"]), value("y", F32, ["rows", "columns"])]
    yield "two", model([node("Add", ["x", "y"], ["z"])], two, [value("z", F32, ["rows", "columns"])])
    yield "unsaid", model([node("Add", ["x", "x"], ["y"])], [value("x", F32, ["?", "?"])], [value("y", F32, ["?", "?"])])
    control = "a\x1b[31m\nb"
    yield "control", model([node("Neg", [control], ["y"], control)], [value(control, F32, [2])], [value("y", F32, [2])])
    yield "text", model([node("Identity", ["s"], ["t"])], [value("s", TensorProto.STRING, [2])], [value("t", TensorProto.STRING, [2])])

    mystery = [node("Relu", ["x"], ["r"]), node("Mystery", ["r"], ["m"], name="who", domain="org.example"), node("Neg", ["m"], ["y"])]
    yield "carried", model(mystery, [value("x", F32, [2])], [value("y", F32, [2])], domains=["org.example"])

    branch = [helper.make_graph([node(op, ["r"], ["b"])], op, [], [value("b", F32, ["n", 4])]) for op in ("Neg", "Abs")]
    later = [node("Relu", ["x"], ["r"]), node("ReduceSum", ["r"], ["s"], keepdims=0), node("Cast", ["s"], ["c"], to=TensorProto.BOOL),
             node("If", ["c"], ["y"], then_branch=branch[0], else_branch=branch[1]), node("TopK", ["y", "k"], ["v", "i"])]
    yield "later", model(later, [value("x", F32, ["n", 4])], [value("v", F32, ["n", 2]), value("i", I64, ["n", 2])], {"k": np.array([2], np.int64)})

    # What O2 rewrites: a constant to fold, an identity, a dead branch, equal nodes.
    simple = [
        node("Add", ["one", "one"], ["two"]),
        node("Identity", ["x"], ["same"]),
        node("Mul", ["same", "two"], ["p"]),
        node("Mul", ["same", "two"], ["q"]),
        node("Neg", ["x"], ["unread"]),
        node("Sub", ["p", "q"], ["zero"]),
        node("Add", ["zero", "p"], ["y"]),
    ]
    yield "rewrites", model(simple, [value("x", F32, [2, 3])], [value("y", F32, [2, 3])], {"one": np.ones((1,), np.float32)})


def main(folder):
    folder = pathlib.Path(folder)
    for name, proto in models():
        onnx.checker.check_model(proto)
        onnx.save(proto, folder / f"{name}.onnx")
    np.save(folder / "ids.npy", np.array([[1, 9, 0]], np.int64))
    np.savez(folder / "pair.npz", first=np.full((2, 2), 7, np.float32), second=np.array([[1, 2], [3, 4]], np.float32))


if __name__ == "__main__":
    main(*sys.argv[1:])
