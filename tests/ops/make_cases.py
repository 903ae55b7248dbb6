"""Writes cases/*.txt: text cases of operators whose expected outputs come from an independent oracle.

Each case names its oracle: "reference" is ONNX's reference evaluator, "ort" is ONNX Runtime, "numpy" is the formula beside the case.
Run by hand with onnx 1.23.2, onnxruntime and NumPy at hand; the files it writes are committed. Lines `sample ...` at a file's head, which are for
the properties over all operators, are written by hand; they stay.
"""
import pathlib
import sys
import warnings

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

warnings.filterwarnings("ignore")
HERE = pathlib.Path(__file__).parent
NEWEST = onnx.defs.onnx_opset_version()
NAMES = {  # ours, by TensorProto number
    1: "f32", 2: "u8", 3: "i8", 4: "u16", 5: "i16", 6: "i32", 7: "i64", 8: "str", 9: "bool", 10: "f16", 11: "f64", 12: "u32", 13: "u64", 16: "bf16",
    17: "f8e4m3fn", 18: "f8e4m3fnuz", 19: "f8e5m2", 20: "f8e5m2fnuz", 21: "u4", 22: "i4", 23: "f4e2m1", 24: "f8e8m0", 25: "u2", 26: "i2"}
NUMBERS = {name: number for number, name in NAMES.items()}


def number_of(array):
    return TensorProto.STRING if array.dtype.kind in "OUS" else helper.np_dtype_to_tensor_dtype(array.dtype)


def np_dtype(name):
    return helper.tensor_dtype_to_np_dtype(NUMBERS[name])


def arr(values, dtype="f32", shape=None):
    out = np.array(values, dtype=np.float64 if np_dtype(dtype).kind in "fV" else None).astype(np_dtype(dtype))
    return out if shape is None else out.reshape(shape)


def grid(seed, shape, dtype="f32", low=-8, high=8, step=4):
    """Multiples of 1/step (integers for integer types) in [low, high] / step: short to write and exact in every float type."""
    numbers = np.random.default_rng(seed).integers(low, high + 1, size=shape)
    kind = np.dtype(np_dtype(dtype)).kind
    if kind == "u":
        numbers = np.abs(numbers)
    return (numbers if kind in "iub" else numbers / step).astype(np_dtype(dtype))


def word(value, number):
    if number == TensorProto.STRING:
        return '"%s"' % value
    if number == TensorProto.BOOL or np.dtype(np_dtype(NAMES[number])).kind in "iu" or number in (21, 22, 25, 26):
        return str(int(value))
    real = float(value)
    plain = real == 0 or not np.isfinite(real) or not 1e-4 < abs(real) < 1e7
    text = repr(real) if plain or number != TensorProto.FLOAT else np.format_float_positional(np.float32(real), trim="-")
    return text[:-2] if text.endswith(".0") else text


def tensor_line(key, array):
    if array is None:
        return f"{key} -"
    number = number_of(array)
    shape = ",".join(str(d) for d in array.shape)
    return " ".join([f"{key} {NAMES[number]}[{shape}]"] + [word(v, number) for v in array.reshape(-1)])


def attribute_line(name, value):
    def one(v):
        return np.format_float_positional(np.float32(v)) if isinstance(v, float) else str(v)  # "2." is a real, "2" is none
    if isinstance(value, str):
        return f'attr {name} = "{value}"'
    if isinstance(value, np.ndarray):
        return tensor_line(f"attr {name} =", value)
    if isinstance(value, (list, tuple)):
        return f"attr {name} = [{','.join(one(v) for v in value)}]"
    return f"attr {name} = {one(value)}"


def make_model(op, attributes, inputs, output_count, opset):
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    outputs = [f"y{i}" for i in range(output_count)]
    node = helper.make_node(op, names, outputs, **attributes)
    graph = helper.make_graph(
        [node], "case",
        [helper.make_tensor_value_info(n, number_of(x), x.shape) for n, x in zip(names, inputs) if n],
        [helper.make_empty_tensor_value_info(n) for n in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10 if opset <= 22 else 13), names


def by_reference(op, attributes, inputs, output_count, opset):
    model, names = make_model(op, attributes, inputs, output_count, opset)
    from onnx.reference import ReferenceEvaluator
    return ReferenceEvaluator(model).run(None, {n: x for n, x in zip(names, inputs) if n})


def by_ort(op, attributes, inputs, output_count, opset):
    import onnxruntime as ort
    ort.set_default_logger_severity(4)
    model, names = make_model(op, attributes, inputs, output_count, min(opset, 22))
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {n: x for n, x in zip(names, inputs) if n})


class File:
    """One file of cases, for one family."""

    def __init__(self, stem, title):
        self.path = HERE / "cases" / f"{stem}.txt"
        old = self.path.read_text().splitlines() if self.path.exists() else []
        self.lines = [f"# {title}.", "# Written by make_cases.py; the oracle is named beside each case.", *(line for line in old if line.startswith("sample "))]
        self.names = set()

    def head(self, name, op, attributes, inputs, opset, oracle):
        assert name not in self.names, name
        self.names.add(name)
        self.lines += ["", f"# {oracle}", f"case {name}", f"op {op}" + (f" {opset}" if opset else "")]
        self.lines += [attribute_line(k, v) for k, v in attributes.items()]
        self.lines += [tensor_line("in", x) for x in inputs]

    def case(self, name, op, inputs, attributes=None, outputs=None, oracle=None, opset=None, near=None, wanted=1):
        """`outputs`: computed beside the case (oracle "numpy" or a word of its own); None: asked of the oracle."""
        attributes = attributes or {}
        if outputs is None:
            oracle = oracle or "reference"
            ask = {"reference": by_reference, "ort": by_ort}[oracle]
            outputs = ask(op, attributes, inputs, wanted, opset or NEWEST)
            outputs = [np.asarray(y) for y in outputs]
        self.head(name, op, attributes, inputs, opset, oracle or "numpy")
        if near:
            self.lines.append(f"near {near[0]} {near[1]}")
        self.lines += [tensor_line("out", y) for y in outputs]

    def error(self, name, op, inputs, message, attributes=None, opset=None, wanted=1):
        self.head(name, op, attributes or {}, inputs, opset, "must be refused")
        self.lines += (["out f32[] 0"] * wanted if wanted > 1 else []) + [f"error {message}"]

    def write(self):
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text("\n".join(self.lines) + "\n")
        print(f"{self.path.name}: {len(self.names)} cases")


if __name__ == "__main__":
    import families
    import heavy_families  # noqa: F401  these add their own
    import making_families  # noqa: F401
    import movement_families  # noqa: F401
    import old_families  # noqa: F401
    for write in families.ALL:
        if len(sys.argv) < 2 or write.__name__ in sys.argv[1:]:
            write()
