#!/usr/bin/env python3
"""Tests of the comparison, of the smallest noticeable change, and of the .npz form, for every element type."""

from __future__ import annotations

import io
import json
import pathlib
import tempfile
import unittest
import zipfile

import compare
import ml_dtypes
import numpy as np
import npz_io
from compare import ATOL, RTOL, difference

NUMBERS = [-448.0, -3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 1.5, 6.0, 100.0, 416.0]


def every_array() -> dict[str, np.ndarray]:
    """A small array of each element type, by type name."""
    arrays = {}
    for name, _, dtype in npz_io.ELEMENT_TYPES:
        if name == "str":
            arrays[name] = np.array([["", "a"], ["né", "x y"]], object)
        elif compare.is_float(dtype):
            numbers = np.array(NUMBERS, np.float32).astype(dtype)
            arrays[name] = numbers[np.isfinite(numbers.astype(np.float32))]
        elif dtype.kind in "bc":
            arrays[name] = np.array([0, 1, 1], dtype)
        else:
            limits = ml_dtypes.iinfo(dtype)
            arrays[name] = np.array([dtype.type(v) for v in (int(limits.min), 0, 1, int(limits.max))], dtype)
    return arrays


class Difference(unittest.TestCase):
    def test_tolerance_is_relative_to_the_expected_value(self) -> None:
        expected = np.array([1000.0])
        self.assertIsNone(difference(np.array([1000.9]), expected))
        self.assertIsNotNone(difference(np.array([1001.1]), expected))
        self.assertIsNone(difference(np.array([9e-8]), np.array([0.0])))
        self.assertIsNotNone(difference(np.array([1.1e-7]), np.array([0.0])))

    def test_special_values_agree_with_themselves_alone(self) -> None:
        for a in (np.nan, np.inf, -np.inf, 0.0):
            for b in (np.nan, np.inf, -np.inf, 0.0):
                agrees = difference(np.array([a]), np.array([b])) is None
                self.assertEqual(agrees, a == b or (np.isnan(a) and np.isnan(b)), (a, b))

    def test_type_and_shape_are_exact(self) -> None:
        x = np.ones(3, np.float32)
        for other in (np.ones(3), np.ones((1, 3), np.float32), np.ones(4, np.float32), [x], None):
            self.assertIsNotNone(difference(other, x))
            self.assertIsNotNone(difference(x, other))

    def test_large_integers_are_not_rounded(self) -> None:
        big = np.array([2 ** 63 - 1], np.int64)
        self.assertIsNone(difference(big, big))
        self.assertIsNotNone(difference(np.array([-(2 ** 63)], np.int64), big))
        self.assertIsNotNone(difference(np.array([1], np.uint64), np.array([0], np.uint64)))

    def test_strings_and_sequences(self) -> None:
        text = np.array(["a", "b"], object)
        self.assertIsNone(difference([text, text], [text, text.copy()]))
        self.assertIsNotNone(difference([text], [text, text]))
        self.assertIn("element 1", difference([text, text], [text, np.array(["a", "c"], object)]) or "")


class Alteration(unittest.TestCase):
    def test_every_element_of_every_type_changes_noticeably(self) -> None:
        for name, array in every_array().items():
            for index in range(array.size):
                changed = compare._altered_element(array, index)
                self.assertIsNotNone(difference(array, changed), (name, array, changed))
                self.assertEqual(int(np.sum(changed != array)), 1, (name, array, changed))

    def test_floats_move_to_the_first_number_beyond_twice_the_tolerance(self) -> None:
        for name, dtype in npz_io.DTYPES.items():
            if name == "str" or not compare.is_float(dtype) or dtype.itemsize > 2:
                continue
            numbers = compare._representable(dtype)
            for value in numbers[:: max(1, numbers.size // 500)]:
                moved, limit = compare._moved_float(float(value), dtype), 2 * (ATOL + RTOL * abs(float(value)))
                self.assertGreater(abs(moved - value), limit)
                between = numbers[(numbers > min(moved, value)) & (numbers < max(moved, value))]
                self.assertTrue((np.abs(between - value) <= limit).all(), (name, value, moved))

    def test_wide_floats_move_by_no_more_than_they_must(self) -> None:
        for dtype in (np.dtype(np.float32), np.dtype(np.float64)):
            for value in (0.0, 1.0, -1.0, 1e-30, 12345.678, -3e38):
                value = float(dtype.type(value))
                moved, limit = compare._moved_float(value, dtype), 2 * (ATOL + RTOL * abs(value))
                self.assertGreater(abs(moved - value), limit)
                nearer = float(np.nextafter(dtype.type(moved), dtype.type(value)))
                self.assertLessEqual(abs(nearer - value), limit * (1 + 1e-6))

    def test_special_and_empty_values(self) -> None:
        for value in (np.nan, np.inf, -np.inf):
            self.assertTrue(np.isfinite(compare._altered_element(np.array([value]), 0)).all())
        self.assertEqual(compare._altered_array(np.zeros((2, 0, 3)), 5).shape, (2, 1, 3))
        self.assertIsNotNone(difference(compare.alter_one([[]], "name")[0], []))


class Files(unittest.TestCase):
    def test_every_type_survives_a_file(self) -> None:
        values: dict[str, npz_io.Value] = dict(every_array())
        values |= {"a/b:0": np.array(3.5, np.float32), "list": [np.ones(2, np.int64), np.zeros((0, 3), np.int64)],
                   "empty": [], "nothing": None, "small list": [np.array([1, -2]).astype(ml_dtypes.int4)]}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "values.npz"
            npz_io.write_npz(path, values)
            found = npz_io.read_npz(path)
        self.assertEqual(sorted(found), sorted(values))
        for name, value in values.items():
            self.assertIsNone(difference(found[name], value, 0, 0), name)

    def test_codes_of_small_types(self) -> None:
        codes = {"i4": (b"\x07\x08\x0f", [7, -8, -1]), "u4": (b"\x00\x09\x0f", [0, 9, 15]),
                 "i2": (b"\x01\x02\x03", [1, -2, -1]), "u2": (b"\x00\x02\x03", [0, 2, 3]), "f4e2m1": (b"\x01\x07\x0e", [0.5, 6, -4]),
                 "f8e4m3fn": (b"\x38\x7e\xb8", [1, 448, -1]), "f8e8m0": (b"\x7f\x80\x7e", [1, 2, 0.5])}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "codes.npz"
            with zipfile.ZipFile(path, "w") as members:
                members.writestr(npz_io.TYPES_MEMBER, json.dumps({name: name for name in codes}))
                for name, (data, _) in codes.items():
                    buffer = io.BytesIO()
                    np.lib.format.write_array(buffer, np.frombuffer(data, "V1"))
                    members.writestr(f"{name}.npy", buffer.getvalue())
            for name, array in npz_io.read_npz(path).items():
                assert isinstance(array, np.ndarray)
                self.assertEqual(array.astype(np.float32).tolist(), codes[name][1], name)


if __name__ == "__main__":
    unittest.main()
