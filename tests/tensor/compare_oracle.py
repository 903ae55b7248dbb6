"""Prints the figures that compare_test.cpp expects, from NumPy. Run: python compare_oracle.py"""
import numpy as np

for dtype in (np.float32, np.float64, np.float16):
    i = np.arange(10007)
    b = ((i * 37 % 101 - 50) / 7).astype(dtype)
    a = (b.astype(np.float64) + (i * 53 % 97 - 48) * 1e-3).astype(dtype)
    x, y = a.astype(np.float64), b.astype(np.float64)
    bad = np.abs(x - y) > 0.01 + 0.002 * np.abs(y)
    excess = np.abs(x - y) - (0.01 + 0.002 * np.abs(y))
    relative = np.abs(x - y)[y != 0] / np.abs(y)[y != 0]
    print(dtype.__name__, "mismatches", bad.sum(), "worst", excess.argmax(), "max_absolute", repr(np.abs(x - y).max()),
          "max_relative", repr(relative.max()), "l2", repr(np.linalg.norm(x - y) / np.linalg.norm(y)),
          "cosine", repr(x @ y / np.linalg.norm(x) / np.linalg.norm(y)))
