#!/usr/bin/env python3
"""Runs the models of real_models.tsv, and holds what `cpu` computes for them against ONNX Runtime, unoptimised.

    real_against_ort.py [--bin DIR] [--cache DIR] [--long] [PATTERN ...]

Tier 1, at -O0 and -O2: floats within rtol 1e-3 and atol 1e-4, other types equal; where ONNX Runtime, optimised, differs
by more from itself, within that difference (such outputs are listed). f16 results: within four units of its precision,
for each operator here rounds to f16, and ONNX Runtime goes on in f32. `reference` stands in for at most 1 % of the time.
Other tiers: it-import carries them and says so, it-opt passes them on, and it-run ends with status 4 and names the
operators that are missing. PATTERN: parts of names; default: the core set, or with --long the others.
Status 1: a model does otherwise. 77: the packages cannot be fetched.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
from bench_against_ort import Arrays, Comparison, Oracle  # noqa: E402
from real_models import DEFAULT_FOLDER, Cache, RealModel, Unavailable, WrongFile, chosen, read_table  # noqa: E402
from tools import ToolError, Tools  # noqa: E402

RTOL, ATOL = 1e-3, 1e-4
F16_SCALE = 4 * float(np.finfo(np.float16).eps) / RTOL  # both are so many times larger for f16
SECONDS = 0.1  # of measuring each model, on each side
THREADS = 1  # on each side: several tests run at a time
SKIP = 77


@dataclass(frozen=True)
class Distance:
    """How far arrays are apart: the worst element in each of three ways."""

    tolerances: float = 0.0  # in units of ATOL + RTOL * |expected|: above 1 is too far; infinite: nothing compares
    relative: float = 0.0  # to ATOL at least
    absolute: float = 0.0

    def with_worst_of(self, other: Distance) -> Distance:
        return Distance(max(self.tolerances, other.tolerances), max(self.relative, other.relative),
                        max(self.absolute, other.absolute))


def distance(actual: np.ndarray | None, expected: np.ndarray) -> Distance:
    """Elements that are equal (NaN and infinities too) are at distance 0."""
    if actual is None or actual.dtype != expected.dtype or actual.shape != expected.shape:
        return Distance(np.inf, np.inf, np.inf)
    differ = ~((actual == expected) | ((actual != actual) & (expected != expected)))
    if not differ.any():
        return Distance()
    if not np.issubdtype(expected.dtype, np.floating):
        return Distance(np.inf, np.inf, np.inf)
    a, b = actual[differ].astype(np.float64), expected[differ].astype(np.float64)
    if not (np.isfinite(a) & np.isfinite(b)).all():
        return Distance(np.inf, np.inf, np.inf)
    apart, size = np.abs(a - b), np.abs(b)
    allowed = (ATOL + RTOL * size) * (F16_SCALE if expected.dtype == np.float16 else 1)
    return Distance(float((apart / allowed).max()), float((apart / np.maximum(size, ATOL)).max()), float(apart.max()))


def median_ms(oracle: Oracle, inputs: Arrays) -> float:
    """Milliseconds of ONNX Runtime's runs."""
    times, end = [], time.perf_counter() + SECONDS
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        oracle.run(inputs)
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def top_operators(path: pathlib.Path) -> set[str]:
    """The operators of the main graph, by their names in reports."""
    nodes = onnx.load(str(path), load_external_data=False).graph.node
    return {f"{node.domain}::{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type for node in nodes}


class Run:
    """The models through the tools; files live in `folder`."""

    def __init__(self, bin_folder: pathlib.Path | None, cache: Cache, folder: pathlib.Path) -> None:
        self._tools, self._cache, self._folder = Tools(bin_folder), cache, folder
        self._comparison = Comparison(self._tools, "cpu", folder, [f"--threads={THREADS}"])
        self._inputs, self._stream = folder / "in.npz", folder / "model.itg"
        self.listed: list[str] = []  # outputs that ONNX Runtime does not agree with itself about

    def model(self, model: RealModel) -> list[str]:
        """Prints a line; returns what is wrong."""
        path = self._cache.model(model)
        inputs = model.make_inputs()
        np.savez(self._inputs, **inputs)
        count = len(onnx.load(str(path), load_external_data=False).graph.node)
        title = f"{model.name:48} tier {model.tier} {count:5} nodes"
        if model.tier != "1":
            wrong, missing = self._refused(model, path)
            print(f"{title}  status 4: {' '.join(sorted(missing))}", flush=True)
            return wrong
        return self._agrees(model, path, inputs, title)

    def _agrees(self, model: RealModel, path: pathlib.Path, inputs: Arrays, title: str) -> list[str]:
        expected = Oracle(path, threads=THREADS).run(inputs)
        optimised = Oracle(path, optimised=True, threads=THREADS)
        limits = {name: max(1.0, distance(value, expected[name]).tolerances) for name, value in optimised.run(inputs).items()}
        self.listed += [f"{model.name}: {name}: {limit:.3g} times the tolerance" for name, limit in limits.items() if limit > 1]
        wrong, worst = [], Distance()
        for level in ("-O0", "-O2"):
            self._tools.pipe(["it-import", path], ["it-opt", level, "-o", self._stream])
            actual = self._comparison.run([], self._inputs, self._stream)
            for name, value in expected.items():
                found = distance(actual.get(name), value)
                worst = worst.with_worst_of(found)
                if not found.tolerances <= limits[name]:
                    wrong.append(f"{level} {name}: {found.tolerances:.3g} times the tolerance, {limits[name]:.3g} are allowed")
        ours_ms, stand_ins = self._bench()
        if stand_ins:
            wrong.append(f"not on cpu, of all time: {stand_ins}")
        print(f"{title}  worst rel {worst.relative:.1e} abs {worst.absolute:.1e}  ours {ours_ms:8.3f} ms  "
              f"ORT {median_ms(optimised, inputs):8.3f} ms", flush=True)
        return wrong

    def _bench(self) -> tuple[float, str]:
        """The median time of the stream at hand, and what runs elsewhere than on cpu if that takes more than 1 % of it."""
        result = self._folder / "bench.json"
        self._tools.pipe(["it-bench", self._stream, "--load-inputs", self._inputs, f"--threads={THREADS}", "--duration", str(SECONDS),
                          "--profile", "--json", result])
        report = json.loads(result.read_text())
        total = sum(row["ms"] for row in report["profile"])
        elsewhere = [(row["op"], row["ms"] / total) for row in report["profile"] if row["device"] == "reference"]
        share = sum(part for _, part in elsewhere)
        listed = ", ".join(f"{op} {part:.1%}" for op, part in elsewhere)
        return float(report["median_ms"]), listed if share > 0.01 else ""

    def _refused(self, model: RealModel, path: pathlib.Path) -> tuple[list[str], set[str]]:
        """What is wrong, and the operators that it-run says are missing."""
        wrong = []
        said = self._tools.pipe(["it-import", path, "-o", self._stream])
        unnamed = [name for name in model.beyond if not re.search(rf"^ *(\w+\.)*{name.split(':')[-1]}: \d+ node", said, re.MULTILINE)]
        if unnamed:
            wrong.append(f"it-import does not name {' '.join(unnamed)}: {said}")
        optimised = self._folder / "optimised.itg"
        self._tools.pipe(["it-opt", "-O2", self._stream, "-o", optimised])
        needed = top_operators(path) & set(model.beyond)
        for stream in (self._stream, optimised):
            try:
                self._tools.pipe(["it-run", stream, "--load-inputs", self._inputs])
                return [*wrong, "it-run runs it: it is of tier 1"], set()
            except ToolError as problem:
                missing = set(re.findall(r"^  \d+ x (\S+) ", str(problem), re.MULTILINE))
                if problem.statuses != (4,) or missing != needed:
                    wrong.append(f"it-run should end with status 4 for {' '.join(sorted(needed))}: {problem}")
        return wrong, missing


def run_all(run: Run, models: list[RealModel]) -> bool:
    """Prints the models' lines, what is wrong, and totals."""
    good: Counter[str] = Counter()
    for model in models:
        try:
            wrong = run.model(model)
        except (ToolError, WrongFile) as problem:
            wrong = [str(problem)]
        for line in wrong:
            print(f"{model.name}: WRONG: {line}", flush=True)
        good[model.tier] += not wrong
    for line in run.listed:
        print(f"ONNX Runtime, optimised, differs from itself: {line}")
    for tier, count in sorted(Counter(model.tier for model in models).items()):
        print(f"tier {tier}: {good[tier]} of {count} models {'agree' if tier == '1' else 'are carried, and refused by it-run'}")
    return good.total() == len(models)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("--bin", type=pathlib.Path, metavar="DIR", help="folder of the tools (default: the PATH's)")
    parser.add_argument("--cache", type=pathlib.Path, default=DEFAULT_FOLDER, metavar="DIR", help="where packages are kept")
    parser.add_argument("--long", action="store_true", help="the models that are not in the core set")
    options = parser.parse_args()
    cache, models = Cache(options.cache), chosen(read_table(), options.patterns, options.long)
    if not models:
        parser.error("no model has such a name")
    try:
        cache.fetch(model.package for model in models)
    except Unavailable as problem:
        print(f"skipped, for the models cannot be fetched: {problem}")
        return SKIP
    with tempfile.TemporaryDirectory(prefix="real-models-") as folder:
        return 0 if run_all(Run(options.bin, cache, pathlib.Path(folder)), models) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ToolError as problem:
        sys.exit(str(problem))
