#!/usr/bin/env python3
"""Holds it-check coverage to its word, on ONNX's node tests and four devices.

    truthful.py --bin DIR [--compiler c++] [--sample 150] [--filter GLOB] [-j 2]

What coverage calls supported (status 0), it-run must run; what it does not (status 1), it-run must refuse (status 4) for
reasons that coverage gave; any other status must be it-run's as well. The devices are cpu, reference, null and the mini
plugin of tests/plugin, which has a memory of its own and four operators, alone and with the cpu behind it.
Status 0: so it is, in every case; 1: it is not.
"""

from __future__ import annotations

import argparse
import collections
import fnmatch
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from backends import Toolchain, ToolError
from cases import HERE, Case, load_cases
from runner import write_case

YES, NO, UNSUPPORTED = 0, 1, 4
STATUSES = (YES, NO, 2, 3, UNSUPPORTED, 5)  # no bug (70), no signal


def build_mini(compiler: str, folder: pathlib.Path) -> pathlib.Path:
    """tests/plugin/mini.cpp as a library; it sees the plugin header alone."""
    include, library = folder / "include", folder / "libmini.so"
    include.mkdir()
    (include / "infinitensor").symlink_to(HERE.parents[1] / "libcore" / "plugin")
    subprocess.run([compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{include}", "-o",
                    str(library), str(HERE.parent / "plugin" / "mini.cpp")], check=True)
    return library


def reasons_of(report: dict) -> set[tuple[str, str]]:
    """What coverage says of each node that runs nowhere, as it-run's report would: operator, and device and reason."""
    return {(row["op"], f"{' on ' + given['device'] if given['device'] else ''}: {given['reason']}")
            for row in report["total"]["rows"] if row["where"] == "nowhere" for given in row["reasons"]}


def refusals_of(said: str) -> list[tuple[str, str]]:
    """Operator and rest of each line of it-run's report, without the names of the nodes at its end; or the whole message."""
    lines = re.findall(r"^  \d+ x (\S+) (.*) \(.*\)$", said, re.MULTILINE)
    return lines or [("", said.strip())]


def contradiction(covered: subprocess.CompletedProcess[bytes], ran: subprocess.CompletedProcess[bytes]) -> str | None:
    """What of it-run's behaviour coverage did not say."""
    said = ran.stderr.decode("utf-8", "replace")
    if covered.returncode != NO:
        return None if covered.returncode == ran.returncode else f"coverage {covered.returncode}, it-run {ran.returncode}: {said}"
    if ran.returncode != UNSUPPORTED:
        return f"coverage says no, it-run ends with {ran.returncode}: {covered.stdout.decode()} {said}"
    known = reasons_of(json.loads(covered.stdout))
    for operator, rest in refusals_of(said):
        stated = any(operator == op and rest.endswith(reason) for op, reason in known)
        if not stated and not any(not operator and reason.removeprefix(" on host: ") in rest for _, reason in known):
            return f"it-run refuses {operator} {rest!r}; coverage knows {sorted(known)}"
    return None


def check(case: Case, tools: Toolchain, devices: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """A verdict per device ("yes", "no", "not imported", "error"), and a problem or nothing."""
    with tempfile.TemporaryDirectory(prefix="truthful-") as folder:
        write_case(pathlib.Path(folder) / "case", case)
        try:
            stream = tools.import_model(pathlib.Path(folder) / "case")
        except ToolError:
            yield "not imported", ""
            return
        for name, options in devices.items():
            covered = tools.call("it-check", "coverage", "--json", *options, stream=stream, allowed=STATUSES)
            ran = tools.call("it-run", "-q", *options, "-o", f"{folder}/out.npz", stream=stream, allowed=STATUSES)
            problem = contradiction(covered, ran)
            verdict = {YES: "yes", NO: "no"}.get(covered.returncode, "error")
            yield f"{name} {verdict}", f"{case.name} on {name}: {problem}" if problem else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, metavar="DIR", help="folder of the tools (default: the PATH's)")
    parser.add_argument("--compiler", default="c++", help="what builds the plugin")
    parser.add_argument("--sample", type=int, help="so many cases, the same each time (default: all)")
    parser.add_argument("--filter", metavar="GLOB", default="*", help="names of the cases to run")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    cases = [case for case in load_cases() if fnmatch.fnmatchcase(case.name, options.filter)]
    if options.sample:
        cases = random.Random(0).sample(cases, min(options.sample, len(cases)))
    tools, tally, failed = Toolchain(options.bin, []), collections.Counter(), 0
    with tempfile.TemporaryDirectory(prefix="mini-") as folder, ThreadPoolExecutor(options.jobs) as pool:
        mini = str(build_mini(options.compiler, pathlib.Path(folder)))
        devices = {name: ["-d", name, "--threads=1"] for name in ("cpu", "reference", "null")}
        devices |= {"mini": ["-d", mini], "mini, cpu": ["-d", mini, "--fallback=cpu", "--threads=1"]}
        for verdicts in pool.map(lambda case: list(check(case, tools, devices)), cases):
            for verdict, problem in verdicts:
                tally[verdict] += 1
                if problem:
                    failed += 1
                    print("FAIL", problem, flush=True)
    print(f"{len(cases)} cases: " + ", ".join(f"{verdict} {count}" for verdict, count in sorted(tally.items())))
    return 1 if failed or not any(verdict.endswith("no") for verdict in tally) else 0


if __name__ == "__main__":
    sys.exit(main())
