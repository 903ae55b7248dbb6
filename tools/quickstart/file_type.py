#!/usr/bin/env python3
"""What stands around the magika model when it names a file's type: its input array and its answer. No packages needed.

    file_type.py prepare MODEL_FOLDER FILE OUT.npy     the model's input `bytes`: int32, shape [1, 2048]
    file_type.py name MODEL_FOLDER RESULT.npz          the type that the output `target_label` gives most weight

MODEL_FOLDER holds the package's config.min.json. The input is the first bytes of the file's first block with leading
white space removed, then the last bytes of its last block with trailing white space removed; what is missing is filled
with a padding token, behind the former and before the latter.
"""

from __future__ import annotations

import array
import json
import os
import pathlib
import sys
import zipfile
from typing import Any


def read_config(folder: str) -> dict[str, Any]:
    return json.loads((pathlib.Path(folder) / "config.min.json").read_text(encoding="utf-8"))


def features(file: str, config: dict[str, Any]) -> list[int]:
    """The model's input tokens. Exits where the file has too few bytes to ask the model about."""
    first, last, padding, block = (int(config[key]) for key in ("beg_size", "end_size", "padding_token", "block_size"))
    with open(file, "rb") as stream:
        begin = stream.read(block).lstrip()[:first]
        stream.seek(max(0, os.path.getsize(file) - block))
        end = stream.read(block).rstrip()[-last:]
    if len(begin) < int(config["min_file_size_for_dl"]):
        sys.exit(f"{file} has too few bytes for the model to name its type")
    return [*begin, *[padding] * (first - len(begin)), *[padding] * (last - len(end)), *end]


def write_npy(path: str, tokens: list[int]) -> None:
    """Writes the tokens as an int32 array of shape [1, n] in NumPy's format, version 1.0."""
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': (1, {len(tokens)}), }}".ljust(117) + "\n"
    data = array.array("i", tokens)
    if sys.byteorder == "big":
        data.byteswap()
    with open(path, "wb") as stream:
        stream.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode("ascii"))
        data.tofile(stream)


def read_scores(npz: str, name: str) -> list[float]:
    """The little-endian float32 values of one member of an .npz file."""
    with zipfile.ZipFile(npz) as members:
        content = members.read(f"{name}.npy")
    header_size = int.from_bytes(content[8:10], "little")
    if b"'<f4'" not in content[10:10 + header_size]:
        sys.exit(f"{npz}: {name} is not a float32 array")
    data = array.array("f", content[10 + header_size:])
    if sys.byteorder == "big":
        data.byteswap()
    return data.tolist()


def main() -> None:
    if len(sys.argv) == 5 and sys.argv[1] == "prepare":
        _, _, folder, file, target = sys.argv
        write_npy(target, features(file, read_config(folder)))
    elif len(sys.argv) == 4 and sys.argv[1] == "name":
        _, _, folder, npz = sys.argv
        labels = read_config(folder)["target_labels_space"]
        scores = read_scores(npz, "target_label")
        best = max(range(len(scores)), key=scores.__getitem__)
        print(f"{labels[best]} ({100 * scores[best]:.1f} %)")
    else:
        print(__doc__, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
