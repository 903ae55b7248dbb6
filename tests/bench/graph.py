"""A small ONNX graph builder that knows every value's shape, and so counts floating-point operations as it grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
OPSET, IR_VERSION = 17, 8


@dataclass(frozen=True)
class Value:
    """A value of the graph: its name, and its shape with every symbol at its example size."""

    name: str
    shape: tuple[int, ...]


@dataclass
class Cost:
    """flops: two per multiply-add; weight_bytes: constants that one run reads as a whole (embedding tables are not)."""

    flops: int = 0
    weight_bytes: int = 0


class GraphBuilder:
    """Grows one graph, node by node. Weights come from one seeded generator, so equal calls build equal models."""

    def __init__(self, name: str, batch: int = 1, symbolic: bool = False) -> None:
        self.name, self.batch, self.symbolic = name, batch, symbolic
        self.cost = Cost()
        self._nodes: list[onnx.NodeProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._random = np.random.default_rng(2023)

    def input(self, name: str, shape: Sequence[int], dtype: int = FLOAT,
              symbols: Mapping[int, str] | None = None) -> Value:
        """Declares a graph input. symbols names the axes that a symbolic model leaves open."""
        declared: list[int | str] = list(shape)
        for axis, symbol in (symbols or {}).items():
            declared[axis] = symbol if self.symbolic else shape[axis]
        self._inputs.append(helper.make_tensor_value_info(name, dtype, declared))
        return Value(name, tuple(shape))

    def constant(self, array: ArrayLike, read_whole: bool = True) -> Value:
        """Adds an initializer; read_whole: one run reads all of it, so it counts as weight traffic."""
        data = np.asarray(array)
        name = f"const_{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(data, name))
        if read_whole and data.size > 64:
            self.cost.weight_bytes += data.nbytes
        return Value(name, data.shape)

    def integers(self, *values: int) -> Value:
        """A 1-D int64 constant: axes, shapes, bounds."""
        return self.constant(np.array(values, np.int64))

    def scalar(self, value: float) -> Value:
        """A rank-0 float constant."""
        return self.constant(np.float32(value))

    def weight(self, *shape: int, scale: float = 0.05, read_whole: bool = True) -> Value:
        """A float constant drawn from a normal distribution of mean 0 and deviation `scale`."""
        return self.constant(self._random.standard_normal(shape, np.float32) * np.float32(scale), read_whole)

    def emit_many(self, op_type: str, inputs: Sequence[Value], shapes: Sequence[Sequence[int]],
                  **attributes: Any) -> list[Value]:
        """Appends a node with one output per shape."""
        stem = f"{op_type}_{len(self._nodes)}"
        names = [f"{stem}_out{i}" for i in range(len(shapes))]
        self._nodes.append(helper.make_node(op_type, [v.name for v in inputs], names, name=stem, **attributes))
        return [Value(name, tuple(shape)) for name, shape in zip(names, shapes)]

    def emit(self, op_type: str, inputs: Sequence[Value], shape: Sequence[int], **attributes: Any) -> Value:
        """Appends a node with one output."""
        return self.emit_many(op_type, inputs, [shape], **attributes)[0]

    def elementwise(self, op_type: str, *inputs: Value, **attributes: Any) -> Value:
        """Appends a node whose output has the broadcast shape of its inputs."""
        return self.emit(op_type, inputs, np.broadcast_shapes(*(v.shape for v in inputs)), **attributes)

    def count_macs(self, count: int) -> None:
        """Adds `count` multiply-adds to the cost."""
        self.cost.flops += 2 * count

    def statistics(self) -> dict[str, int]:
        """What meta.json says of this model."""
        return {"flops": self.cost.flops, "weight_bytes": self.cost.weight_bytes, "nodes": len(self._nodes)}

    def model(self, outputs: Sequence[Value]) -> onnx.ModelProto:
        """The finished model; a symbolic model declares only the rank of its outputs."""
        infos = [helper.make_tensor_value_info(v.name, FLOAT, [None] * len(v.shape) if self.symbolic else v.shape)
                 for v in outputs]
        graph = helper.make_graph(self._nodes, self.name, self._inputs, infos, self._weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = IR_VERSION
        return model
