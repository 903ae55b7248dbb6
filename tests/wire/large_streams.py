#!/usr/bin/env python3
"""3 GiB of weights through it-import | it-opt -O1 | it-run, embedded and by reference: peak memory, time, files touched, result.

    large_streams.py [--bin DIR] [--gib 3] [--folder DIR]

Embedded, the first two stages stay under 400 MiB each (pages of mapped files included); by reference under 100 MiB, and 1 s
together. No stage opens or maps a file besides the model, its libraries and devices: no temporary file, no shared memory.
The output is compared with NumPy's. Status 1 where one of these does not hold.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

WIDTH, ROWS = 4096, 4
LAYER_BYTES = 4 * WIDTH * WIDTH
KNOWN = ("/dev/null", "/dev/pts/", "/dev/tty", "/proc/", "/sys/", "/usr/", "/lib", "/etc/")


def write_model(folder: pathlib.Path, layers: int) -> None:
    """A chain of matrix products, whose weights lie in a file beside the model; its input, and what NumPy makes of it."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper

    random = np.random.default_rng(7)
    block = random.standard_normal(WIDTH * WIDTH, np.float32) / np.float32(WIDTH**0.5)
    x = random.standard_normal((ROWS, WIDTH), np.float32)
    np.save(folder / "x.npy", x)
    weights, nodes = [], []
    with open(folder / "weights.bin", "wb") as file:
        for i in range(layers):
            weight = np.roll(block, 4099 * i).reshape(WIDTH, WIDTH)
            x = x @ weight
            tensor = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[WIDTH, WIDTH], data_location=TensorProto.EXTERNAL)
            for key, value in ("location", "weights.bin"), ("offset", str(file.tell())), ("length", str(LAYER_BYTES)):
                tensor.external_data.add(key=key, value=value)
            weights.append(tensor)
            nodes.append(helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]))
            file.write(memoryview(weight).cast("B"))
    np.save(folder / "expected.npy", x)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [ROWS, WIDTH]) for name in ("x0", f"x{layers}")]
    graph = helper.make_graph(nodes, "large", ends[:1], ends[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), str(folder / "large.onnx"))


def distance(folder: pathlib.Path) -> float:
    """Relative L2 of the output against NumPy's."""
    import numpy as np

    expected = np.load(folder / "expected.npy").astype(np.float64)
    (got,) = np.load(folder / "y.npz").values()
    return float(np.linalg.norm(got - expected) / np.linalg.norm(expected))


def inherited() -> list[str]:
    """Files that this process holds, which its children have from it (its standard error)."""
    return [os.path.realpath(f"/proc/self/fd/{fd}") for fd in (0, 1, 2)]


def foreign_files(pid: int, own: tuple[str, ...]) -> set[str]:
    """Files that the process holds open or mapped and that are none of `own`."""
    seen: set[str] = set()
    try:
        seen.update(os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
        for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
            seen.update(line.split(None, 5)[5:])
    except OSError:  # it has just ended
        pass
    return {path for path in seen if path.startswith("/") and not path.startswith((*own, *KNOWN))}


def run(stages: list[list[str]], own: tuple[str, ...]) -> tuple[list[int], float, set[str]]:
    """Peak resident KiB of each stage, seconds, and the foreign files seen. Raises where a stage fails."""
    running: list[subprocess.Popen[bytes]] = []
    started = time.monotonic()
    for i, stage in enumerate(stages):
        source = running[-1].stdout if running else subprocess.DEVNULL
        running.append(subprocess.Popen(stage, stdin=source, stdout=subprocess.PIPE if i + 1 < len(stages) else subprocess.DEVNULL))
        if i > 0:  # else a stage would not see that the one behind it is gone
            running[-2].stdout.close()
    peaks: dict[int, int] = {}
    foreign: set[str] = set()
    while len(peaks) < len(running):
        for process in running:
            if process.pid in peaks:
                continue
            foreign |= foreign_files(process.pid, own)
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                peaks[pid] = usage.ru_maxrss
                process.returncode = os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    seconds = time.monotonic() - started
    if any(process.returncode for process in running):
        raise SystemExit(f"{stages} ended with {[process.returncode for process in running]}")
    return [peaks[process.pid] for process in running], seconds, foreign


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, metavar="DIR", help="folder of the tools (default: the PATH's)")
    parser.add_argument("--gib", type=float, default=3, help="size of the weights")
    parser.add_argument("--folder", type=pathlib.Path, help="where the model is written (default: a temporary folder)")
    options = parser.parse_args()

    def tool(name: str, *arguments: str) -> list[str]:
        return [str(options.bin / name) if options.bin else name, *arguments]

    good = True
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = pathlib.Path(name).resolve()
        # By another process: a child's peak counts from that of the process that started it.
        here = f"import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r}); import large_streams, pathlib"
        write = f"{here}; large_streams.write_model(pathlib.Path({name!r}), {round(options.gib * 2**30 / LAYER_BYTES)})"
        subprocess.run([sys.executable, "-c", write], check=True)
        own = (str(folder), *([str(options.bin.resolve())] if options.bin else []), *inherited())
        model = str(folder / "large.onnx")
        runs = tool("it-run", "-i", f"x0=@{folder}/x.npy", "-o", f"{folder}/y.npz")
        embedded = [tool("it-import", "--embed", model), tool("it-opt", "--embed", "-O1"), runs]
        by_reference = [tool("it-import", model), tool("it-opt", "-O1"), ["cat"]]
        whole = [*by_reference[:2], runs]
        for what, stages, mib, limit_s in (("embedded", embedded, 400, None), ("by reference, without it-run", by_reference, 100, 1), ("by reference", whole, 100, None)):
            peaks, seconds, foreign = run(stages, own)
            fine = max(peaks[:2]) < mib * 1024 and not foreign and (limit_s is None or seconds < limit_s)
            said = f"{what}: peaks {', '.join(f'{peak // 1024} MiB' for peak in peaks)}; {seconds:.2f} s"
            if stages[-1] is runs:
                far = float(subprocess.run([sys.executable, "-c", f"{here}; print(large_streams.distance(pathlib.Path({name!r})))"],
                                           check=True, capture_output=True, text=True).stdout)
                fine = fine and far < 1e-5
                said += f"; relative L2 {far:.1e}"
                (folder / "y.npz").unlink()
            print(("ok    " if fine else "FAILS ") + said + (f"; foreign files {sorted(foreign)}" if foreign else ""), flush=True)
            good &= fine
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
