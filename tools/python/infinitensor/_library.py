"""The C interface (infinitensor.h) through ctypes: declarations, errors, and arrays across the border."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

API_VERSION = 1

Array = NDArray[Any]
Option = Union[None, bool, int, float, str, Iterable[str], Mapping[str, Any]]


class Error(RuntimeError):
    """What was found, what was expected, and where. `status` is the exit status that the tools have for it:
    2 usage, 3 bad input, 4 unsupported, 5 run failed, 70 a bug."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class CString(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class CArray(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("element", c_int32), ("rank", c_int32), ("extents", POINTER(c_int64)), ("data", c_void_p), ("bytes", c_size_t)]


def _declare(library: ctypes.CDLL) -> None:
    options, out = POINTER(c_char_p), POINTER(c_void_p)
    failing: dict[str, list[Any]] = {
        "it_import": [c_char_p, options, out],
        "it_import_bytes": [c_char_p, c_size_t, options, out],
        "it_read": [c_char_p, out],
        "it_parse": [c_char_p, out],
        "it_optimize": [c_void_p, options, out],
        "it_write": [c_void_p, c_char_p],
        "it_export": [c_void_p, c_char_p, c_int],
        "it_print": [c_void_p, c_char_p, out],
        "it_constant": [c_void_p, c_char_p, out],
        "it_open": [c_void_p, options, out],
        "it_run": [c_void_p, POINTER(CArray), c_size_t, out],
    }
    others: dict[str, tuple[Any, list[Any]]] = {
        "it_version": (c_char_p, []),
        "it_error_status": (c_int, [c_void_p]),
        "it_error_text": (c_char_p, [c_void_p]),
        "it_module_notes": (c_char_p, [c_void_p]),
        "it_session_notes": (c_char_p, [c_void_p]),
        "it_result_count": (c_size_t, [c_void_p]),
        "it_result": (POINTER(CArray), [c_void_p, c_size_t]),
        **{f"it_{kind}_free": (None, [c_void_p]) for kind in ("error", "text", "module", "session", "results")},
    }
    for name, arguments in failing.items():
        others[name] = (c_void_p, arguments)
    for name, (result, arguments) in others.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


def _load() -> ctypes.CDLL:
    path = Path(__file__).with_name("libinfinitensor.so")
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(f"infinitensor: {error} (it was built with Debian's libprotobuf32, libonnx1, libyaml-cpp0.7 and zlib1g)") from None
    library.it_api_version.restype = c_uint32
    found = library.it_api_version()
    if found != API_VERSION:
        raise ImportError(f"infinitensor: {path} has version {found} of the C interface, this module expects {API_VERSION}: install both from one source")
    _declare(library)
    return library


library = _load()
version: str = library.it_version().decode()


def check(error: int | None) -> None:
    """Raises what the library reports, and frees it."""
    if not error:
        return
    try:
        raise Error(library.it_error_text(error).decode(errors="replace"), library.it_error_status(error))
    finally:
        library.it_error_free(error)


class Handle:
    """Something of the library's, freed with the last reference."""

    def __init__(self, kind: str, function: str, *arguments: Any) -> None:
        self.value = c_void_p()
        self._free = getattr(library, f"it_{kind}_free")
        check(getattr(library, function)(*arguments, byref(self.value)))

    def __del__(self) -> None:
        if getattr(self, "value", None):
            self._free(self.value)


def options(**given: Option) -> Any:
    """{"dim": {"N": 8}, "no_weights": True} as the list that the library takes."""
    words: list[str] = []
    for name, value in given.items():
        key = name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(key)
        elif isinstance(value, Mapping):
            words += [f"{key}={k}={v}" for k, v in value.items()]
        elif isinstance(value, Iterable) and not isinstance(value, str):
            words += [f"{key}={item}" for item in value]
        else:
            words.append(f"{key}={value}")
    return (c_char_p * (len(words) + 1))(*[os.fsencode(word) for word in words], None)


# ---- element types -------------------------------------------------------------------------------------------------------------------------------

# TensorProto.DataType: the name that types have in graphs, and NumPy's or that of ml_dtypes.
_elements = {
    1: ("f32", "float32"), 2: ("u8", "uint8"), 3: ("i8", "int8"), 4: ("u16", "uint16"), 5: ("i16", "int16"), 6: ("i32", "int32"), 7: ("i64", "int64"),
    8: ("str", "object"), 9: ("bool", "bool"), 10: ("f16", "float16"), 11: ("f64", "float64"), 12: ("u32", "uint32"), 13: ("u64", "uint64"),
    14: ("c64", "complex64"), 15: ("c128", "complex128"), 16: ("bf16", "bfloat16"), 17: ("f8e4m3fn", "float8_e4m3fn"),
    18: ("f8e4m3fnuz", "float8_e4m3fnuz"), 19: ("f8e5m2", "float8_e5m2"), 20: ("f8e5m2fnuz", "float8_e5m2fnuz"), 21: ("u4", "uint4"),
    22: ("i4", "int4"), 23: ("f4e2m1", "float4_e2m1fn"), 24: ("f8e8m0", "float8_e8m0fnu"), 25: ("u2", "uint2"), 26: ("i2", "int2"),
}  # fmt: skip
_STR = 8
_numbers = {numpy_name: number for number, (_, numpy_name) in _elements.items()}
_packed_bits = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}  # in the library; ml_dtypes has a byte for each, the code in its low bits


def dtype_named(graph_name: str) -> np.dtype[Any]:
    """Of "f32", as types in graphs are called."""
    return dtype_of(next(number for number, (name, _) in _elements.items() if name == graph_name))


def dtype_of(element: int) -> np.dtype[Any]:
    name = _elements[element][1]
    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(f"elements of type {name} need the package ml_dtypes") from None
    found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return found


def _packed(codes: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    per_byte = 8 // bits
    padded = np.zeros(-(-codes.size // per_byte) * per_byte, np.uint8)
    padded[: codes.size] = codes.ravel() & ((1 << bits) - 1)
    shifts = np.arange(per_byte, dtype=np.uint8) * bits
    packed: NDArray[np.uint8] = np.bitwise_or.reduce(padded.reshape(-1, per_byte) << shifts, axis=1).astype(np.uint8)
    return packed


def _unpacked(raw: NDArray[np.uint8], bits: int, count: int) -> NDArray[np.uint8]:
    shifts = np.arange(8 // bits, dtype=np.uint8) * bits
    return ((raw[:, None] >> shifts) & ((1 << bits) - 1)).ravel()[:count].astype(np.uint8)


# ---- arrays --------------------------------------------------------------------------------------------------------------------------------------


class Arrays:
    """Arrays of C for a call; keeps what they point to."""

    def __init__(self, given: Iterable[tuple[str, Array]]) -> None:
        self._kept: list[Any] = []
        entries = [self._entry(name, array) for name, array in given]
        self.count = len(entries)
        self.entries = (CArray * max(self.count, 1))(*entries)

    def _entry(self, name: str, array: Array) -> CArray:
        extents = (c_int64 * array.ndim)(*array.shape)
        if array.dtype.kind in "OSU":
            element, data, size = self._strings(name, array)
        else:
            number = _numbers.get(array.dtype.name) if array.dtype.isnative else None
            if number is None:
                raise TypeError(f"input '{name}': {array.dtype!r} is no element type of the library's")
            flat = np.asarray(array, order="C")
            if number in _packed_bits:
                flat = _packed(flat.view(np.uint8), _packed_bits[number])
            self._kept.append(flat)
            element, data, size = number, flat.ctypes.data, flat.nbytes
        self._kept.append(extents)
        return CArray(name.encode(), element, array.ndim, extents, data, size)

    def _strings(self, name: str, array: Array) -> tuple[int, int, int]:
        texts = [item.encode() if isinstance(item, str) else item for item in array.ravel().tolist()]
        if not all(isinstance(item, bytes) for item in texts):
            raise TypeError(f"input '{name}': the elements of an array of objects must be str or bytes")
        buffers = [ctypes.create_string_buffer(item, len(item) + 1) for item in texts]
        table = (CString * max(len(texts), 1))(*[CString(ctypes.addressof(b), len(t)) for b, t in zip(buffers, texts)])
        self._kept += [buffers, table]
        return _STR, ctypes.addressof(table), len(texts) * ctypes.sizeof(CString)


def _array(entry: CArray) -> Array:
    shape = tuple(entry.extents[i] for i in range(entry.rank))
    count = int(np.prod(shape, dtype=np.int64))
    if entry.element == _STR:
        table = ctypes.cast(entry.data, POINTER(CString))
        texts = [ctypes.string_at(table[i].data, table[i].size).decode(errors="surrogateescape") for i in range(count)]
        out = np.empty(count, dtype=object)
        out[:] = texts
        return out.reshape(shape)
    raw = np.frombuffer(ctypes.string_at(entry.data, entry.bytes) if entry.bytes else b"", np.uint8)
    dtype = dtype_of(entry.element)
    if entry.element in _packed_bits:
        raw = _unpacked(raw, _packed_bits[entry.element], count)
    array: Array = raw.copy().view(dtype).reshape(shape)
    return array


def results(handle: Handle) -> dict[str, Array]:
    """Copies: they do not change with the next run, and may be written to."""
    entries = [library.it_result(handle.value, i).contents for i in range(library.it_result_count(handle.value))]
    return {entry.name.decode(errors="surrogateescape"): _array(entry) for entry in entries}
