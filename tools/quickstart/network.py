"""Layers of a small convolutional network in NumPy: forward, backward, and the ONNX node an exporter writes for each.

Images are [n, channels, height, width]. backward() takes the loss's gradient by the layer's output, leaves the
gradients by its own parameters in `gradients`, and returns the gradient by its input.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from onnx import NodeProto, helper

Array = NDArray[np.float32]


class Layer:
    """parameters: trained arrays by ONNX operand name; state: further operands that the export needs."""

    op_type = ""
    attributes: dict[str, Any] = {}

    def __init__(self) -> None:
        self.parameters: dict[str, Array] = {}
        self.gradients: dict[str, Array] = {}
        self.state: dict[str, Array] = {}

    def forward(self, x: Array, training: bool) -> Array:
        raise NotImplementedError

    def backward(self, gradient: Array) -> Array:
        raise NotImplementedError

    def export(self, name: str, source: str, target: str) -> tuple[NodeProto, dict[str, Array]]:
        """The node that reads `source` and writes `target`, and its initializers by name."""
        constants = {f"{name}.{key}": value for key, value in (self.parameters | self.state).items()}
        return helper.make_node(self.op_type, [source, *constants], [target], name=name, **self.attributes), constants


class Conv3x3(Layer):
    """Convolution, stride 1, one pixel of zero padding. It has no bias: a BatchNormalization follows."""

    op_type = "Conv"
    attributes = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1]}

    def __init__(self, channels_in: int, channels_out: int, random: np.random.Generator) -> None:
        super().__init__()
        scale = np.float32(np.sqrt(2 / (9 * channels_in)))
        self.parameters["weight"] = random.standard_normal((channels_out, channels_in, 3, 3), np.float32) * scale

    @staticmethod
    def _patches(x: Array) -> Array:
        """[n, c, h, w] to [n, h, w, c * 9]: what each output pixel sees."""
        n, c, height, width = x.shape
        windows = sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), axis=(2, 3))
        return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n, height, width, c * 9)

    def forward(self, x: Array, training: bool) -> Array:
        self._seen = self._patches(x)
        weight = self.parameters["weight"]
        return (self._seen @ weight.reshape(len(weight), -1).T).transpose(0, 3, 1, 2)

    def backward(self, gradient: Array) -> Array:
        weight = self.parameters["weight"]
        columns = gradient.transpose(0, 2, 3, 1).reshape(-1, len(weight))
        self.gradients["weight"] = (columns.T @ self._seen.reshape(len(columns), -1)).reshape(weight.shape)
        # By the input: the same convolution, with the kernel turned around and the channels exchanged.
        turned = weight[:, :, ::-1, ::-1].transpose(1, 0, 2, 3).reshape(weight.shape[1], -1)
        return (self._patches(gradient) @ turned.T).transpose(0, 3, 1, 2)


class BatchNormalization(Layer):
    """Each channel to mean 0 and variance 1 over batch and plane, then scaled and shifted; running statistics later."""

    op_type = "BatchNormalization"
    epsilon, momentum = 1e-5, 0.9
    attributes = {"epsilon": epsilon, "momentum": momentum}

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.parameters = {"scale": np.ones(channels, np.float32), "bias": np.zeros(channels, np.float32)}
        self.state = {"mean": np.zeros(channels, np.float32), "variance": np.ones(channels, np.float32)}

    def forward(self, x: Array, training: bool) -> Array:
        mean, variance = self.state["mean"], self.state["variance"]
        if training:
            mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
            for key, value in (("mean", mean), ("variance", variance)):
                kept = np.float32(self.momentum) * self.state[key]
                self.state[key] = kept + np.float32(1 - self.momentum) * value
        self._inverse = 1 / np.sqrt(variance + np.float32(self.epsilon))
        self._normal = (x - per_channel(mean)) * per_channel(self._inverse)
        return self._normal * per_channel(self.parameters["scale"]) + per_channel(self.parameters["bias"])

    def backward(self, gradient: Array) -> Array:
        self.gradients["bias"] = gradient.sum((0, 2, 3))
        self.gradients["scale"] = (gradient * self._normal).sum((0, 2, 3))
        count = np.float32(gradient[:, 0].size)
        centred = gradient - per_channel(self.gradients["bias"]) / count
        centred -= self._normal * per_channel(self.gradients["scale"]) / count
        return centred * per_channel(self.parameters["scale"] * self._inverse)


def per_channel(values: Array) -> Array:
    return values[:, None, None]


class Relu(Layer):
    op_type = "Relu"

    def forward(self, x: Array, training: bool) -> Array:
        self._positive = x > 0
        return x * self._positive

    def backward(self, gradient: Array) -> Array:
        return gradient * self._positive


class MaxPool2x2(Layer):
    op_type = "MaxPool"
    attributes = {"kernel_shape": [2, 2], "strides": [2, 2]}

    def forward(self, x: Array, training: bool) -> Array:
        n, c, height, width = x.shape
        self._shape = x.shape
        cells = x.reshape(n, c, height // 2, 2, width // 2, 2).transpose(0, 1, 2, 4, 3, 5)
        cells = cells.reshape(n, c, height // 2, width // 2, 4)
        self._winner = cells.argmax(-1)[..., None]
        return np.take_along_axis(cells, self._winner, -1)[..., 0]

    def backward(self, gradient: Array) -> Array:
        n, c, height, width = self._shape
        cells = np.zeros((*gradient.shape, 4), np.float32)
        np.put_along_axis(cells, self._winner, gradient[..., None], -1)
        cells = cells.reshape(n, c, height // 2, width // 2, 2, 2).transpose(0, 1, 2, 4, 3, 5)
        return cells.reshape(self._shape)


class Flatten(Layer):
    op_type = "Flatten"
    attributes = {"axis": 1}

    def forward(self, x: Array, training: bool) -> Array:
        self._shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, gradient: Array) -> Array:
        return gradient.reshape(self._shape)


class Gemm(Layer):
    """x W^T + bias."""

    op_type = "Gemm"
    attributes = {"transB": 1}

    def __init__(self, width_in: int, width_out: int, random: np.random.Generator) -> None:
        super().__init__()
        scale = np.float32(np.sqrt(1 / width_in))
        self.parameters = {"weight": random.standard_normal((width_out, width_in), np.float32) * scale,
                           "bias": np.zeros(width_out, np.float32)}

    def forward(self, x: Array, training: bool) -> Array:
        self._seen = x
        return x @ self.parameters["weight"].T + self.parameters["bias"]

    def backward(self, gradient: Array) -> Array:
        self.gradients = {"weight": gradient.T @ self._seen, "bias": gradient.sum(0)}
        return gradient @ self.parameters["weight"]


def softmax(logits: Array) -> Array:
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


class Adam:
    """Adam with decoupled weight decay over the parameters of some layers."""

    def __init__(self, layers: list[Layer], decay: float = 1e-3) -> None:
        self._layers, self._decay, self._steps = layers, decay, 0
        self._moments = {(i, key): (np.zeros_like(value), np.zeros_like(value))
                         for i, layer in enumerate(layers) for key, value in layer.parameters.items()}

    def step(self, rate: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8) -> None:
        """Moves every parameter against its gradient."""
        self._steps += 1
        for (i, key), (first, second) in self._moments.items():
            parameter, gradient = self._layers[i].parameters[key], self._layers[i].gradients[key]
            first += (1 - beta1) * (gradient - first)
            second += (1 - beta2) * (gradient ** 2 - second)
            mean, square = first / (1 - beta1 ** self._steps), second / (1 - beta2 ** self._steps)
            parameter -= rate * (mean / (np.sqrt(square) + epsilon) + self._decay * parameter)
