"""Layers the way a PyTorch export at opset 17 writes them: normalisation, GELU and attention as primitive operators.

Every function takes the builder, then the input value, and returns the output value. Images are [n, channels, height, width].
"""

from __future__ import annotations

import math

import numpy as np
from graph import GraphBuilder, Value


# -- convolutional networks --------------------------------------------------------------------------------------------

def relu(b: GraphBuilder, x: Value) -> Value:
    return b.elementwise("Relu", x)


def relu6(b: GraphBuilder, x: Value) -> Value:
    return b.emit("Clip", [x, b.scalar(0), b.scalar(6)], x.shape)


def conv(b: GraphBuilder, x: Value, channels: int, kernel: int, *, stride: int = 1, pad: int | None = None,
         group: int = 1, dilation: int = 1, gain: float = 2.0) -> Value:
    """Square convolution with bias; pad=None keeps the size at stride 1. Weights have variance gain / fan_in, and a
    gain of 2 keeps activations alive through a following ReLU."""
    n, c, height, width = x.shape
    padding = dilation * (kernel // 2) if pad is None else pad
    span = dilation * (kernel - 1) + 1
    out = [n, channels, *((side + 2 * padding - span) // stride + 1 for side in (height, width))]
    fan_in = c // group * kernel ** 2
    b.count_macs(math.prod(out) * fan_in)
    weight = b.weight(channels, c // group, kernel, kernel, scale=math.sqrt(gain / fan_in))
    return b.emit("Conv", [x, weight, b.weight(channels)], out, kernel_shape=[kernel, kernel],
                  strides=[stride, stride], pads=[padding] * 4, dilations=[dilation, dilation], group=group)


def conv_relu(b: GraphBuilder, x: Value, channels: int, kernel: int, *, stride: int = 1, pad: int | None = None,
              dilation: int = 1) -> Value:
    return relu(b, conv(b, x, channels, kernel, stride=stride, pad=pad, dilation=dilation))


def conv_transpose(b: GraphBuilder, x: Value, channels: int, kernel: int, stride: int, pad: int) -> Value:
    """Square transposed convolution without bias."""
    n, c, height, width = x.shape
    out = [n, channels, *((side - 1) * stride - 2 * pad + kernel for side in (height, width))]
    b.count_macs(math.prod(x.shape) * channels * kernel ** 2)
    weight = b.weight(c, channels, kernel, kernel, scale=math.sqrt(2 * stride ** 2 / (c * kernel ** 2)))
    return b.emit("ConvTranspose", [x, weight], out, kernel_shape=[kernel, kernel], strides=[stride, stride],
                  pads=[pad] * 4)


def batch_norm(b: GraphBuilder, x: Value) -> Value:
    channels = x.shape[1]
    ones = np.ones(channels, np.float32)
    scale, bias, mean, variance = b.constant(ones), b.weight(channels), b.weight(channels), b.constant(ones)
    return b.emit("BatchNormalization", [x, scale, bias, mean, variance], x.shape)


def max_pool(b: GraphBuilder, x: Value, kernel: int, stride: int, *, pad: int = 0, ceil: bool = False) -> Value:
    n, c, height, width = x.shape
    spare = stride - 1 if ceil else 0
    out = [n, c, *((side + 2 * pad - kernel + spare) // stride + 1 for side in (height, width))]
    return b.emit("MaxPool", [x], out, kernel_shape=[kernel, kernel], strides=[stride, stride], pads=[pad] * 4,
                  ceil_mode=int(ceil))


def pooled_features(b: GraphBuilder, x: Value) -> Value:
    """Mean over each channel's plane: [n, c]."""
    n, c = x.shape[:2]
    return b.emit("Flatten", [b.emit("GlobalAveragePool", [x], [n, c, 1, 1])], [n, c], axis=1)


def classifier(b: GraphBuilder, x: Value, classes: int) -> Value:
    features = pooled_features(b, x)
    n, c = features.shape
    b.count_macs(n * c * classes)
    return b.emit("Gemm", [features, b.weight(classes, c), b.weight(classes)], [n, classes], transB=1)


# -- transformers: values are [n, length, width] -----------------------------------------------------------------------

def matmul(b: GraphBuilder, x: Value, y: Value) -> Value:
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    rows, inner, columns = x.shape[-2], x.shape[-1], y.shape[-1]
    b.count_macs(math.prod(batch) * rows * inner * columns)
    return b.emit("MatMul", [x, y], [*batch, rows, columns])


def linear(b: GraphBuilder, x: Value, width: int) -> Value:
    """x W + bias, W of variance 1 / fan_in."""
    fan_in = x.shape[-1]
    product = matmul(b, x, b.weight(fan_in, width, scale=1 / math.sqrt(fan_in)))
    return b.elementwise("Add", product, b.weight(width))


def reshape(b: GraphBuilder, x: Value, shape: list[int], target: list[int]) -> Value:
    """target is what the Reshape's operand holds (0 keeps an axis, -1 infers it), so that open axes stay open."""
    return b.emit("Reshape", [x, b.integers(*target)], shape)


def transpose(b: GraphBuilder, x: Value, *order: int) -> Value:
    return b.emit("Transpose", [x], [x.shape[axis] for axis in order], perm=list(order))


def layer_norm(b: GraphBuilder, x: Value, epsilon: float = 1e-5) -> Value:
    """Over the last axis: (x - mean) / sqrt(variance + epsilon) * scale + bias."""
    width, reduced = x.shape[-1], [*x.shape[:-1], 1]
    centred = b.elementwise("Sub", x, b.emit("ReduceMean", [x], reduced, axes=[-1]))
    squared = b.elementwise("Pow", centred, b.scalar(2))
    variance = b.emit("ReduceMean", [squared], reduced, axes=[-1])
    deviation = b.elementwise("Sqrt", b.elementwise("Add", variance, b.scalar(epsilon)))
    normal = b.elementwise("Div", centred, deviation)
    scaled = b.elementwise("Mul", normal, b.constant(np.ones(width, np.float32)))
    return b.elementwise("Add", scaled, b.weight(width))


def gelu(b: GraphBuilder, x: Value) -> Value:
    """x * (1 + erf(x / sqrt 2)) / 2."""
    erf = b.elementwise("Erf", b.elementwise("Div", x, b.scalar(math.sqrt(2))))
    product = b.elementwise("Mul", x, b.elementwise("Add", erf, b.scalar(1)))
    return b.elementwise("Mul", product, b.scalar(0.5))


def gelu_tanh(b: GraphBuilder, x: Value) -> Value:
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))."""
    half = b.elementwise("Mul", x, b.scalar(0.5))
    cubic = b.elementwise("Mul", b.elementwise("Pow", x, b.scalar(3)), b.scalar(0.044715))
    angle = b.elementwise("Mul", b.elementwise("Add", x, cubic), b.scalar(math.sqrt(2 / math.pi)))
    return b.elementwise("Mul", half, b.elementwise("Add", b.elementwise("Tanh", angle), b.scalar(1)))


def embedding(b: GraphBuilder, ids: Value, vocabulary: int, width: int) -> Value:
    table = b.weight(vocabulary, width, read_whole=False)
    return b.emit("Gather", [table, ids], [*ids.shape, width], axis=0)


def first_rows(b: GraphBuilder, table: Value, axis: int, like: Value, like_axis: int, extra: int = 0) -> Value:
    """The first `rows` of table along axis, where the graph itself computes rows = extent of like's axis + extra."""
    extents = b.emit("Shape", [like], [len(like.shape)])
    rows = b.emit("Gather", [extents, b.integers(like_axis)], [1], axis=0)
    if extra:
        rows = b.emit("Add", [rows, b.integers(extra)], [1])
    shape = list(table.shape)
    shape[axis] = like.shape[like_axis] + extra
    return b.emit("Slice", [table, b.integers(0), rows, b.integers(axis)], shape)


def split_heads(b: GraphBuilder, x: Value, heads: int, *, transposed: bool = False) -> Value:
    """[n, length, heads * width] to [n, heads, length, width], or to [n, heads, width, length] when transposed."""
    n, length, total = x.shape
    width = total // heads
    split = reshape(b, x, [n, length, heads, width], [0, 0, heads, width])
    return transpose(b, split, 0, 2, 3, 1) if transposed else transpose(b, split, 0, 2, 1, 3)


def merge_heads(b: GraphBuilder, x: Value) -> Value:
    """[n, heads, length, width] to [n, length, heads * width]."""
    n, heads, length, width = x.shape
    return reshape(b, transpose(b, x, 0, 2, 1, 3), [n, length, heads * width], [0, 0, heads * width])


def attend(b: GraphBuilder, query: Value, transposed_key: Value, value: Value, mask: Value | None) -> Value:
    """softmax(q k^T / sqrt(width) + mask) v, per head."""
    scores = matmul(b, query, transposed_key)
    scores = b.elementwise("Div", scores, b.scalar(math.sqrt(query.shape[-1])))
    if mask is not None:
        scores = b.elementwise("Add", scores, mask)
    return matmul(b, b.elementwise("Softmax", scores, axis=-1), value)


def self_attention(b: GraphBuilder, x: Value, heads: int, mask: Value | None = None) -> Value:
    """Multi-head attention of x to itself, three separate projections in and one out."""
    width = x.shape[-1]
    query, key, value = (linear(b, x, width) for _ in range(3))
    mixed = attend(b, split_heads(b, query, heads), split_heads(b, key, heads, transposed=True),
                   split_heads(b, value, heads), mask)
    return linear(b, merge_heads(b, mixed), width)
