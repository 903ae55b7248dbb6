"""Imports and exports models and compares ONNX Runtime's results on both files.

usage: against_ort.py ROUNDTRIP   (the program onnx_roundtrip)
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

ort.set_default_logger_severity(3)
F, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, dims, dtype=F):
    return helper.make_tensor_value_info(name, dtype, dims)


def weight(name, *dims, seed=0, scale=1.0):
    rng = np.random.default_rng(seed + sum(dims))
    return numpy_helper.from_array((rng.standard_normal(dims) * scale).astype(np.float32), name)


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(nodes, inputs, outputs, weights=(), opset=17, functions=(), domains=(), ir=8):
    graph = helper.make_graph(nodes, "case", inputs, outputs, list(weights))
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=ir)


node = helper.make_node


def mlp(opset):
    return model([node("Gemm", ["x", "w1", "b1"], ["h"], "fc1"), node("Relu", ["h"], ["a"], "act"),
                  node("Gemm", ["a", "w2", "b2"], ["l"], "fc2"), node("Softmax", ["l"], ["y"], "prob", axis=1)],
                 [value("x", ["batch", 40])], [value("y", ["batch", 10])],
                 [weight("w1", 40, 64), weight("b1", 64), weight("w2", 64, 10), weight("b2", 10)], opset), {"x": (3, 40)}


def cnn(opset):
    return model([node("Conv", ["x", "k", "b"], ["c"], "conv", pads=[1, 1, 1, 1], strides=[2, 2]),
                  node("BatchNormalization", ["c", "s", "o", "m", "v"], ["n"], "bn"), node("Relu", ["n"], ["r"]),
                  node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
                  node("GlobalAveragePool", ["p"], ["g"]), node("Flatten", ["g"], ["y"])],
                 [value("x", ["N", 3, 32, 32])], [value("y", ["N", 16])],
                 [weight("k", 16, 3, 3, 3), weight("b", 16), weight("s", 16), weight("o", 16), weight("m", 16),
                  numpy_helper.from_array(np.full(16, 0.5, np.float32), "v")], opset), {"x": (2, 3, 32, 32)}


def shapes(opset):
    return model([node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["n"], axis=0), node("Unsqueeze", ["n"], ["n1"], axes=[0]),
                  node("Concat", ["n1", "rest"], ["to"], axis=0), node("Reshape", ["x", "to"], ["y"])],
                 [value("x", ["N", 2, 3])], [value("y", None)], [numpy_helper.from_array(np.array(0, np.int64), "zero"), ints("rest", -1)],
                 opset), {"x": (4, 2, 3)}


def branches():
    """An If whose branches capture, use the same names, and return a value from around."""
    def branch(op, name):
        return helper.make_graph([node(op, ["x"], ["t"]), node("MatMul", ["t", "w"], ["r"])], name, [], [value("r", None)],
                                 [weight("w", 8, 8, seed=len(name))])
    return model([node("Relu", ["x0"], ["x"]), node("If", ["c"], ["y"], "choose", then_branch=branch("Abs", "then"), else_branch=branch("Neg", "otherwise")),
                  node("Add", ["y", "x"], ["z"])],
                 [value("x0", [8, 8]), value("c", [], BOOL)], [value("z", None)]), {"x0": (8, 8), "c": ()}


def nested_branches():
    inner = helper.make_graph([node("Add", ["x", "big"], ["deep"])], "deep", [], [value("deep", None)])
    other = helper.make_graph([node("Mul", ["x", "big"], ["deep2"])], "deep2", [], [value("deep2", None)])
    outer = helper.make_graph([node("If", ["d"], ["mid"], then_branch=inner, else_branch=other)], "mid", [], [value("mid", None)])
    plain = helper.make_graph([node("Identity", ["x"], ["same"])], "same", [], [value("same", None)])
    return model([node("If", ["c"], ["y"], then_branch=outer, else_branch=plain), node("Relu", ["y"], ["z"])],
                 [value("x", [50, 50]), value("c", [], BOOL), value("d", [], BOOL)], [value("z", None)], [weight("big", 50, 50)]), \
        {"x": (50, 50), "c": (), "d": ()}


def loop():
    body = helper.make_graph([node("Identity", ["cond"], ["cond_out"]), node("MatMul", ["s", "w"], ["m"]), node("Tanh", ["m"], ["s_out"]),
                              node("ReduceMean", ["s_out"], ["track"], keepdims=0)], "body",
                             [value("i", [], I64), value("cond", [], BOOL), value("s", [4, 4])],
                             [value("cond_out", [], BOOL), value("s_out", [4, 4]), value("track", [])])
    return model([node("Loop", ["n", "", "x"], ["last", "tracks"], "loop", body=body)], [value("x", [4, 4])],
                 [value("last", [4, 4]), value("tracks", [None])], [weight("w", 4, 4), numpy_helper.from_array(np.array(5, np.int64), "n")],
                 opset=18), {"x": (4, 4)}


def functions():
    f = helper.make_function("my", "scaled", ["a", "k"], ["out"], [node("Mul", ["a", "k"], ["m"]), node("LeakyRelu", ["m"], ["out"])],
                             [helper.make_opsetid("", 17)], ["alpha"])
    f.node[1].attribute.append(helper.make_attribute_ref("alpha", onnx.AttributeProto.FLOAT, ref_attr_name="alpha"))
    g = helper.make_function("my", "twice", ["a", "k"], ["out"], [node("scaled", ["a", "k"], ["m"], "first", domain="my", alpha=0.3),
                                                                    node("scaled", ["m", "k"], ["out"], "second", domain="my", alpha=0.2)],
                             [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)])
    return model([node("twice", ["x", "k"], ["t"], "call", domain="my"), node("scaled", ["t", "k"], ["y"], "again", domain="my", alpha=0.5)],
                 [value("x", ["N", 3])], [value("y", None)], [weight("k", 3)], functions=[f, g], domains=["my"]), {"x": (5, 3)}


def odd_graph():
    """Unsorted nodes, outputs that are inputs, initializers and one value twice, empty names."""
    nodes = [node("Add", ["b", "w"], ["y"]), node("Abs", ["a"], ["b"]), node("Neg", ["x"], ["a"]), node("Clip", ["x", "", "top"], ["z"])]
    made = model(nodes, [value("x", [3])], [value("y", [3]), value("z", [3]), value("b", [3])],
                 [weight("w", 3), numpy_helper.from_array(np.array(0.25, np.float32), "top")])
    return made, {"x": (3,)}


def contrib():
    return model([node("FusedMatMul", ["x", "w"], ["m"], "fused", domain="com.microsoft", alpha=0.5), node("Gelu", ["m"], ["y"], domain="com.microsoft")],
                 [value("x", [2, 8])], [value("y", None)], [weight("w", 8, 8)], domains=["com.microsoft"]), {"x": (2, 8)}


def quantized():
    return model([node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["d"]), node("Relu", ["d"], ["y"])],
                 [value("x", [4])], [value("y", [4])],
                 [numpy_helper.from_array(np.array(0.1, np.float32), "s"), numpy_helper.from_array(np.array(3, np.uint8), "z")]), {"x": (4,)}


CASES = {
    **{f"mlp_{v}": mlp(v) for v in (7, 9, 11, 13, 17, 21)},
    **{f"cnn_{v}": cnn(v) for v in (7, 9, 11, 17)},
    **{f"shapes_{v}": shapes(v) for v in (9, 11)},
    "branches": branches(), "nested_branches": nested_branches(), "loop": loop(), "functions": functions(), "odd_graph": odd_graph(),
    "contrib": contrib(), "quantized": quantized(),
}


def session(path):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(path, options)


def feeds(made, shapes_of, seed):
    rng = np.random.default_rng(seed)
    out = {}
    for info in made.graph.input:
        shape = shapes_of[info.name]
        if info.type.tensor_type.elem_type == BOOL:
            out[info.name] = np.array(bool((seed >> len(out)) & 1))
        else:
            out[info.name] = rng.standard_normal(shape).astype(np.float32)
    return out


def is_valid(path):
    try:
        onnx.checker.check_model(path, full_check=True)
        return True
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False


def compare(name, made, shapes_of, folder, program, *arguments):
    source, target = os.path.join(folder, f"{name}.onnx"), os.path.join(folder, f"{name}.out.onnx")
    onnx.save(made, source)
    subprocess.run([program, source, target, *arguments], check=True, stdout=subprocess.DEVNULL)
    exported = onnx.load(target)
    if is_valid(source):
        onnx.checker.check_model(target, full_check=True)
    assert [i.name for i in exported.graph.input] == [i.name for i in made.graph.input]
    assert [o.name for o in exported.graph.output] == [o.name for o in made.graph.output]
    for before, after in zip(made.graph.input, exported.graph.input):
        assert before.type == after.type, f"{name}: {before} became {after}"
    if not made.functions:
        kept = {n.name for n in exported.graph.node}
        assert all(n.name in kept for n in made.graph.node if n.name), f"{name}: node names {kept}"
    first, second = session(source), session(target)
    for seed in range(4):
        given = feeds(made, shapes_of, seed)
        for a, b in zip(first.run(None, given), second.run(None, given)):
            assert a.dtype == b.dtype and a.shape == b.shape, f"{name}: {a.dtype}{a.shape} became {b.dtype}{b.shape}"
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6, err_msg=name)


def external(folder, program):
    """Weights in a file beside the model, in and out."""
    made, shapes_of = mlp(17)
    onnx.save(made, os.path.join(folder, "ext.onnx"), save_as_external_data=True, location="ext.bin", size_threshold=0)
    source, target = os.path.join(folder, "ext.onnx"), os.path.join(folder, "ext.out.onnx")
    subprocess.run([program, source, target, "0", "external"], check=True)
    assert os.path.getsize(target + ".data") >= 64 * 40 * 4
    assert os.path.getsize(target) < 8192
    given = feeds(made, shapes_of, 1)
    np.testing.assert_array_equal(session(source).run(None, given)[0], session(target).run(None, given)[0])


def refusals(folder, program):
    made = model([node("Hardmax", ["x"], ["y"], "old")], [value("x", [2, 3])], [value("y", [2, 3])], opset=11)
    path = os.path.join(folder, "hardmax11.onnx")
    onnx.save(made, path)
    done = subprocess.run([program, path, path + ".out", "13"], capture_output=True, text=True)
    assert done.returncode == 4, done
    assert done.stderr.strip() == "Hardmax: 1 node (old): is carried in its form of opset 11, the model needs opset 13", done.stderr
    made, _ = mlp(17)
    path = os.path.join(folder, "mlp12.onnx")
    onnx.save(made, path)
    done = subprocess.run([program, path, path + ".out", "12"], capture_output=True, text=True)
    assert done.returncode == 4, done
    assert "Softmax: 1 node (prob): has its form of opset 13, the model is to be opset 12" in done.stderr, done.stderr
    assert not os.path.exists(path + ".out")


def main():
    program = sys.argv[1]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        jobs = [(name, lambda n=name, c=case: compare(n, *c, folder, program)) for name, case in CASES.items()]
        jobs += [("mlp_to_28", lambda: compare("mlp_to_28", *mlp(13), folder, program, "28"))]
        jobs += [("external", lambda: external(folder, program)), ("refusals", lambda: refusals(folder, program))]
        for name, job in jobs:
            try:
                job()
                print("ok  ", name)
            except Exception as problem:  # every case is to be told
                failed += 1
                print("FAIL", name, str(problem).strip()[:600])
    print(f"{len(jobs) - failed} of {len(jobs)} pass")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
