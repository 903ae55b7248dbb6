"""Benchmark models on disk, built once: model specs or .onnx paths to files, and inputs beside them."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from dataclasses import dataclass

import models
import numpy as np
import onnx

DEFAULT_FOLDER = pathlib.Path(__file__).resolve().parents[2] / "build" / "cache" / "models"
SOURCES = [pathlib.Path(__file__).with_name(name) for name in ("graph.py", "layers.py", "models.py")]
EIGHT = ("resnet50", "mobilenetv2", "squeezenet", "csrnet", "dcgan", "bert_base_128", "vit_b16", "gpt2_prefill_128")


@dataclass(frozen=True)
class StoredModel:
    """A model file and an .npz file of its inputs."""

    name: str
    onnx: pathlib.Path
    inputs: pathlib.Path

    def load_inputs(self) -> dict[str, np.ndarray]:
        with np.load(self.inputs) as arrays:
            return dict(arrays)

    def with_sizes(self, sizes: Mapping[str, int], seed: int = 0) -> dict[str, np.ndarray]:
        """Inputs for other extents of the open axes."""
        model = onnx.load(str(self.onnx), load_external_data=False)
        return models.make_inputs(model.graph.input, {**models.EXAMPLE_SIZES, **sizes}, seed)


def stored(spec: str, folder: pathlib.Path = DEFAULT_FOLDER) -> StoredModel:
    """The model of a spec such as resnet50@sym, built where the folder has none or an outdated one; or, for a path
    X.onnx, that file with X.npz beside it. Raises ValueError for an unknown spec."""
    if spec.endswith(".onnx"):
        path = pathlib.Path(spec)
        return StoredModel(path.stem, path, path.with_suffix(".npz"))
    name = spec.replace("@", "_")
    found = StoredModel(name, folder / f"{name}.onnx", folder / f"{name}.npz")
    newest = max(source.stat().st_mtime for source in SOURCES)
    if not (found.inputs.exists() and found.inputs.stat().st_mtime > newest):
        folder.mkdir(parents=True, exist_ok=True)
        _, model = models.build(spec)
        onnx.save(model, str(found.onnx))
        np.savez(found.inputs, **models.make_inputs(model.graph.input, models.EXAMPLE_SIZES))
    return found
