"""Large weights through pipes: how much memory each stage takes, and how long. Usage: large_streams.py STREAM_TOOL [GIB]

Writes a model of 3 GiB (or GIB) to a temporary folder, then sends it from stage to stage embedded, by reference, and from a saved file.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MIB = 1024  # KiB


def write_model(path, size):
    block = bytes(range(256)) * 4096
    with open(path, "wb") as file:
        for _ in range(size // len(block)):
            file.write(block)


def pipeline(command):
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    peaks = {stage: (int(peak), float(seconds)) for stage, peak, seconds in re.findall(r"(\w+): peak (\d+) KiB, ([\d.]+) s", done.stderr)}
    got = re.search(r"run: (\d+) bytes", done.stderr)
    print(command, {stage: f"{peak // MIB} MiB, {seconds} s" for stage, (peak, seconds) in peaks.items()}, got.group(0) if got else "")
    return peaks, int(got.group(1)) if got else 0


def main():
    tool = sys.argv[1]
    size = int(float(sys.argv[2] if len(sys.argv) > 2 else 3) * 2**30)
    with tempfile.TemporaryDirectory() as folder:
        model, saved = Path(folder) / "model.bin", Path(folder) / "model.itg"
        write_model(model, size)
        for count in (1, 200):
            peaks, got = pipeline(f"{tool} import {model} {size} {count} embed | {tool} pass | {tool} run")
            assert got == size // 4 // count * count * 4
            assert peaks["import"][0] < 400 * MIB and peaks["pass"][0] < 400 * MIB, peaks
        peaks, got = pipeline(f"{tool} import {model} {size} 200 refer | {tool} pass > /dev/null")
        assert all(peak < 100 * MIB and seconds < 1 for peak, seconds in peaks.values()), peaks
        pipeline(f"{tool} import {model} {size} 1 embed > {saved}")
        peaks, _ = pipeline(f"{tool} pass < {saved} | cat > /dev/null")
        assert peaks["pass"][0] < 400 * MIB, peaks


main()
