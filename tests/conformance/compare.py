"""When two values agree, and how to change an expected value so little that they no longer may."""

from __future__ import annotations

import functools
import math
import zlib

import ml_dtypes
import numpy as np
from npz_io import Value, type_name

RTOL, ATOL = 1e-3, 1e-7


# -- agreement ---------------------------------------------------------------------------------------------------------

def is_float(dtype: np.dtype) -> bool:
    """Whether the type can hold a fraction: IEEE's, and the small ones of ml_dtypes."""
    return dtype.kind == "f" or (_is_extended(dtype) and not _is_small_integer(dtype))


def _is_extended(dtype: np.dtype) -> bool:
    return dtype.isbuiltin != 1


def _is_small_integer(dtype: np.dtype) -> bool:
    return dtype in [np.dtype(t) for t in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2)]


def _wide(array: np.ndarray) -> np.ndarray:
    """The numbers in a type that holds every one of them exactly (long double has 64 bits of mantissa)."""
    if array.dtype.kind == "c":
        return array.astype(np.clongdouble)
    if _is_extended(array.dtype):
        array = array.astype(np.int32 if _is_small_integer(array.dtype) else np.float32)
    return array.astype(np.longdouble)


def _first_difference(actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> str | None:
    if expected.dtype.kind in "Ob":
        agrees = np.asarray(actual == expected, bool)
    else:
        a, b = _wide(actual), _wide(expected)
        with np.errstate(invalid="ignore", over="ignore"):
            near = np.isfinite(b) & (np.abs(a - b) <= atol + rtol * np.abs(b))
        agrees = near | (a == b) | (np.isnan(a) & np.isnan(b))
    if agrees.all():
        return None
    index = tuple(int(i) for i in np.argwhere(~agrees)[0])
    wrong = int(agrees.size - agrees.sum())
    return f"{wrong} of {agrees.size} elements differ; at {list(index)}: {actual[index]!r}, expected {expected[index]!r}"


def difference(actual: Value, expected: Value, rtol: float = RTOL, atol: float = ATOL) -> str | None:
    """None where the values agree: the same type and shape, strings and truth values equal, and every number
    |actual - expected| <= atol + rtol * |expected|, NaN agreeing with NaN and infinities with themselves."""
    if actual is None or expected is None:
        return None if actual is expected else "one of them is absent"
    if isinstance(expected, list) or isinstance(actual, list):
        if not (isinstance(expected, list) and isinstance(actual, list)):
            return "one of them is a sequence"
        if len(actual) != len(expected):
            return f"a sequence of {len(actual)}, expected {len(expected)}"
        found = ((i, difference(a, b, rtol, atol)) for i, (a, b) in enumerate(zip(actual, expected)))
        return next((f"element {i}: {text}" for i, text in found if text), None)
    if type_name(actual) != type_name(expected) or actual.shape != expected.shape:
        return (f"{type_name(actual)}{list(actual.shape)}, "
                f"expected {type_name(expected)}{list(expected.shape)}")
    return _first_difference(actual, expected, rtol, atol)


# -- the smallest change that must be noticed --------------------------------------------------------------------------

@functools.cache
def _representable(dtype: np.dtype) -> np.ndarray:
    """Every finite number of a float type of at most 16 bits, ascending."""
    bits = np.arange(2 ** (8 * dtype.itemsize), dtype=np.uint16 if dtype.itemsize == 2 else np.uint8)
    with np.errstate(invalid="ignore"):
        numbers = bits.view(dtype).astype(np.float32).astype(np.float64)
    return np.unique(numbers[np.isfinite(numbers)])


def _moved_float(value: float, dtype: np.dtype) -> float:
    """The first number of the type that is further than twice the tolerance from `value`, on the side of zero where
    there is one: a right result is then further from it than its tolerance."""
    if not math.isfinite(value):
        return 1.0
    distance = 2 * (ATOL + RTOL * abs(value))
    if dtype.itemsize > 2:
        target = dtype.type(value - math.copysign(distance, value))
        while abs(float(target) - value) <= distance:
            target = np.nextafter(target, dtype.type(-math.copysign(math.inf, value)))
        return float(target)
    numbers = _representable(dtype)
    far = numbers[np.abs(numbers - value) > distance]
    inner = far[far < value] if value > 0 else far[far > value]
    candidates = inner if inner.size else far
    return float(candidates[np.abs(candidates - value).argmin()])


def _moved_integer(value: int, low: int, high: int) -> int:
    """The first integer further than twice the tolerance from `value`, and by at least 1; toward zero where it can."""
    step = math.floor(2 * (ATOL + RTOL * abs(value))) + 1
    candidates = (value - step, value + step) if value > 0 else (value + step, value - step)
    return next(item for item in candidates if low <= item <= high)


def _altered_element(array: np.ndarray, index: int) -> np.ndarray:
    changed = array.copy()
    element = array.flat[index]
    if array.dtype == object:
        changed.flat[index] = element + "x"
    elif array.dtype.kind == "b":
        changed.flat[index] = not element
    elif array.dtype.kind == "c":
        part = _moved_float(float(element.real), np.dtype(np.float64 if array.dtype.itemsize == 16 else np.float32))
        changed.flat[index] = complex(part, float(element.imag))
    elif is_float(array.dtype):
        changed.flat[index] = array.dtype.type(_moved_float(float(element), array.dtype))
    else:
        info = ml_dtypes.iinfo(array.dtype)
        changed.flat[index] = array.dtype.type(_moved_integer(int(element), int(info.min), int(info.max)))
    return changed


def _altered_array(array: np.ndarray, seed: int) -> np.ndarray:
    if array.size:
        return _altered_element(array, seed % array.size)
    shape = list(array.shape)
    shape[shape.index(0)] += 1
    return np.full(shape, "" if array.dtype == object else 0).astype(array.dtype)


def _altered(value: Value, seed: int) -> Value:
    if value is None:
        return np.zeros(1, np.float32)
    if isinstance(value, list):
        if not value:
            return [np.zeros(1, np.float32)]
        place = seed % len(value)
        return [_altered_array(item, seed) if i == place else item for i, item in enumerate(value)]
    return _altered_array(value, seed)


def alter_one(outputs: list[Value], name: str) -> list[Value]:
    """The outputs with one element of one of them changed: floats to the first number beyond twice the tolerance,
    integers likewise and by at least 1, truth values flipped, strings altered, NaN and infinities made finite, an empty
    array given another shape. `name` picks the place."""
    seed = zlib.crc32(name.encode())
    place = seed % len(outputs)
    return [_altered(value, seed // 7) if i == place else value for i, value in enumerate(outputs)]
