#!/usr/bin/env python3
"""Every planted fault of the CPU's kernels is reported by the comparison with ONNX Runtime that the models are held to.

    faults.py [--bin DIR]

A network with each kind of kernel in it runs without a fault, where every distance must be within the limit, and then
with each fault of backends/cpu/faults.def, where one must be above it: an output at -O0 or -O2, or the result of a
matrix product or convolution. Status 1: a fault goes unnoticed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "bench"))
import layers as nn  # noqa: E402
import library  # noqa: E402
from bench_against_ort import Comparison  # noqa: E402
from graph import GraphBuilder, Value  # noqa: E402
from tools import Tools  # noqa: E402


def planted_faults() -> list[str]:
    return re.findall(r"^FAULT\((\w+)", (ROOT / "backends" / "cpu" / "faults.def").read_text(), re.MULTILINE)


def image_part(b: GraphBuilder) -> list[Value]:
    """Convolutions of each kind, both poolings, a residual, a batch normalisation."""
    x = b.input("image", [1, 3, 19, 19])
    x = nn.conv_relu(b, x, 16, 3, stride=2)
    y = nn.conv_relu(b, nn.conv(b, x, 16, 3, group=2), 16, 3, dilation=2)
    x = nn.relu(b, b.elementwise("Add", nn.conv(b, y, 16, 1), x))
    x = nn.relu6(b, nn.batch_norm(b, nn.conv(b, x, 16, 3, stride=2, group=16)))
    up = nn.conv_transpose(b, x, 5, 4, 2, 1)
    n, c, height, width = up.shape
    mean = b.emit("AveragePool", [up], [n, c, height // 2, width // 2], kernel_shape=[2, 2], strides=[2, 2])
    return [nn.max_pool(b, up, 2, 2), b.elementwise("Tanh", mean), nn.classifier(b, up, 37)]


def text_part(b: GraphBuilder) -> list[Value]:
    """A transformer's layer, with a residual behind a product and an activation behind another."""
    x = b.input("words", [2, 7, 24])
    x = nn.layer_norm(b, b.elementwise("Add", nn.self_attention(b, x, 2), x))
    return [nn.layer_norm(b, b.elementwise("Add", nn.linear(b, nn.gelu(b, nn.linear(b, x, 37)), 24), x))]


def stored(folder: pathlib.Path) -> library.StoredModel:
    builder = GraphBuilder("planted")
    model = builder.model(image_part(builder) + text_part(builder))
    found = library.StoredModel("planted", folder / "planted.onnx", folder / "planted.npz")
    onnx.save(model, str(found.onnx))
    random = np.random.default_rng(5)
    shapes = {info.name: [d.dim_value for d in info.type.tensor_type.shape.dim] for info in model.graph.input}
    np.savez(found.inputs, **{name: random.standard_normal(shape, np.float32) for name, shape in shapes.items()})
    return found


def within_limits(comparison: Comparison, model: library.StoredModel) -> tuple[dict[str, bool], str]:
    """Whether all is well, by kind of comparison, and what was printed."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        good = {f"-O{level}": comparison.outputs(model, [level]) for level in (0, 2)}
        good["node by node"] = comparison.per_node(model)
    return good, said.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, metavar="DIR", help="folder of the tools (default: the PATH's)")
    tools = Tools(parser.parse_args().bin)
    faults, noticed = planted_faults(), 0
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        folder = pathlib.Path(name)
        model = stored(folder)
        good, said = within_limits(Comparison(tools, "cpu", folder, ["--threads=1"]), model)
        if not all(good.values()):
            print(f"without a fault:\n{said}")
            return 1
        for fault in faults:
            options = ["--threads=1", f"--device-option=fault={fault}"]
            good, _ = within_limits(Comparison(tools, "cpu", folder, options), model)
            where = [kind for kind, well in good.items() if not well]
            noticed += bool(where)
            print(f"{fault}: {'reported by ' + ', '.join(where) if where else 'NOT REPORTED'}", flush=True)
    print(f"{noticed} of {len(faults)} planted faults reported")
    return 0 if noticed == len(faults) >= 20 else 1


if __name__ == "__main__":
    sys.exit(main())
