"""NumPy and we read each other's files. Usage: npz_crosscheck.py PATH_OF_npz_copy. Exit status 77: NumPy is missing."""
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError:
    sys.exit(77)

TYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "c8", "c16", "?"]
RAW = {"bf16": "<V2", "f8e4m3fn": "|V1", "f8e4m3fnuz": "|V1", "f8e5m2": "|V1", "f8e5m2fnuz": "|V1", "f8e8m0": "|V1",
       "f4e2m1": "|V1", "i4": "|V1", "u4": "|V1", "i2": "|V1", "u2": "|V1"}


def arrays():
    random = np.random.default_rng(7)
    out = {}
    for shape in ((), (0,), (3,), (2, 3, 4), (5, 1, 2)):
        for code in TYPES:
            values = random.integers(0, 2 if code == "?" else 100, shape)
            for order in "<>":
                for layout in "CF":
                    name = f"{code}{order}{layout}{'x'.join(map(str, shape))}"
                    dtype = np.dtype(code) if code in "i1u1?" else np.dtype(order + code)
                    out[name] = np.asarray(np.array(values).astype(dtype), order=layout)
    words = [["", "one", "z\u00fcrich"], ["\u4e2d\u6587", "\U0001f600!", "a b"]]
    out["words"] = np.array(words)
    out["words>F"] = np.asfortranarray(np.array(words).astype(">U7"))
    out["bytes"] = np.array([b"ab", b"", b"xyz"])
    out["no words"] = np.zeros((0, 2), "<U5")
    out["caf\u00e9:0/1"] = np.arange(3.0)
    return out


def run(tool, source, target, *options, status=0):
    done = subprocess.run([tool, source, target, *options], capture_output=True, text=True, check=False)
    assert done.returncode == status, (source, done.returncode, done.stderr)
    return done.stderr


def same(a, b):
    if a.dtype.kind == "S":
        a = np.char.decode(a, "utf-8")
    kind = a.dtype.kind == b.dtype.kind and (a.dtype.kind == "U" or a.dtype.itemsize == b.dtype.itemsize)
    return kind and a.shape == b.shape and (a == b).all()


def check_npz(tool, folder):
    given = arrays()
    for save, option in ((np.savez, ()), (np.savez_compressed, ("deflate",))):
        save(folder / "in.npz", **given)
        run(tool, folder / "in.npz", folder / "out.npz", *option)
        with np.load(folder / "out.npz") as got:
            assert list(got.files) == list(given), "names"
            for name, array in given.items():
                assert same(array, got[name]), name
            assert got.zip.testzip() is None
    print(f"npz: {len(given)} arrays, stored and deflated")


def check_npy(tool, folder):
    count = 0
    for name, array in arrays().items():
        for version in ((1, 0), (2, 0), (3, 0)):
            with open(folder / "in.npy", "wb") as file:
                np.lib.format.write_array(file, array, version=version)
            run(tool, folder / "in.npy", folder / "out.npy")
            assert same(array, np.load(folder / "out.npy")), (name, version)
            count += 1
    print(f"npy: {count} files")


def raw_npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def check_raw(tool, folder):
    import zipfile

    types, members = {}, {}
    random = np.random.default_rng(3)
    for name, descr in RAW.items():
        bits = {"i4": 4, "u4": 4, "f4e2m1": 4, "i2": 2, "u2": 2}.get(name, 8 if descr == "|V1" else 16)
        values = random.integers(0, 1 << bits, (3, 5)).astype(np.uint16 if bits == 16 else np.uint8)
        members["x_" + name] = values.view(descr)
        types["x_" + name] = name
    members["s.0"] = np.arange(3, dtype=np.float32)
    members["s.1"] = np.arange(4, dtype=np.float32)
    members["o.0"] = np.array(5)
    types |= {"s": "seq(f32)", "s#": "2", "o": "optional(i64)", "o#": "1", "none": "optional(f32)", "none#": "0",
              "empty": "seq(str)", "empty#": "0", "deep": "seq(seq(i4))", "deep#": "1", "deep.0": "seq(i4)", "deep.0#": "1",
              "deep.0.0": "i4"}
    members["deep.0.0"] = np.array([1, 15], np.uint8).view("|V1")
    with zipfile.ZipFile(folder / "in.npz", "w") as archive:
        archive.writestr("__dtypes__.json", json.dumps(types))
        for name, array in members.items():
            archive.writestr(name + ".npy", raw_npy(array))
    run(tool, folder / "in.npz", folder / "out.npz")
    with np.load(folder / "out.npz") as got:
        assert json.loads(got["__dtypes__.json"]) == types
        assert set(got.files) == set(members) | {"__dtypes__.json"}
        for name, array in members.items():
            assert got[name].tobytes() == array.tobytes() and got[name].shape == array.shape, name
    print(f"raw types, sequences, optionals: {len(types)} entries")


def check_refused(tool, folder):
    record = np.zeros(2, [("a", "f4"), ("b", "i4")])
    cases = {"objects": np.array([None, 1], object), "records": record, "dates": np.zeros(2, "M8[s]"),
             "long doubles": np.zeros(2, np.longdouble), "raw": np.zeros(2, "V2")}
    for name, array in cases.items():
        np.save(folder / "in.npy", array, allow_pickle=True)
        assert run(tool, folder / "in.npy", folder / "out.npy", status=4), name
    data = raw_npy(np.arange(6.0).reshape(2, 3))
    for length in range(len(data)):
        (folder / "in.npy").write_bytes(data[:length])
        run(tool, folder / "in.npy", folder / "out.npy", status=3)
    np.savez_compressed(folder / "in.npz", x=np.arange(6.0), y=np.zeros(3))
    data = (folder / "in.npz").read_bytes()
    for length in range(0, len(data), 7):
        (folder / "in.npz").write_bytes(data[:length])
        run(tool, folder / "in.npz", folder / "out.npz", status=3)
    print("refused: foreign types and every truncation")


def main():
    with tempfile.TemporaryDirectory() as name:
        for check in (check_npz, check_npy, check_raw, check_refused):
            check(sys.argv[1], Path(name))


main()
