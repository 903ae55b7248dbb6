#!/usr/bin/env python3
"""ONNX's own node tests as cases, from the installed package, from an older release's wheel, or from a folder.

    cases.py [RELEASE ...]      counts per tier; no release: the installed package's

Releases up to 1.22.0 carry their tests as files (onnx/backend/test/data/node), the newer ones make them in memory.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import onnx
import protos
from npz_io import Value

HERE = pathlib.Path(__file__).resolve().parent
DEFAULT_CACHE = HERE.parents[1] / "build" / "cache" / "onnx"
NODE_TESTS = "onnx/backend/test/data/node/"
LAST_TIER = 5
# The wheel of a release to read the files of, whatever Python runs here: Python version, ABI, platform.
WHEELS = {
    "1.4.1": ("3.6", "cp36m", "manylinux1_x86_64"), "1.8.1": ("3.8", "cp38", "manylinux2010_x86_64"),
    "1.12.0": ("3.10", "cp310", "manylinux2014_x86_64"), "1.16.2": ("3.11", "cp311", "manylinux2014_x86_64"),
    "1.22.0": ("3.12", "cp312", "manylinux_2_28_x86_64"),
}
# Cases whose data files are broken: these hold the addresses of strings where the strings should be.
BROKEN = {"1.4.1": {"test_cast_FLOAT_to_STRING", "test_cast_STRING_to_FLOAT"}}
# Cases in tiers up to 1, 2, 3, 4 and 5 of the releases that we count on.
EXPECTED_COUNTS = {"1.23.2": (1324, 1567, 1717, 1858, 1884)}


@dataclass(frozen=True)
class DataSet:
    """inputs by graph position (an input that the data leaves to its initializer is absent); outputs in order."""

    inputs: dict[int, Value]
    outputs: list[Value]


@dataclass(frozen=True)
class Case:
    """One test: a model, and what it should compute."""

    name: str
    model: onnx.ModelProto
    data_sets: list[DataSet]
    tier: int = field(default=0)


def read_tiers(path: pathlib.Path = HERE / "tiers.txt") -> dict[str, int]:
    """The tier of each operator of ai.onnx."""
    tiers: dict[str, int] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            number, *operators = line.split()
            for operator in operators:
                if tiers.setdefault(operator, int(number)) != int(number):
                    raise ValueError(f"{path}: {operator} stands in two tiers")
    return tiers


def operators_of(nodes: Iterable[onnx.NodeProto]) -> Iterator[tuple[str, str]]:
    """(domain, operator) of every node, nested graphs included."""
    for node in nodes:
        yield "" if node.domain == "ai.onnx" else node.domain, node.op_type
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from operators_of(graph.node)


def tier_of(model: onnx.ModelProto, tiers: dict[str, int]) -> int:
    """The highest tier of an operator in the model; calls of its own functions count as their bodies."""
    own = {(function.domain, function.name) for function in model.functions}
    used = {*operators_of(model.graph.node), *(op for f in model.functions for op in operators_of(f.node))} - own
    return max((LAST_TIER if domain else tiers.get(operator, LAST_TIER) for domain, operator in used), default=1)


# -- sources -----------------------------------------------------------------------------------------------------------

def cases_in_memory() -> Iterator[Case]:
    """The node tests that the installed onnx package makes. Its code divides by zero on purpose: no warnings."""
    from onnx.backend.test import loader

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = loader.load_model_tests(kind="node")
    for test in tests:
        assert test.model is not None and test.data_sets is not None
        graph = test.model.graph
        sets = [DataSet({i: protos.normalise(value, info.type)
                         for i, (value, info) in enumerate(zip(inputs, graph.input, strict=True))},
                        [protos.normalise(value, info.type) for value, info in zip(outputs, graph.output, strict=True)])
                for inputs, outputs in test.data_sets]
        yield Case(test.name, test.model, sets)


def read_data_set(folder: pathlib.Path, graph: onnx.GraphProto) -> DataSet:
    """Reads input_N.pb and output_N.pb of one test_data_set_K folder."""
    files = {match.group(1, 2): entry for entry in folder.iterdir()
             if (match := re.fullmatch(r"(input|output)_(\d+)\.pb", entry.name))}
    inputs = {i: protos.parse(files["input", str(i)].read_bytes(), info.type)
              for i, info in enumerate(graph.input) if ("input", str(i)) in files}
    outputs = [protos.parse(files["output", str(i)].read_bytes(), info.type) for i, info in enumerate(graph.output)]
    return DataSet(inputs, outputs)


def drop_wrong_shapes(model: onnx.ModelProto, data_sets: list[DataSet]) -> None:
    """Leaves open the declared shape of inputs whose data has another one (1.12.0's CastLike has such)."""
    for data in data_sets:
        for i, value in data.inputs.items():
            kind = model.graph.input[i].type.tensor_type
            declared = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim]
            if isinstance(value, np.ndarray) and kind.HasField("shape") and (
                    len(declared) != value.ndim or any(a not in (None, b) for a, b in zip(declared, value.shape))):
                kind.ClearField("shape")


def cases_in_folder(folder: pathlib.Path, skipped: Collection[str] = ()) -> Iterator[Case]:
    """The cases of a tree test_NAME/model.onnx, test_NAME/test_data_set_K/*.pb."""
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.name in skipped or not (entry / "model.onnx").exists():
            continue
        model = onnx.ModelProto.FromString((entry / "model.onnx").read_bytes())
        data = sorted((item for item in entry.iterdir() if item.name.startswith("test_data_set_")),
                      key=lambda item: item.name)
        data_sets = [read_data_set(item, model.graph) for item in data]
        drop_wrong_shapes(model, data_sets)
        yield Case(entry.name, model, data_sets)


def fetch_tree(release: str, cache: pathlib.Path) -> pathlib.Path:
    """The folder of the release's tests, taken by pip from its wheel into the cache unless it is there."""
    tree = cache / release
    if not tree.exists():
        python, abi, platform = WHEELS[release]
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as download:
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                            "--implementation", "cp", "--python-version", python, "--abi", abi,
                            "--platform", platform, "--dest", download, f"onnx=={release}"], check=True)
            with zipfile.ZipFile(next(pathlib.Path(download).glob("*.whl"))) as wheel:
                wheel.extractall(f"{download}/files", [name for name in wheel.namelist() if name.startswith(NODE_TESTS)])
            pathlib.Path(download, "files").rename(tree)
    return tree / NODE_TESTS


def load_cases(release: str | None = None, folder: pathlib.Path | None = None,
               cache: pathlib.Path = DEFAULT_CACHE) -> list[Case]:
    """All cases of a source, each with its tier. Neither release nor folder: the installed package's."""
    if folder is not None:
        found = cases_in_folder(folder)
    elif release in (None, onnx.__version__):
        found = cases_in_memory()
    elif release in WHEELS:
        found = cases_in_folder(fetch_tree(release, cache), BROKEN.get(release, ()))
    else:
        raise ValueError(f"no tests of onnx {release} here: {onnx.__version__} is installed, wheels: {', '.join(WHEELS)}")
    tiers = read_tiers()
    return [Case(case.name, case.model, case.data_sets, tier_of(case.model, tiers)) for case in found]


def counts(cases: Iterable[Case]) -> tuple[int, ...]:
    """How many cases lie in tiers up to 1, 2, 3, 4 and 5."""
    numbers = [case.tier for case in cases]
    return tuple(sum(number <= tier for number in numbers) for tier in range(1, LAST_TIER + 1))


def main() -> None:
    for release in sys.argv[1:] or [onnx.__version__]:
        found = counts(load_cases(release))
        print(f"onnx {release}: cases in tiers up to 1..5: {' '.join(map(str, found))}")
        if EXPECTED_COUNTS.get(release, found) != found:
            sys.exit(f"expected {' '.join(map(str, EXPECTED_COUNTS[release]))}")


if __name__ == "__main__":
    main()
