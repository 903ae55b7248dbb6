"""Writes schemas.txt: the newest form of every ai.onnx operator of onnx 1.23.2, for definitions_test.cpp to compare with.

    op NAME VERSION... [deprecated]     every opset version, ascending; deprecated: importers make another operator of it
    in ARITY GROUP TYPE...              one line per input; GROUP is ONNX's type variable; TYPE is a tensor's element type or "other"
    out ARITY GROUP TYPE...
    attr NAME KIND [required | = DEFAULT]

Run by hand; the file is committed. Element types that IR 13 does not have are left out.
"""
import pathlib

import numpy as np
import onnx
from onnx import defs, helper

KINDS = {"INT": "integer", "FLOAT": "real", "STRING": "text", "INTS": "integers", "FLOATS": "reals", "STRINGS": "texts", "TENSOR": "tensor",
         "TYPE_PROTO": "type", "GRAPH": "body", "TENSORS": "tensors", "GRAPHS": "bodies", "SPARSE_TENSOR": "sparse"}
ARITIES = {"Single": "one", "Optional": "optional", "Variadic": "variadic"}
TYPES = {"tensor(%s)" % name: ours for name, ours in {
    "float": "f32", "double": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "bool", "string": "str", "complex64": "c64", "complex128": "c128",
    **{f"{u}int{bits}": f"{u[:1] or 'i'}{bits}" for u in ("", "u") for bits in (2, 4, 8, 16, 32, 64)},
    "float8e4m3fn": "f8e4m3fn", "float8e4m3fnuz": "f8e4m3fnuz", "float8e5m2": "f8e5m2", "float8e5m2fnuz": "f8e5m2fnuz", "float4e2m1": "f4e2m1",
    "float8e8m0": "f8e8m0"}.items()}
LATER = {"tensor(float6e2m3)", "tensor(float6e3m2)"}


def enum_name(value):
    return str(value).rsplit(".", maxsplit=1)[-1]


def param_line(key, param):
    types = sorted({TYPES.get(t, "other") for t in param.types if t not in LATER})
    group = param.type_str.replace(" ", "") if param.is_homogeneous else "-"
    return " ".join([key, ARITIES[enum_name(param.option)], group, *types])


def attribute_line(attribute):
    kind = KINDS[enum_name(attribute.type)]
    end = ""
    if attribute.required:
        end = " required"
    elif attribute.default_value.type and kind in ("integer", "real", "text"):
        value = helper.get_attribute_value(attribute.default_value)
        end = " = " + (value.decode() if kind == "text" else np.format_float_positional(np.float32(value)) if kind == "real" and abs(value) < 1e7 else str(value))
    return f"attr {attribute.name} {kind}{end}"


def main():
    versions = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "":
            versions.setdefault(schema.name, set()).add(schema.since_version)
    lines = [f"# Written by make_schemas.py from onnx {onnx.__version__}: the newest form of every ai.onnx operator."]
    for name in sorted(versions):
        schema = defs.get_schema(name)
        lines.append(" ".join(["op", name, *map(str, sorted(versions[name]))] + ["deprecated"] * schema.deprecated))
        lines += [param_line("in", p) for p in schema.inputs] + [param_line("out", p) for p in schema.outputs]
        lines += [attribute_line(schema.attributes[a]) for a in sorted(schema.attributes)]
    pathlib.Path(__file__).with_name("schemas.txt").write_text("\n".join(lines) + "\n")


main()
