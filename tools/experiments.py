"""Puts the results of experiments.mk together: table.md (medians in ms), table.csv (all figures) and plot.svg.

experiments.py FOLDER --models NAME... --variants NAME...   reads FOLDER/MODEL/VARIANT.json, which it-bench wrote. Needs Python's library alone.
"""

import argparse
import csv
import io
import json
import os
import pathlib
import sys
from xml.sax.saxutils import escape

FIGURES = ["median_ms", "min_ms", "mean_ms", "deviation_ms", "max_ms", "runs"]
COLOURS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb"]
BAR, GAP, LEFT, WIDTH, RIGHT = 18, 14, 170, 520, 190


def read(path):
    result = json.loads(path.read_text())
    if result.get("schema") != "it-bench/1":
        sys.exit(f"{path}: schema {result.get('schema')!r}, expected 'it-bench/1'")
    return result


def write(path, text):
    """Whole or not at all."""
    new = path.with_name(path.name + ".new")
    new.write_text(text)
    os.replace(new, path)


def relative(results, model, variant, first):
    return results[model, variant]["median_ms"] / results[model, first]["median_ms"]


def table(results, models, variants):
    cell = str.maketrans({"|": r"\|"})
    lines = [f"| median, ms | {' | '.join(model.translate(cell) for model in models)} |", "|---|" + "---:|" * len(models)]
    for variant in variants:
        cells = [f"{results[model, variant]['median_ms']:.3f} ({100 * relative(results, model, variant, variants[0]):.0f} %)" for model in models]
        lines.append(f"| {variant.translate(cell)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def sheet(results, models, variants):
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["model", "variant", "device", *FIGURES])
    for model in models:
        for variant in variants:
            result = results[model, variant]
            rows.writerow([model, variant, result["device"], *(result[figure] for figure in FIGURES)])
    return out.getvalue()


def text(x, y, words, anchor="start"):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'


def plot(results, models, variants):
    """A group of bars for each model: medians as a share of the first variant's."""
    longest = max(relative(results, model, variant, variants[0]) for model in models for variant in variants)
    unit, y, shapes = WIDTH / max(longest, 1), 50, []
    for model in models:
        shapes.append(text(LEFT - 10, y + BAR * len(variants) / 2 + 5, model, "end"))
        for i, variant in enumerate(variants):
            share = relative(results, model, variant, variants[0])
            label = f"{variant}: {results[model, variant]['median_ms']:.3f} ms"
            shapes.append(f'<rect x="{LEFT}" y="{y}" width="{share * unit:.1f}" height="{BAR - 3}" fill="{COLOURS[i % len(COLOURS)]}"/>')
            shapes.append(text(round(LEFT + share * unit + 6, 1), y + BAR - 6, label))
            y += BAR
        y += GAP
    line = f'<line x1="{LEFT + unit:.1f}" y1="40" x2="{LEFT + unit:.1f}" y2="{y - GAP + 6}" stroke="black" stroke-dasharray="3 3"/>'
    title = text(LEFT, 24, f"Median time of a run, {variants[0]} = 1; shorter is faster")
    size = f'width="{LEFT + WIDTH + RIGHT}" height="{y + 10}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="white"/>'
    return "\n".join([head, title, *shapes, line, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--models", nargs="+", required=True)
    parser.add_argument("--variants", nargs="+", required=True)
    chosen = parser.parse_args()
    results = {(model, variant): read(chosen.folder / model / f"{variant}.json") for model in chosen.models for variant in chosen.variants}
    for name, make in ("table.md", table), ("table.csv", sheet), ("plot.svg", plot):
        write(chosen.folder / name, make(results, chosen.models, chosen.variants))


if __name__ == "__main__":
    main()
