#!/usr/bin/env python3
"""Holds `it-bench ab` to its word on this machine.

    ab.py [--bin DIR] [--threads N] [--runs 20] [--pairs 40] [--duration SECONDS] [MODEL ...]

MODEL as for tests/bench/against_ort.py; default: squeezenet bert_base_128. Per model: the graph against itself, which
must give "no difference" in at least 19 of 20 runs; against a copy with 3 % more work (floating-point operations), which
must be named the slower in at least 18 of 20, on whichever side it stands; and the medians, which must be within 3 % of
the time that a run takes as seen from outside: the wall time of it-bench with 2N iterations less that with N, by N. The
difference of two wall times has more than twice the spread of one, and a machine is not as fast at any time, so the
question is put in two parts. The clock: that difference against the same runs as it-bench reports them. The medians:
those of short comparisons in turn with those of it-bench, --pairs of each, a comparison against the mean of its two
neighbours. The product of the two medians of ratios counts; beside it stands the standard error of the mean of ratios. The
machine must be idle. Status 1: one of them is not so.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import NamedTuple

import library
import numpy as np
import onnx
from onnx import helper, numpy_helper, shape_inference

MORE_WORK = 0.03
WORKING = ("Conv", "MatMul", "Gemm")


def flops(node: onnx.NodeProto, shapes: dict[str, list[int]]) -> int:
    """Two per multiply-add; 0 for nodes of other kinds."""
    if node.op_type not in WORKING:
        return 0
    weight = shapes[node.input[1]]
    return 2 * math.prod(shapes[node.output[0]]) * (math.prod(weight[1:]) if node.op_type == "Conv" else weight[-2])


def with_more_work(model: onnx.ModelProto, share: float) -> onnx.ModelProto:
    """A copy that reads x + up(down(x)) where the last layer with weights read x; the width between down and up makes it
    `share` more operations."""
    copy = shape_inference.infer_shapes(model)
    graph = copy.graph
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
              for v in [*graph.input, *graph.output, *graph.value_info]}
    shapes |= {w.name: list(w.dims) for w in graph.initializer}
    weights = {w.name for w in graph.initializer}
    last = max(i for i, n in enumerate(graph.node) if n.op_type in WORKING and n.input[1] in weights)
    x, is_conv = graph.node[last].input[0], graph.node[last].op_type == "Conv"
    channels = shapes[x][1 if is_conv else -1]
    width = round(share * sum(flops(n, shapes) for n in graph.node) / (4 * math.prod(shapes[x])))
    random = np.random.default_rng(0)
    nodes, source = [], x
    for name, rows, columns in (("more_down", channels, width), ("more_up", width, channels)):
        weight = random.standard_normal((rows, columns), np.float32) * np.float32(0.01)
        weight = weight.T.reshape(columns, rows, 1, 1) if is_conv else weight
        graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(weight), f"{name}_weight"))
        nodes.append(helper.make_node("Conv" if is_conv else "MatMul", [source, f"{name}_weight"], [name], name=name))
        source = name
    nodes.append(helper.make_node("Add", [x, source], ["more"], name="more"))
    graph.node[last].input[0] = "more"
    for i, node in enumerate(nodes):
        graph.node.insert(last + i, node)
    return copy


class Times(NamedTuple):
    """Milliseconds of a run."""

    outside: float  # by the wall time of 2N runs less that of N
    inside: float   # of the same runs, as the tool says
    median: float   # of all of them


class Bench:
    """it-bench with the options that all runs share."""

    def __init__(self, folder: pathlib.Path | None, options: Sequence[str]) -> None:
        self._program = str(folder / "it-bench") if folder else "it-bench"
        self._options = list(options)

    def __call__(self, *arguments: str | pathlib.Path) -> str:
        command = [self._program, "-q", *self._options, *map(str, arguments)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def times(self, arguments: Sequence[str | pathlib.Path], count: int) -> Times:
        """Of count and 2 * count runs, each done first and last, so that what its place in the order costs cancels."""
        times: list[float] = []
        outside = inside = 0.0
        for n, sign in ((count, -1), (2 * count, 1), (2 * count, 1), (count, -1)):
            begin = time.perf_counter()
            result = json.loads(self("--iterations", str(n), *arguments, "--json", "-"))
            outside += sign * 1000 * (time.perf_counter() - begin)
            inside += sign * sum(result["times_ms"])
            times += result["times_ms"]
        return Times(outside / (2 * count), inside / (2 * count), statistics.median(times))


def middle(ratios: Sequence[float]) -> tuple[float, float]:
    """The median, and the standard error of the mean."""
    return statistics.median(ratios), statistics.stdev(ratios) / math.sqrt(len(ratios))


def medians_agree(bench: Bench, model: library.StoredModel, pairs: int) -> bool:
    """Comparisons as short as they can be, in turn with it-bench; prints a line for each. pairs: 2 or more."""
    single = ["--load-inputs", model.inputs, model.onnx]
    count = max(8, round(1000 / json.loads(bench(*single, "--json", "-"))["median_ms"]))
    compared: list[float] = []
    times = [bench.times(single, count)]
    for pair in range(pairs):
        result = json.loads(bench("ab", *single, model.onnx, "--duration", "3", "--json", "-"))
        compared.append(statistics.mean(result[side]["median_ms"] for side in ("a", "b")))
        times.append(bench.times(single, count))
        print(f"  {pair:2} median of ab {compared[-1]:.3f} ms, of it-bench {times[-1].median:.3f} ms; from outside {times[-1].outside:.3f} ms, "
              f"the same runs from inside {times[-1].inside:.3f} ms", flush=True)
    clock, clock_error = middle([t.inside / t.outside for t in times])
    turn, turn_error = middle([2 * ab / (before.median + after.median) for ab, before, after in zip(compared, times, times[1:])])
    apart, error = clock * turn - 1, math.hypot(clock_error, turn_error)
    print(f"{model.name}: inside against outside {100 * (clock - 1):.1f} % (standard error {100 * clock_error:.1f} %), ab against it-bench "
          f"{100 * (turn - 1):.1f} % ({100 * turn_error:.1f} %): medians of ab against the wall {100 * apart:.1f} % ({100 * error:.1f} %)", flush=True)
    return abs(apart) <= 0.03


def judge(bench: Bench, model: library.StoredModel, heavier: pathlib.Path, options: argparse.Namespace) -> bool:
    """Runs the two series of one model and prints a line for each comparison."""
    more = [] if options.duration is None else ["--duration", str(options.duration)]
    inputs = ["--load-inputs", model.inputs]
    right = {"itself": 0, "more work": 0}
    longest = 0.0
    for run in range(options.runs):
        swapped = run % 2 == 1
        pairs = {"itself": (model.onnx, model.onnx, "no_difference"),
                 "more work": (heavier, model.onnx, "faster") if swapped else (model.onnx, heavier, "slower")}
        for name, (a, b, expected) in pairs.items():
            begin = time.perf_counter()
            result = json.loads(bench("ab", a, b, *inputs, *more, "--json", "-"))
            longest = max(longest, time.perf_counter() - begin)
            right[name] += result["verdict"] == expected
            print(f"  {run:2} {name:10} {result['verdict']:14} {result['change_percent']:6.2f} % in {result['interval_percent'][0]:6.2f} .. "
                  f"{result['interval_percent'][1]:6.2f}, {len(result['rounds_percent'])} rounds", flush=True)
    print(f"{model.name}: itself: no difference in {right['itself']} of {options.runs}; more work: named in {right['more work']} of {options.runs}; "
          f"longest run {longest:.0f} s", flush=True)
    return right["itself"] >= 0.95 * options.runs and right["more work"] >= 0.9 * options.runs and longest <= 60


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, help="the folder of the tools; else those of PATH")
    parser.add_argument("--threads", type=int, help="of the cpu; all cores if not given")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=40, help="of a short comparison and a time from outside")
    parser.add_argument("--duration", type=float, help="of one comparison; else the tool's own")
    parser.add_argument("models", nargs="*", metavar="MODEL", default=["squeezenet", "bert_base_128"])
    options = parser.parse_args()
    if options.runs < 1 or options.pairs < 2:
        parser.error("--runs is 1 or more, --pairs 2 or more: fewer would show nothing")
    bench = Bench(options.bin, ["--threads", str(options.threads)] if options.threads else [])
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for spec in options.models:
            model = library.stored(spec)
            heavier = pathlib.Path(folder) / f"{model.name}_more.onnx"
            onnx.save(with_more_work(onnx.load(str(model.onnx)), MORE_WORK), str(heavier))
            good = judge(bench, model, heavier, options) and good
            good = medians_agree(bench, model, options.pairs) and good
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
