"""The example beside this file: what it makes, what it makes again and what not, and that killing it does no harm. test.py --bin FOLDER"""

import argparse
import csv
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODELS, VARIANTS = ["digits", "gelu"], ["imported", "tidy", "optimised"]
# Stands before each tool in the path, and writes down when it ran on what. The version may be made up.
RECORDER = """#!/bin/bash
if [ "$*" = --version ] && [ "${FAKE_VERSION:-}" ]; then echo "$FAKE_VERSION"; exit; fi
begin=$EPOCHREALTIME
"$TOOLS/${0##*/}" "$@" && status=0 || status=$?
echo "$begin $EPOCHREALTIME ${0##*/} $*" >>"$RECORD"
exit $status
"""


def check(condition, what):
    if not condition:
        sys.exit(f"experiments: {what}")


class Example:
    def __init__(self, folder, tools):
        self.out, self.record = folder / "build/experiments", folder / "record"
        self.here, self.model = folder / "tests/experiments", folder / "tools/quickstart/digits.onnx"
        shutil.copytree(HERE, self.here)
        self.model.parent.mkdir(parents=True)
        shutil.copy(ROOT / "tools/quickstart/digits.onnx", self.model)
        path = folder / "bin"
        path.mkdir()
        for tool in "it-import", "it-opt", "it-check", "it-bench":
            (path / tool).write_text(RECORDER)
            (path / tool).chmod(0o755)
        self.env = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "TOOLS": str(tools), "RECORD": str(self.record), "LC_ALL": "C"}
        for name in "MAKEFLAGS", "MAKELEVEL", "MFLAGS":
            self.env.pop(name, None)

    def command(self, *options):
        return ["make", "-C", str(self.here), "-j4", f"EXPERIMENTS={ROOT}/tools/experiments.mk", "BENCH=--iterations 30 --threads 1", *options]

    def make(self, *options, status=0, **env):
        """What ran, as lines of words; and what make said."""
        self.record.write_text("")
        done = subprocess.run(self.command(*options), env={**self.env, **env}, capture_output=True, text=True, timeout=600)
        check(done.returncode == status, f"make {options}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
        lines = [line.split() for line in self.record.read_text().splitlines()]
        return [line for line in lines if "--version" not in line and line[2] != "it-check"], done.stdout + done.stderr

    def graphs(self):
        return {str(p.relative_to(self.out)): hashlib.sha256(p.read_bytes()).hexdigest() for p in self.out.rglob("*.itg")}

    def times(self):
        return {str(p.relative_to(self.out)): p.stat().st_mtime_ns for p in self.out.rglob("*") if p.is_file() and p.name != "lock"}

    def medians(self):
        return {(m, v): json.loads((self.out / m / f"{v}.json").read_text())["median_ms"] for m in MODELS for v in VARIANTS}


def check_pages(example):
    medians = example.medians()
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in (example.out / "table.md").read_text().splitlines()]
    check(rows[0] == ["median, ms", *MODELS], f"table.md begins with {rows[0]}")
    expected = [[v] + [f"{medians[m, v]:.3f} ({100 * medians[m, v] / medians[m, 'imported']:.0f} %)" for m in MODELS] for v in VARIANTS]
    check(rows[2:] == expected, f"table.md has {rows[2:]}, expected {expected}")
    with (example.out / "table.csv").open(newline="") as file:
        sheet = {(row["model"], row["variant"]): float(row["median_ms"]) for row in csv.DictReader(file)}
    check(sheet == medians, f"table.csv has {sheet}, expected {medians}")
    drawing = xml.parse(example.out / "plot.svg").getroot()
    svg = "{http://www.w3.org/2000/svg}"
    bars = [float(bar.get("width")) for bar in drawing.iter(svg + "rect") if bar.get("fill") != "white"]
    shares = [medians[m, v] / medians[m, "imported"] for m in MODELS for v in VARIANTS]
    check(len(bars) == len(shares), f"plot.svg has {len(bars)} bars, expected {len(shares)}")
    unit = bars[0]  # the first variant's share is 1
    check(all(abs(bar - unit * share) < 0.2 for bar, share in zip(bars, shares)), f"plot.svg: bars {bars}, expected {shares} of {unit}")
    words = {element.text for element in drawing.iter(svg + "text")}
    labels = set(MODELS) | {f"{v}: {medians[m, v]:.3f} ms" for m in MODELS for v in VARIANTS}
    check(labels <= words, f"plot.svg lacks {labels - words}")


def check_nothing_to_do(example, why):
    before = example.times()
    ran, said = example.make()
    check("Nothing to be done for 'experiments'" in said and not ran, f"{why}: not nothing to do\n{ran}\n{said}")
    check(example.times() == before, f"{why}: files were written")


def check_alone(ran):
    """No measurement runs while another tool does."""
    spans = sorted((float(line[0]), float(line[1]), line[2]) for line in ran)
    for a in spans:
        for b in spans:
            check(a is b or "it-bench" not in (a[2], b[2]) or a[1] <= b[0] or b[1] <= a[0], f"at the same time: {a} and {b}")


def check_only(example, what, files, *options, **env):
    """Only these graphs and results are made anew, and the pages."""
    before = example.times()
    ran, _ = example.make(*options, **env)
    made = {str(pathlib.Path(line[line.index(flag) + 1]).relative_to("../../build/experiments")) for line in ran for flag in ("-o", "--json") if flag in line}
    check(made - {"gelu.onnx"} == files, f"{what}: made {sorted(made)}, expected {sorted(files)}")
    after = example.times()
    changed = {name for name in after if after[name] != before.get(name) and name.endswith((".itg", ".json"))}
    check(changed == files, f"{what}: changed {sorted(changed)}, expected {sorted(files)}")
    check_pages(example)


def check_kill(example, seen, graphs):
    """Killed with all it started as soon as a file fits `seen`, it goes on where it was."""
    shutil.rmtree(example.out)
    process = subprocess.Popen(example.command(), env=example.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    end = time.monotonic() + 120
    while not list(example.out.glob(seen)):
        check(process.poll() is None and time.monotonic() < end, f"make ended before there was {seen}")
        time.sleep(0.001)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    check(not (example.out / "table.md").exists(), f"killed at {seen}, it was done already")
    example.make()
    check(example.graphs() == graphs, f"killed at {seen}: other graphs")
    check_pages(example)
    check_nothing_to_do(example, f"killed at {seen} and made again")


def check_failures(example):
    _, said = example.make("VARIANTS=imported nosuch", status=2)
    check("OPT.nosuch is not set" in said, f"a variant without options: {said}")
    _, said = example.make("OPT.tidy=--passes=nosuch", status=2)
    check("nosuch" in said and not (example.out / "digits/tidy.itg.new").exists(), f"an unknown pass: {said}")
    example.model.write_bytes(example.model.read_bytes()[:1000])
    _, said = example.make(status=2)
    check("digits.onnx" in said, f"a damaged model is not named: {said}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    tools = parser.parse_args().bin.resolve()
    with tempfile.TemporaryDirectory() as folder:
        example = Example(pathlib.Path(folder), tools)
        ran, _ = example.make()
        check(sum(line[2] == "it-bench" for line in ran) == 6, f"expected 6 measurements: {ran}")
        check_alone(ran)
        check_pages(example)
        graphs = example.graphs()
        check(len(graphs) == 8, f"expected 8 graphs: {graphs}")
        check_nothing_to_do(example, "made again")
        example.model.touch()
        check_nothing_to_do(example, "a model touched")
        for seen in "*.itg", "*/tidy.itg", "*/*.json":
            check_kill(example, seen, graphs)
        both = {v: {f"{m}/{v}.{form}" for m in MODELS for form in ("itg", "json")} for v in VARIANTS}
        check_only(example, "another option", both["tidy"], "OPT.tidy=-O1")
        check_only(example, "the option as it was", both["tidy"])
        text = example.here / "gelu.txt"
        text.write_text(text.read_text().replace("1024", "2048"))
        check_only(example, "another model", {name for names in both.values() for name in names if name.startswith("gelu")} | {"gelu.itg"})
        check({name for name, digest in example.graphs().items() if digest != graphs[name]} >= {"gelu/optimised.itg"}, "the graph is as it was")
        everything = set().union(*both.values()) | {f"{m}.itg" for m in MODELS}
        check_only(example, "another version", everything, FAKE_VERSION="it-any 99")
        example.make()
        check_failures(example)


if __name__ == "__main__":
    main()
