"""Named values in .npz files, in the form the tools read and write, as NumPy arrays.

A tensor is a member NAME.npy. What NumPy's format cannot say stands in the member __dtypes__.json, a JSON object of
strings: {"NAME": TYPE} with TYPE one of ELEMENT_TYPES for what NumPy has no type for; {"NAME": "seq(TYPE)", "NAME#":
LENGTH} for a sequence, with the members NAME.0, NAME.1, ...; and likewise "optional(TYPE)", of length 0 or 1. Items
that need it have entries of their own. bfloat16 has the descriptor <V2; the 8-bit floats have |V1, and so have the
types of 4 and 2 bits, one element per byte. Strings are <U arrays.

Here every element type is a NumPy dtype (ml_dtypes' where NumPy has none), strings are arrays of str objects, a
sequence is a list of arrays, and an optional without a value is None.
"""

from __future__ import annotations

import io
import json
import pathlib
import zipfile
from collections.abc import Mapping

import ml_dtypes
import numpy as np
from onnx import TensorProto

Value = np.ndarray | list | None

# Our name of an element type, ONNX's number, the dtype of its elements here.
ELEMENT_TYPES: list[tuple[str, int, np.dtype]] = [(name, code, np.dtype(dtype)) for name, code, dtype in [
    ("f32", TensorProto.FLOAT, np.float32), ("u8", TensorProto.UINT8, np.uint8), ("i8", TensorProto.INT8, np.int8),
    ("u16", TensorProto.UINT16, np.uint16), ("i16", TensorProto.INT16, np.int16), ("i32", TensorProto.INT32, np.int32),
    ("i64", TensorProto.INT64, np.int64), ("str", TensorProto.STRING, object), ("bool", TensorProto.BOOL, np.bool_),
    ("f16", TensorProto.FLOAT16, np.float16), ("f64", TensorProto.DOUBLE, np.float64),
    ("u32", TensorProto.UINT32, np.uint32), ("u64", TensorProto.UINT64, np.uint64),
    ("c64", TensorProto.COMPLEX64, np.complex64), ("c128", TensorProto.COMPLEX128, np.complex128),
    ("bf16", TensorProto.BFLOAT16, ml_dtypes.bfloat16),
    ("f8e4m3fn", TensorProto.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn),
    ("f8e4m3fnuz", TensorProto.FLOAT8E4M3FNUZ, ml_dtypes.float8_e4m3fnuz),
    ("f8e5m2", TensorProto.FLOAT8E5M2, ml_dtypes.float8_e5m2),
    ("f8e5m2fnuz", TensorProto.FLOAT8E5M2FNUZ, ml_dtypes.float8_e5m2fnuz),
    ("u4", TensorProto.UINT4, ml_dtypes.uint4), ("i4", TensorProto.INT4, ml_dtypes.int4),
    ("f4e2m1", TensorProto.FLOAT4E2M1, ml_dtypes.float4_e2m1fn),
    ("f8e8m0", TensorProto.FLOAT8E8M0, ml_dtypes.float8_e8m0fnu),
    ("u2", TensorProto.UINT2, ml_dtypes.uint2), ("i2", TensorProto.INT2, ml_dtypes.int2),
]]
DTYPES = {name: dtype for name, _, dtype in ELEMENT_TYPES}
DTYPE_OF_CODE = {code: dtype for _, code, dtype in ELEMENT_TYPES}
NAME_OF_DTYPE = {dtype: name for name, _, dtype in ELEMENT_TYPES}
BITS_OF_PACKED = {"u4": 4, "i4": 4, "f4e2m1": 4, "u2": 2, "i2": 2}
TYPES_MEMBER = "__dtypes__.json"


def type_name(array: np.ndarray) -> str:
    """Our name of an array's element type."""
    return "str" if array.dtype.kind in "OU" else NAME_OF_DTYPE[array.dtype]


def _from_member(array: np.ndarray, name: str | None) -> np.ndarray:
    """What a member's array stands for, given its type name (None: NumPy's own dtype says it)."""
    if array.dtype.kind == "U":
        return array.astype(object)
    if array.dtype.kind != "V":
        if name is not None and DTYPES[name] != array.dtype:
            raise ValueError(f"the type is {name}, but the array holds {array.dtype}")
        return array
    if name is None or DTYPES[name].itemsize != array.dtype.itemsize:
        raise ValueError(f"an array of {array.dtype} whose type is {name}")
    if name not in BITS_OF_PACKED:
        return array.view(DTYPES[name])
    bits = BITS_OF_PACKED[name]
    codes = array.view(np.uint8) & np.uint8(2 ** bits - 1)
    if name.startswith("f"):
        return codes.view(DTYPES[name])
    sign = 2 ** (bits - 1) if name.startswith("i") else 0
    return ((codes.astype(np.int8) ^ sign) - sign).astype(DTYPES[name])


def _to_member(array: np.ndarray) -> np.ndarray:
    """The array that NumPy's format stores for `array`."""
    name = type_name(array)
    if name == "str":
        return array.astype(np.str_)
    if name in BITS_OF_PACKED and not name.startswith("f"):
        return (array.astype(np.int8).view(np.uint8) & np.uint8(2 ** BITS_OF_PACKED[name] - 1)).view("V1")
    if array.dtype.isbuiltin != 1:  # one of ml_dtypes'
        return np.ascontiguousarray(array).view(f"V{array.dtype.itemsize}").reshape(array.shape)
    return array


def read_npz(path: pathlib.Path) -> dict[str, Value]:
    """Reads every value of the file; raises ValueError where the file contradicts itself."""
    with zipfile.ZipFile(path) as members:
        content = {member: members.read(member) for member in members.namelist()}
    types = json.loads(content.pop(TYPES_MEMBER, b"{}"))
    arrays = {member.removesuffix(".npy"): np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
              for member, data in content.items()}
    composite = {name for name, kind in types.items() if "(" in kind}

    def value(name: str) -> Value:
        if name not in composite:
            return _from_member(arrays.pop(name), types.get(name))
        items = [value(f"{name}.{i}") for i in range(int(types[f"{name}#"]))]
        if types[name].startswith("seq("):
            return items
        return items[0] if items else None

    items = {f"{name}.{i}" for name in composite for i in range(int(types[f"{name}#"]))}
    values = {name: value(name) for name in composite - items}
    return values | {name: value(name) for name in list(arrays)}


def write_npz(path: pathlib.Path, values: Mapping[str, Value]) -> None:
    """Writes values in the same form. Of a value that is absent or empty no type is known: it is given f32."""
    types: dict[str, str] = {}
    arrays: dict[str, np.ndarray] = {}
    for name, value in values.items():
        if value is None:
            types |= {name: "optional(f32)", f"{name}#": "0"}
        elif isinstance(value, list):
            types |= {name: f"seq({type_name(value[0]) if value else 'f32'})", f"{name}#": str(len(value))}
            arrays |= {f"{name}.{i}": element for i, element in enumerate(value)}
        else:
            arrays[name] = value
    types |= {name: type_name(array) for name, array in arrays.items() if _to_member(array).dtype.kind == "V"}
    with zipfile.ZipFile(path, "w") as members:
        members.writestr(TYPES_MEMBER, json.dumps(types))
        for name, array in arrays.items():
            data = io.BytesIO()
            np.lib.format.write_array(data, _to_member(array), allow_pickle=False)
            members.writestr(f"{name}.npy", data.getvalue())
