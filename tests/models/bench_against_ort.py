#!/usr/bin/env python3
"""Holds what the tools compute for whole models against ONNX Runtime, its optimisations off.

    bench_against_ort.py [--bin DIR] [-O 0 -O 2] [--per-node] [MODEL ...]
    bench_against_ort.py [--bin DIR] --symbolic

MODEL is a name of tests/bench/models.py (default: the eight that speed is measured on), or a path X.onnx with X.npz
beside it. Prints the relative L2 distance of every output; --per-node also that of every Conv, ConvTranspose, MatMul
and Gemm result at -O0. --symbolic: one saved stream of each model with open axes runs at several extents.
Status 1: a distance above the limit.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import library  # noqa: E402
from tools import ToolError, Tools  # noqa: E402

LIMIT = 1e-5
COMPARED_NODES = ("Conv", "ConvTranspose", "MatMul", "Gemm")
# Each open model, and the extents that one stream of it runs at.
SYMBOLIC: dict[str, list[dict[str, int]]] = {
    "resnet50@sym": [{"batch": n} for n in (1, 3, 7)],
    "dcgan@sym": [{"batch": n} for n in (1, 3, 7)],
    "bert_base_128@sym": [{"batch": n} for n in (1, 3, 7)] + [{"batch": 3, "seq": 19}, {"batch": 1, "seq": 200}],
    "gpt2_decode_512@sym": [{"batch": n} for n in (1, 3, 7)] + [{"batch": 3, "past": 1}, {"batch": 1, "past": 777}],
}
Arrays = Mapping[str, np.ndarray]


class Oracle:
    """ONNX Runtime on one model as it stands, or optimised; `names` are further values to return beside the outputs."""

    def __init__(self, path: pathlib.Path, names: Sequence[str] = (), optimised: bool = False, threads: int = 2) -> None:
        levels = onnxruntime.GraphOptimizationLevel
        settings = onnxruntime.SessionOptions()
        settings.graph_optimization_level = levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
        settings.intra_op_num_threads = threads
        settings.log_severity_level = 3
        model: str | bytes = str(path)
        if names:
            loaded = onnx.load(str(path))
            declared = {info.name for info in loaded.graph.output}
            loaded.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in declared)
            model = loaded.SerializeToString()
        self._session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])

    def run(self, inputs: Arrays) -> dict[str, np.ndarray]:
        names = [value.name for value in self._session.get_outputs()]
        return dict(zip(names, self._session.run(names, dict(inputs))))


def relative_l2(actual: np.ndarray, expected: np.ndarray) -> float:
    """|actual - expected| / |expected|; infinite where type or shape differ or a number is not finite."""
    if actual.dtype != expected.dtype or actual.shape != expected.shape or not np.isfinite(actual).all():
        return np.inf
    a, b = actual.astype(np.float64).ravel(), expected.astype(np.float64).ravel()
    norm = float(np.linalg.norm(b))
    return float(np.linalg.norm(a - b)) / (norm if norm else 1.0)


def compare(actual: Arrays, expected: Arrays, names: Sequence[str]) -> dict[str, float]:
    """The distance of each named value; one that is absent is infinitely far."""
    return {name: relative_l2(actual[name], expected[name]) if name in actual else np.inf for name in names}


def report(title: str, distances: Mapping[str, float], every: bool) -> bool:
    """Prints the distances (all, or the worst and what is above the limit); True where all are within the limit."""
    wrong = [name for name, distance in distances.items() if not distance <= LIMIT]
    worst = max(distances, key=lambda name: distances[name])
    for name in distances if every else wrong[:10]:
        print(f"{title}: {name}: {distances[name]:.2e}{'  ABOVE THE LIMIT' if name in wrong else ''}")
    print(f"{title}: {len(distances)} values, worst {distances[worst]:.2e} ({worst}), {len(wrong)} above {LIMIT:g}",
          flush=True)
    return not wrong


def matrix_results(path: pathlib.Path) -> list[str]:
    """The names of every Conv, ConvTranspose, MatMul and Gemm result."""
    nodes = onnx.load(str(path), load_external_data=False).graph.node
    return [node.output[0] for node in nodes if node.op_type in COMPARED_NODES]


class Comparison:
    """Runs models through the tools on a device and compares; files live in `folder`. `options` go to it-run."""

    def __init__(self, tools: Tools, device: str, folder: pathlib.Path, options: Sequence[str] = ()) -> None:
        self._tools, self._device, self._folder, self._options = tools, device, folder, options

    def run(self, stages: list[list[str | pathlib.Path]], inputs: pathlib.Path, *arguments: str | pathlib.Path
            ) -> dict[str, np.ndarray]:
        """The arrays that it-run writes at the end of the stages."""
        target = self._folder / "out.npz"
        target.unlink(missing_ok=True)
        self._tools.pipe(*stages, ["it-run", "-d", self._device, *self._options, "--load-inputs", inputs, "-o", target,
                                   *arguments])
        with np.load(target) as arrays:
            return {name: arrays[name] for name in arrays.files if not name.endswith(".json")}

    def outputs(self, model: library.StoredModel, levels: Sequence[int]) -> bool:
        """Every output, at each optimisation level."""
        expected = Oracle(model.onnx).run(model.load_inputs())
        good = True
        for level in levels:
            actual = self.run([["it-import", model.onnx], ["it-opt", f"-O{level}"]], model.inputs)
            title = f"{model.name} -O{level} {self._device}"
            good &= report(title, compare(actual, expected, list(expected)), every=len(expected) < 5)
        return good

    def per_node(self, model: library.StoredModel) -> bool:
        """Every matrix product's result, at -O0."""
        names = matrix_results(model.onnx)
        expected = Oracle(model.onnx, names).run(model.load_inputs())
        actual = self.run([["it-import", model.onnx], ["it-opt", "-O0"]], model.inputs, "--dump=*")
        return report(f"{model.name} -O0 {self._device} per node", compare(actual, expected, names), every=False)

    def symbolic(self, model: library.StoredModel, extents: Sequence[Mapping[str, int]]) -> bool:
        """Every output of one saved stream, at several extents."""
        stream = self._folder / f"{model.name}.itg"
        self._tools.pipe(["it-import", model.onnx], ["it-opt", "-O2", "-o", stream])
        oracle, good = Oracle(model.onnx), True
        for sizes in extents:
            inputs = model.with_sizes(sizes)
            np.savez(self._folder / "in.npz", **inputs)
            expected = oracle.run(inputs)
            actual = self.run([], self._folder / "in.npz", stream)
            title = f"{model.name} {' '.join(f'{k}={v}' for k, v in sizes.items())} {self._device}"
            good &= report(title, compare(actual, expected, list(expected)), every=False)
        stream.unlink()
        return good


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--bin", type=pathlib.Path, metavar="DIR", help="folder of the tools (default: the PATH's)")
    parser.add_argument("-O", "--level", type=int, action="append", help="may be repeated; default 0 and 2")
    parser.add_argument("-d", "--device", default="cpu")
    parser.add_argument("--per-node", action="store_true", help="also every matrix product's result, at -O0")
    parser.add_argument("--symbolic", action="store_true", help="the models with open axes instead")
    parser.add_argument("--cache", type=pathlib.Path, default=library.DEFAULT_FOLDER, help="where models are built")
    return parser.parse_args()


def main() -> int:
    options = parse_options()
    names = options.models or (list(SYMBOLIC) if options.symbolic else library.EIGHT)
    good = True
    with tempfile.TemporaryDirectory(prefix="against-ort-") as folder:
        comparison = Comparison(Tools(options.bin), options.device, pathlib.Path(folder))
        for name in names:
            model = library.stored(name, options.cache)
            try:
                if options.symbolic:
                    good &= comparison.symbolic(model, SYMBOLIC[name])
                else:
                    good &= comparison.outputs(model, options.level or [0, 2])
                    good &= not options.per_node or comparison.per_node(model)
            except ToolError as problem:
                print(f"{name}: {problem}", flush=True)
                good = False
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ToolError as problem:
        sys.exit(str(problem))
