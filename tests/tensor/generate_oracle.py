"""Prints what generate_test.cpp expects. Run: python generate_oracle.py

SplitMix64 is written anew here from its paper; the normal distribution's inverse is that of Python's statistics module; the
start of each stream is MurmurHash3 x64 128 of seed and name, which hash_test.cpp checks against published digests.
"""
from statistics import NormalDist

MASK = (1 << 64) - 1


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def stream(start, count):
    return [mix((start + (i + 1) * 0x9E3779B97F4A7C15) & MASK) for i in range(count)]


def rotl(x, r):
    return ((x << r) | (x >> (64 - r))) & MASK


def murmur_high(data):
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = 0
    whole = len(data) // 16 * 16
    words = lambda b: (int.from_bytes(b[:8], "little"), int.from_bytes(b[8:16], "little"))
    for at in range(0, whole, 16):
        k1, k2 = words(data[at : at + 16])
        h1 = (rotl(h1 ^ (rotl(k1 * c1 & MASK, 31) * c2 & MASK), 27) + h2) * 5 + 0x52DCE729 & MASK
        h2 = (rotl(h2 ^ (rotl(k2 * c2 & MASK, 33) * c1 & MASK), 31) + h1) * 5 + 0x38495AB5 & MASK
    k1, k2 = words(data[whole:].ljust(16, b"\0"))
    h1 ^= (rotl(k1 * c1 & MASK, 31) * c2 & MASK) ^ len(data)
    h2 ^= (rotl(k2 * c2 & MASK, 33) * c1 & MASK) ^ len(data)
    h1 = h1 + h2 & MASK
    h2 = h2 + h1 & MASK

    def avalanche(z):
        z = (z ^ (z >> 33)) * 0xFF51AFD7ED558CCD & MASK
        z = (z ^ (z >> 33)) * 0xC4CEB9FE1A85EC53 & MASK
        return z ^ (z >> 33)

    return avalanche(h1) + avalanche(h2) & MASK


def start(seed, name):
    encoded = name.encode()
    return murmur_high(seed.to_bytes(8, "little") + len(encoded).to_bytes(8, "little") + encoded)


bits = stream(start(7, "x"), 4)
print("bits   ", [hex(b) for b in bits])
print("unit   ", [(b >> 11) * 2.0**-53 for b in bits])
print("below10", [b * 10 >> 64 for b in bits])
print("normal ", [NormalDist().inv_cdf(((b >> 12) + 0.5) * 2.0**-52) for b in bits])
tail = stream(start(0, "tails"), 200000)
normals = [NormalDist().inv_cdf(((b >> 12) + 0.5) * 2.0**-52) for b in tail]
print("extremes", min(normals), max(normals), "at", normals.index(min(normals)), normals.index(max(normals)))
print("sum", sum(normals), "squares", sum(n * n for n in normals))
