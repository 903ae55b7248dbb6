#!/usr/bin/env python3
"""Runs ONNX's node tests through the tools, and compares here what it-run wrote.

    runner.py [--bin DIR] [--device cpu] [--tier 1] [--variant all] [--release 1.23.2] [-j 2]

Variants: import (as imported), opt (after it-opt -O2), fold (tensor inputs made constants, after -O2), negative (one
expected element changed: it-check outputs must say no). In the other three it-check outputs must agree as well.
Status 0: every case passed but those of known_gaps.txt; 1: one failed, or a listed gap passed.
"""

from __future__ import annotations

import argparse
import fnmatch
import pathlib
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import backends
import compare
import numpy as np
import onnx
import protos
from backends import Backend, ToolError
from cases import EXPECTED_COUNTS, HERE, Case, DataSet, counts, load_cases

VARIANTS = ("import", "opt", "fold", "negative")


@dataclass(frozen=True)
class Verdict:
    """The result of one case in one variant on one device; problem is None where it passed."""

    case: Case
    variant: str
    device: str
    problem: str | None

    @property
    def key(self) -> str:
        return f"{self.case.name}/{self.variant}/{self.device}"


@dataclass(frozen=True)
class Gap:
    """A line of known_gaps.txt that speaks of the release at hand."""

    pattern: str
    reason: str

    def covers(self, verdict: Verdict) -> bool:
        pattern = self.pattern if "/" in self.pattern else f"{self.pattern}/*"
        return fnmatch.fnmatchcase(verdict.key, pattern)


def read_gaps(path: pathlib.Path, release: str) -> list[Gap]:
    """The gaps of a release. Raises ValueError for a line without a reason."""
    gaps = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            head, _, reason = line.partition(":")
            if len(head.split()) != 2 or not reason.strip():
                raise ValueError(f"{path}: expected RELEASE CASE: REASON, found {line!r}")
            releases, pattern = head.split()
            if fnmatch.fnmatchcase(release, releases):
                gaps.append(Gap(pattern, reason.strip()))
    return gaps


# -- one case ----------------------------------------------------------------------------------------------------------

def write_case(folder: pathlib.Path, case: Case) -> None:
    """Writes model.onnx and data/test_data_set_K/*.pb."""
    graph = case.model.graph
    folder.mkdir()
    (folder / backends.MODEL).write_bytes(case.model.SerializeToString())
    for number, data in enumerate(case.data_sets):
        target = folder / backends.DATA / f"test_data_set_{number}"
        target.mkdir(parents=True)
        named = [(f"input_{i}.pb", graph.input[i], value) for i, value in data.inputs.items()]
        named += [(f"output_{i}.pb", info, value) for i, (info, value) in enumerate(zip(graph.output, data.outputs))]
        for file, info, value in named:
            (target / file).write_bytes(protos.message_of(value, info.type, info.name).SerializeToString())


def with_constant_inputs(case: Case) -> Case:
    """The case with its tensor inputs made initializers. (From IR version 4 on an initializer need not be an input.)"""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    model.ir_version = max(model.ir_version, 4)
    data, kept = case.data_sets[0], {}
    del model.graph.input[:]
    for i, info in enumerate(case.model.graph.input):
        value = data.inputs.get(i)
        if isinstance(value, np.ndarray) and info.type.HasField("tensor_type"):
            stale = [w for w in model.graph.initializer if w.name == info.name]
            for initializer in stale:
                model.graph.initializer.remove(initializer)
            model.graph.initializer.append(protos.array_to_tensor(value, info.name))
            continue
        if i in data.inputs:
            kept[len(model.graph.input)] = data.inputs[i]
        model.graph.input.append(info)
    return Case(case.name, model, [DataSet(kept, data.outputs)], case.tier)


def with_changed_expectation(case: Case) -> Case:
    data = case.data_sets[0]
    changed = DataSet(data.inputs, compare.alter_one(data.outputs, case.name))
    return Case(case.name, case.model, [changed, *case.data_sets[1:]], case.tier)


def check_outputs(case: Case, backend: Backend, stream: bytes, device: str, folder: pathlib.Path) -> str | None:
    """What is wrong with the outputs computed from the stream, or with what the tool says of them."""
    outputs = backend.run(stream, device, folder)
    names = [info.name for info in case.model.graph.output]
    if sorted(outputs) != sorted(set(names)):
        return f"outputs {sorted(outputs)}, expected {sorted(names)}"
    for name, expected in zip(names, case.data_sets[0].outputs):
        found = compare.difference(outputs[name], expected)
        if found:
            return f"{name}: {found}"
    return None if backend.check(stream, device) else "the outputs are right, but it-check outputs says no"


def check_refusal(backend: Backend, stream: bytes, device: str) -> str | None:
    return "it-check outputs agrees with a changed expectation" if backend.check(stream, device) else None


class CaseRun:
    """One case in all its variants, in a folder of its own. A variant's stream is made once, for every device."""

    def __init__(self, case: Case, backend: Backend, folder: pathlib.Path) -> None:
        self._case, self._backend, self._folder = case, backend, folder
        self._imported: bytes | None = None

    def _import(self, case: Case, name: str) -> bytes:
        write_case(self._folder / name, case)
        return self._backend.import_model(self._folder / name)

    def _stream(self, variant: str) -> bytes:
        if variant == "fold":
            return self._backend.optimise(self._import(with_constant_inputs(self._case), "fold"))
        if variant == "negative":
            return self._import(with_changed_expectation(self._case), "negative")
        if self._imported is None:
            self._imported = self._import(self._case, "import")
        return self._backend.optimise(self._imported) if variant == "opt" else self._imported

    def verdicts(self, variants: list[str], devices: list[str]) -> Iterator[Verdict]:
        for variant in variants:
            try:
                stream = self._stream(variant)
            except ToolError as error:
                yield from (Verdict(self._case, variant, device, str(error)) for device in devices)
                continue
            for device in devices:
                yield Verdict(self._case, variant, device, self._problem(variant, stream, device))

    def _problem(self, variant: str, stream: bytes, device: str) -> str | None:
        try:
            if variant == "negative":
                return check_refusal(self._backend, stream, device)
            return check_outputs(self._case, self._backend, stream, device, self._folder)
        except (ToolError, OSError, ValueError, KeyError) as error:
            return f"{type(error).__name__}: {error}"


# -- all cases ---------------------------------------------------------------------------------------------------------

def run_all(cases: list[Case], backend: Backend, variants: list[str], devices: list[str], jobs: int
            ) -> Iterator[list[Verdict]]:
    """The verdicts of each case, in the order of the cases."""
    def run_one(case: Case) -> list[Verdict]:
        with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
            return list(CaseRun(case, backend, pathlib.Path(folder)).verdicts(variants, devices))

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(run_one, cases)


def judge(verdicts: list[Verdict], gaps: list[Gap], report: Callable[[str], None]) -> str:
    """"passed", "failed" or "known gap" for one case; reports each failure, and each gap that passed."""
    result = "passed"
    for verdict in verdicts:
        gap = next((gap for gap in gaps if gap.covers(verdict)), None)
        if gap and verdict.problem:
            result = "known gap" if result == "passed" else result
        elif verdict.problem:
            result = "failed"
            report(f"FAIL {verdict.key}: {verdict.problem}")
        elif gap and verdict.variant != "negative":
            result = "failed"
            report(f"FAIL {verdict.key}: passes, though listed as a gap ({gap.reason})")
    return result


def run_suite(cases: list[Case], backend: Backend, gaps: list[Gap], options: argparse.Namespace) -> bool:
    """Runs the cases, prints the failures and a line per tier; True where nothing failed."""
    tally: dict[int, dict[str, int]] = {}
    for verdicts in run_all(cases, backend, options.variants, options.device, options.jobs):
        if verdicts:
            row = tally.setdefault(verdicts[0].case.tier, {"passed": 0, "failed": 0, "known gap": 0})
            row[judge(verdicts, gaps, lambda line: print(line[:options.width], flush=True))] += 1
    for tier, row in sorted(tally.items()):
        print(f"tier {tier}: {row['passed']} passed, {row['failed']} failed, {row['known gap']} known gaps")
    return bool(tally) and not any(row["failed"] for row in tally.values())


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, metavar="DIR", help="folder of the tools (default: the PATH's)")
    parser.add_argument("-d", "--device", action="append", help="may be repeated; default cpu")
    parser.add_argument("--tier", type=int, default=1, help="run the cases up to this tier (default 1)")
    parser.add_argument("--filter", metavar="GLOB", default="*", help="names of the cases to run")
    parser.add_argument("--variant", action="append", choices=[*VARIANTS, "all"], help="may be repeated; default all")
    parser.add_argument("--release", help=f"the onnx release whose tests to run (default {onnx.__version__}, installed)")
    parser.add_argument("--tree", type=pathlib.Path, metavar="DIR", help="run the tests of this folder instead")
    parser.add_argument("--gaps", type=pathlib.Path, default=HERE / "known_gaps.txt", help="the list of known gaps")
    parser.add_argument("--run-option", action="append", default=[], help="an option for it-run and it-check outputs")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--width", type=int, default=400, help="cut longer lines of the report")
    parser.add_argument("--list", action="store_true", help="print the names of the cases, run nothing")
    parser.add_argument("--self-check", action="store_true",
                        help="onnx's reference evaluator takes the place of the tools")
    options = parser.parse_args()
    options.device = options.device or ["cpu"]
    chosen = options.variant or ["all"]
    options.variants = [name for name in VARIANTS if name in chosen or "all" in chosen]
    return options


def main() -> int:
    options = parse_options()
    cases = load_cases(options.release, options.tree)
    release = "tree" if options.tree else options.release or onnx.__version__
    found = counts(cases)
    print(f"onnx {release}: {len(cases)} cases, in tiers up to 1..5: {' '.join(map(str, found))}")
    if EXPECTED_COUNTS.get(release, found) != found:
        print(f"expected {' '.join(map(str, EXPECTED_COUNTS[release]))}")
        return 1
    cases = [case for case in cases if case.tier <= options.tier and fnmatch.fnmatchcase(case.name, options.filter)]
    if options.list:
        print(*(f"{case.tier} {case.name}" for case in cases), sep="\n")
        return 0
    if options.self_check:
        warnings.simplefilter("ignore")
    backend = backends.ReferenceBackend() if options.self_check else backends.Toolchain(options.bin, options.run_option)
    return 0 if run_suite(cases, backend, read_gaps(options.gaps, release), options) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ToolError as problem:
        sys.exit(str(problem))
