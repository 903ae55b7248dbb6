#!/usr/bin/env python3
"""Times it-bench against ONNX Runtime at its best settings, in alternating rounds.

    against_ort.py [--bin DIR] [--threads 2] [--rounds 5] [--seconds 3] [MODEL ...]
    against_ort.py [--bin DIR] --cold [MODEL ...]

MODEL as for tests/models/bench_against_ort.py; default: the eight. ONNX Runtime runs in a process of its own with all
graph optimisations, spinning threads and one core per thread. The ratio is ONNX Runtime's time by ours: above 1 we are
faster. --cold: time from the .onnx file to the first output, without ONNX Runtime's or Python's own start.
Status 1: a ratio of medians below --floor, or their geometric mean below --geomean.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import library
from tools import ToolError, Tools

WORKER = pathlib.Path(__file__).with_name("ort_worker.py")


@dataclass
class Times:
    """Milliseconds of one side: every round's smallest and median time."""

    smallest: list[float] = field(default_factory=list)
    medians: list[float] = field(default_factory=list)

    def add(self, smallest: float, median: float) -> None:
        self.smallest.append(smallest)
        self.medians.append(median)

    @property
    def best(self) -> float:
        return min(self.smallest)

    @property
    def median(self) -> float:
        return statistics.median(self.medians)


@dataclass(frozen=True)
class Row:
    """One model's result."""

    name: str
    ours: Times
    theirs: Times

    @property
    def ratio_of_bests(self) -> float:
        return self.theirs.best / self.ours.best

    @property
    def ratio_of_medians(self) -> float:
        return self.theirs.median / self.ours.median


class OrtWorker:
    """ONNX Runtime with one model loaded, in a process of its own, idle between rounds."""

    def __init__(self, model: library.StoredModel, threads: int) -> None:
        self._process = subprocess.Popen([sys.executable, str(WORKER), str(model.onnx), str(model.inputs), str(threads)],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.load_and_first_run_ms = float(self._answer()["first_output_ms"])

    def _answer(self) -> dict[str, float]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the ONNX Runtime process ended with status {self._process.wait()}")
        return json.loads(line)

    def round(self, seconds: float) -> tuple[float, float]:
        """Runs for so long; the smallest and the median time in milliseconds."""
        assert self._process.stdin
        print(seconds, file=self._process.stdin, flush=True)
        answer = self._answer()
        return answer["min_ms"], answer["median_ms"]

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def bench_round(tools: Tools, stream: pathlib.Path, model: library.StoredModel, options: argparse.Namespace,
                report: pathlib.Path) -> tuple[float, float]:
    """One run of it-bench; the smallest and the median time in milliseconds."""
    tools.pipe(["it-bench", "-d", options.device, f"--threads={options.threads}", f"--duration={options.seconds}",
                "--load-inputs", model.inputs, "--json", report, stream])
    result = json.loads(report.read_text())
    if result["schema"] != "it-bench/1":
        raise RuntimeError(f"it-bench wrote schema {result['schema']!r}, expected 'it-bench/1'")
    return result["min_ms"], result["median_ms"]


def measure_steady(tools: Tools, model: library.StoredModel, options: argparse.Namespace, folder: pathlib.Path) -> Row:
    """Alternating rounds over one model, each side going first every other time."""
    stream = folder / f"{model.name}.itg"
    tools.pipe(["it-import", model.onnx], ["it-opt", "-O2", "-o", stream])
    ours, theirs = Times(), Times()
    worker = OrtWorker(model, options.threads)
    try:
        for number in range(options.rounds):
            steps: list[Callable[[], None]] = [
                lambda: ours.add(*bench_round(tools, stream, model, options, folder / "bench.json")),
                lambda: theirs.add(*worker.round(options.seconds))]
            for step in steps if number % 2 == 0 else reversed(steps):
                step()
    finally:
        worker.close()
        stream.unlink(missing_ok=True)
    return Row(model.name, ours, theirs)


def measure_cold(tools: Tools, model: library.StoredModel, options: argparse.Namespace, folder: pathlib.Path) -> Row:
    """Time to the first output: it-run's whole process on the .onnx file, against session creation and one run."""
    ours, theirs = Times(), Times()
    for _ in range(options.rounds):
        begin = time.perf_counter()
        tools.pipe(["it-run", "-d", options.device, f"--threads={options.threads}", "--load-inputs", model.inputs,
                    "-o", folder / "out.npz", model.onnx])
        elapsed = 1e3 * (time.perf_counter() - begin)
        ours.add(elapsed, elapsed)
        worker = OrtWorker(model, options.threads)
        worker.close()
        theirs.add(worker.load_and_first_run_ms, worker.load_and_first_run_ms)
    return Row(model.name, ours, theirs)


def print_row(row: Row) -> None:
    print(f"{row.name:20} {row.ours.best:10.2f} {row.ours.median:10.2f} {row.theirs.best:10.2f} "
          f"{row.theirs.median:10.2f} {row.ratio_of_bests:8.2f} {row.ratio_of_medians:8.2f}", flush=True)


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))


def write_json(path: pathlib.Path, rows: list[Row], options: argparse.Namespace) -> None:
    """The rows as numbers, for later comparison."""
    table = {row.name: {"ours_min_ms": row.ours.best, "ours_median_ms": row.ours.median, "ort_min_ms": row.theirs.best,
                        "ort_median_ms": row.theirs.median, "ratio_of_medians": row.ratio_of_medians} for row in rows}
    settings = {"threads": options.threads, "rounds": options.rounds, "cold": options.cold, "device": options.device}
    path.write_text(json.dumps({"schema": "against-ort/1", **settings, "models": table}, indent=1) + "\n")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--bin", type=pathlib.Path, metavar="DIR", help="folder of the tools (default: the PATH's)")
    parser.add_argument("-d", "--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3, help="length of one side's turn")
    parser.add_argument("--cold", action="store_true", help="time to the first output from the .onnx file")
    parser.add_argument("--floor", type=float, default=0, help="fail where a model's ratio of medians is lower")
    parser.add_argument("--geomean", type=float, default=0, help="fail where their geometric mean is lower")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="also write the table as JSON")
    parser.add_argument("--cache", type=pathlib.Path, default=library.DEFAULT_FOLDER, help="where models are built")
    return parser.parse_args()


def main() -> int:
    options = parse_options()
    if options.threads > len(os.sched_getaffinity(0)):
        print(f"{options.threads} threads on {len(os.sched_getaffinity(0))} cores", file=sys.stderr)
        return 2
    tools, rows = Tools(options.bin), []
    print(f"{'milliseconds':20} {'ours min':>10} {'median':>10} {'ORT min':>10} {'median':>10} {'of mins':>8} {'medians':>8}")
    with tempfile.TemporaryDirectory(prefix="against-ort-") as folder:
        for name in options.models or library.EIGHT:
            model = library.stored(name, options.cache)
            measure = measure_cold if options.cold else measure_steady
            rows.append(measure(tools, model, options, pathlib.Path(folder)))
            print_row(rows[-1])
    ratios = [row.ratio_of_medians for row in rows]
    mean = geometric_mean(ratios)
    print(f"geometric mean {geometric_mean([row.ratio_of_bests for row in rows]):.2f} of mins, {mean:.2f} of medians; "
          f"lowest {min(ratios):.2f} of medians")
    if options.json:
        write_json(options.json, rows, options)
    return 0 if min(ratios) >= options.floor and mean >= options.geomean else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ToolError as problem:
        sys.exit(str(problem))
