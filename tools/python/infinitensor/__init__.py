"""InfiniTensor in process: import ONNX models, look at graphs, transform them, run them on NumPy arrays.

    import infinitensor as it
    model = it.load("model.onnx").optimize()
    outputs = it.Session(model).run({"x": x})

Options have the names and meanings of those of it-import(1), it-opt(1) and it-run(1).
"""

from __future__ import annotations

import ctypes
import json
import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _library as c
from ._library import Array, Error, version as __version__

__all__ = ["Error", "Module", "Node", "Session", "Value", "__version__", "import_onnx", "load", "parse", "read"]


class _Serializable(Protocol):
    def SerializeToString(self) -> bytes: ...


Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Value:
    """An input or output: `shape` holds numbers and expressions over symbols; None: the rank is not known."""

    name: str
    type: str
    dtype: str | None
    shape: tuple[int | str, ...] | None


@dataclass(frozen=True)
class Node:
    """`domain` "" is ai.onnx. An input or output that is left out is None. attributes: {name: {"kind": ..., "value": ...}}."""

    op: str
    domain: str
    name: str
    inputs: tuple[str | None, ...]
    outputs: tuple[str | None, ...]
    attributes: Mapping[str, Any]
    origin: tuple[int, ...]


class Module:
    """A graph with its weights. Never changes; made by load, import_onnx, read and parse."""

    def __init__(self, handle: c.Handle) -> None:
        self._handle = handle

    def __repr__(self) -> str:
        ends = [", ".join(f"{value.name}: {value.type}" for value in values) for values in (self.inputs, self.outputs)]
        return f"<infinitensor.Module of {len(self.graph['nodes'])} nodes: ({ends[0]}) -> ({ends[1]})>"

    @cached_property
    def graph(self) -> dict[str, Any]:
        """All of the graph but large constants, in the form of `it-opt --emit=json`."""
        graph: dict[str, Any] = json.loads(self._print("json"))
        return graph

    @property
    def inputs(self) -> tuple[Value, ...]:
        return self._values("inputs")

    @property
    def outputs(self) -> tuple[Value, ...]:
        return self._values("outputs")

    @property
    def nodes(self) -> tuple[Node, ...]:
        def node(n: dict[str, Any]) -> Node:
            return Node(n["op"], n["domain"], n["name"], tuple(n["inputs"]), tuple(n["outputs"]), n["attributes"], tuple(n["origin"]))

        return tuple(map(node, self.graph["nodes"]))

    @property
    def constants(self) -> tuple[str, ...]:
        """Names, for `constant`."""
        return tuple(value["name"] for value in self.graph["values"] if value["constant"])

    @property
    def notes(self) -> str:
        """What importing had to say: operators that are carried without being understood, and what was odd."""
        notes: bytes = c.library.it_module_notes(self._handle.value)
        return notes.decode(errors="replace")

    def constant(self, name: str) -> Array:
        return c.results(c.Handle("results", "it_constant", self._handle.value, name.encode()))[name]

    def optimize(self, level: int | None = None, *, passes: str | None = None, pipeline: Path | None = None, **more: c.Option) -> Module:
        """The graph transformed: at -O`level` (2), or by a list such as "fold,fix(canon,cse,dce)". more: assume_finite, stop_after, ..."""
        chosen = c.options(O=level, passes=passes, pipeline=None if pipeline is None else os.fspath(pipeline), **more)
        return Module(c.Handle("module", "it_optimize", self._handle.value, chosen))

    def write(self, path: Path) -> None:
        """Writes an .itg file, weights and all."""
        c.check(c.library.it_write(self._handle.value, os.fsencode(path)))

    def export(self, path: Path, opset: int = 0) -> None:
        """Writes an ONNX model."""
        c.check(c.library.it_export(self._handle.value, os.fsencode(path), opset))

    def text(self) -> str:
        """The text form, which `parse` reads."""
        return self._print("text")

    def dot(self) -> str:
        """For Graphviz."""
        return self._print("dot")

    def _print(self, form: str) -> str:
        page = c.Handle("text", "it_print", self._handle.value, form.encode())
        return ctypes.string_at(page.value.value or 0).decode(errors="surrogateescape")

    def _values(self, which: str) -> tuple[Value, ...]:
        known = {value["name"]: value for value in self.graph["values"]}
        picked = [known[name] for name in self.graph[which]]
        return tuple(Value(v["name"], v["type"], v["dtype"], None if v["shape"] is None else tuple(v["shape"])) for v in picked)


def _imported(handle: c.Handle) -> Module:
    module = Module(handle)
    if module.notes:
        warnings.warn(module.notes, stacklevel=3)
    return module


def import_onnx(model: Path | bytes | _Serializable, **options: c.Option) -> Module:
    """An ONNX model: a path, the bytes of one, or an onnx.ModelProto. options: dim={"N": 8}, batch, input_shapes={...}, from_, to, strict, ...

    input_shapes maps names to texts such as "1x3x224x224". What has to be said (operators that are carried) is a warning.
    """
    if "from_" in options:
        options["from"] = options.pop("from_")
    shapes = options.get("input_shapes")
    if isinstance(shapes, Mapping):
        options["input_shapes"] = [f"{name}:{shape}" for name, shape in shapes.items()]
    chosen = c.options(**options)
    if isinstance(model, (str, os.PathLike)):
        return _imported(c.Handle("module", "it_import", os.fsencode(model), chosen))
    data = model if isinstance(model, bytes) else model.SerializeToString()
    return _imported(c.Handle("module", "it_import_bytes", data, len(data), chosen))


def read(path: Path) -> Module:
    """An .itg file."""
    return Module(c.Handle("module", "it_read", os.fsencode(path)))


def parse(text: str) -> Module:
    """The text form."""
    return Module(c.Handle("module", "it_parse", text.encode()))


def load(path: Path) -> Module:
    """A file by its name: .onnx is imported, all else is read as .itg."""
    return import_onnx(path) if os.fspath(path).endswith(".onnx") else read(path)


class Session:
    """A module on devices, ready to run. It runs one call at a time; calls from several threads wait for each other.

    options: threads, fallback, device_option={"isa": "portable"}, backend_dir.
    """

    def __init__(self, module: Module, device: str | Iterable[str] = "cpu", **options: c.Option) -> None:
        chosen = device if isinstance(device, str) else ",".join(device)
        self.module = module
        self._handle = c.Handle("session", "it_open", module._handle.value, c.options(device=chosen, **options))
        self._dtypes = {value.name: value.dtype for value in module.inputs}

    def run(self, inputs: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """The outputs by name. Sizes may differ from call to call. An array must have the element type of its input; lists and numbers take it on."""
        arrays = c.Arrays((name, self._array(name, value)) for name, value in inputs.items())
        return c.results(c.Handle("results", "it_run", self._handle.value, arrays.entries, arrays.count))

    __call__ = run

    @property
    def notes(self) -> str:
        """Which nodes went past the first device, and why; empty if none has so far."""
        notes: bytes = c.library.it_session_notes(self._handle.value)
        return notes.decode(errors="replace")

    def _array(self, name: str, value: ArrayLike) -> Array:
        if isinstance(value, (np.ndarray, np.generic)) or self._dtypes.get(name) is None:
            return np.asarray(value)
        return np.asarray(value, dtype=c.dtype_named(self._dtypes[name] or ""))
