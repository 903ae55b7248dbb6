"""Prints the digests that element_test.cpp expects, from ml_dtypes and NumPy. Run: python element_oracle.py

decode: FNV-1a, folded, over the double bits of every pattern of a type in order (every NaN counted as one).
encode: FNV-1a, folded, over the encoded bits of `grid(type)`: around every non-negative value v of the type and every midpoint m
between neighbours, both signs: v, m, the doubles next to m; then what lies beyond the range. The nearest value is looked
up among the decoded values (ties to the even pattern) and compared with ml_dtypes where that rounds only once.
"""
import ml_dtypes
import numpy as np

TYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f4e2m1": ml_dtypes.float4_e2m1fn,
    "f8e8m0": ml_dtypes.float8_e8m0fnu,
}
FLOAT8 = ("f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz")


def fnv(words):
    h = 0xCBF29CE484222325
    for w in words:
        h = ((h ^ int(w)) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
        h ^= h >> 32
    return h


def storage(name):
    return np.uint16 if name in ("f16", "bf16") else np.uint8


def patterns(name):
    count = {"f16": 65536, "bf16": 65536, "f4e2m1": 16}.get(name, 256)
    return np.arange(count, dtype=np.uint32).astype(storage(name)).view(TYPES[name])


def decoded(name):
    with np.errstate(invalid="ignore"):
        return patterns(name).astype(np.float32).astype(np.float64)


def grid(name):
    values = decoded(name)
    values = np.unique(np.abs(values[np.isfinite(values) & (values >= 0)]))
    step = values[-1] - values[-2]
    ends = np.array([values[-1] + step / 2, values[-1] + step, values[-1] * 4])
    mid = np.concatenate([(values[:-1] + values[1:]) / 2, ends])
    return np.concatenate([values, mid, np.nextafter(mid, 0), np.nextafter(mid, np.inf)])


def nearest(name, x, saturate):
    """Patterns (without sign) of the non-negative numbers x, by search among all values of the type."""
    values = decoded(name)
    half = len(values) // 2
    positive = values[:half]
    top = int(np.max(np.nonzero(np.isfinite(positive))[0]))
    table = positive[: top + 1]
    step = table[-1] - table[-2]
    table = np.append(table, table[-1] + step)  # what would come next, if the exponent had no end
    above = np.searchsorted(table, x, side="left").clip(1, top + 1)
    below = above - 1
    low, high = x - table[below], table[above] - x
    pick = np.where(low < high, below, np.where(high < low, above, np.where(below % 2 == 0, below, above)))
    pick = np.where(x >= table[-1], top + 1, pick)
    beyond = {"f4e2m1": top, "f8e4m3fnuz": half, "f8e5m2fnuz": half}.get(name, top + 1)
    return np.where(pick > top, top if saturate else beyond, pick)


def encoded(name, saturate):
    x = grid(name)
    sign = 8 if name == "f4e2m1" else 1 << (storage(name)().itemsize * 8 - 1)
    magnitude = nearest(name, x, saturate)
    negative = magnitude | sign
    if name.endswith("fnuz"):
        negative = np.where(magnitude == 0, 0, negative)
    if not saturate:
        with np.errstate(over="ignore"):
            for values, ours in ((x, magnitude), (-x, negative)):
                once = values.astype(np.float32).astype(np.float64) == values  # ml_dtypes goes through float32
                theirs = values[once].astype(TYPES[name]).view(storage(name))
                assert (theirs == ours[once]).all(), name
    return np.concatenate([magnitude, negative])


def encode_e8m0(x, up, saturate):
    """By the rule of Cast 25, on exact doubles: the power at or below, or the next."""
    out = []
    for v in x:
        fraction, exponent = np.frexp(v)
        bits = int(exponent) - 1 + 127
        if (fraction > 0.5) if up else (fraction >= 0.75):
            bits += 1
        out.append(bits if 0 <= bits <= 254 else (255 if not saturate else (0 if bits < 0 else 254)))
    return out


def main():
    for name in TYPES:
        values = decoded(name)
        words = [0x7FF8000000000000 if np.isnan(v) else int(v.view(np.uint64)) for v in values]
        print(f"decode {name:11} 0x{fnv(words):016x}")
    for name in TYPES:
        if name == "f8e8m0":
            continue
        print(f"encode {name:11} 0x{fnv(encoded(name, False)):016x} of {2 * len(grid(name))}")
        if name in FLOAT8:
            print(f"saturate {name:9} 0x{fnv(encoded(name, True)):016x}")
    x = grid("f8e8m0")
    for up in (True, False):
        for saturate in (True, False):
            print(f"e8m0 up={up} saturate={saturate} 0x{fnv(encode_e8m0(x, up, saturate)):016x} of {len(x)}")
    nearest_even = x.astype(np.float32).astype(ml_dtypes.float8_e8m0fnu).view(np.uint8)
    once = (x.astype(np.float32).astype(np.float64) == x) & (x >= 2.0**-127)
    assert (nearest_even[once] == np.array(encode_e8m0(x, False, False))[once]).all()


main()
