#!/usr/bin/env python3
"""Builds the benchmark models as ONNX files: random weights, fixed seed.

    models.py [--with-data] OUT_DIR [NAME ...]

Each follows the public architecture of its name, written the way a PyTorch export writes it. NAME@b4 sets the batch;
NAME@sym leaves the batch open, and bert_base's sequence and gpt2_decode's past as well. meta.json beside the files
holds FLOPs (two per multiply-add), weight bytes that one run reads, and the node count. --with-data also writes
NAME.npz: one deterministic array per graph input, under the input's name.
"""

from __future__ import annotations

import argparse
import json
import pathlib
from collections.abc import Callable, Mapping, Sequence

import layers as nn
import numpy as np
import onnx
from graph import INT64, GraphBuilder, Value

BERT_WORDS, GPT2_WORDS = 30522, 50257
LONGEST_POSITION, LONGEST_PAST = 512, 1024


# -- convolutional networks --------------------------------------------------------------------------------------------

def image(b: GraphBuilder, side: int = 224) -> Value:
    return b.input("x", [b.batch, 3, side, side], symbols={0: "batch"})


def resnet_stem(b: GraphBuilder) -> Value:
    return nn.max_pool(b, nn.conv_relu(b, image(b), 64, 7, stride=2), 3, 2, pad=1)


def residual(b: GraphBuilder, x: Value, y: Value, stride: int) -> Value:
    """relu(y + x), with x projected where its shape differs from y's."""
    if x.shape != y.shape:
        x = nn.conv(b, x, y.shape[1], 1, stride=stride, gain=1)
    return nn.relu(b, b.elementwise("Add", y, x))


def resnet50(b: GraphBuilder) -> list[Value]:
    x = resnet_stem(b)
    for stage, blocks in enumerate([3, 4, 6, 3]):
        channels = 64 << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = nn.conv_relu(b, nn.conv_relu(b, x, channels, 1), channels, 3, stride=stride)
            x = residual(b, x, nn.conv(b, y, 4 * channels, 1, gain=0.3), stride)
    return [nn.classifier(b, x, 1000)]


def resnet18(b: GraphBuilder) -> list[Value]:
    x = resnet_stem(b)
    for stage in range(4):
        channels = 64 << stage
        for block in range(2):
            stride = 2 if stage and not block else 1
            y = nn.conv_relu(b, x, channels, 3, stride=stride)
            x = residual(b, x, nn.conv(b, y, channels, 3, gain=0.3), stride)
    return [nn.classifier(b, x, 1000)]


def inverted_residual(b: GraphBuilder, x: Value, channels: int, expansion: int, stride: int) -> Value:
    """Expand by 1x1, filter each channel by 3x3, project by 1x1; add the input where the shapes agree."""
    wide = x.shape[1] * expansion
    y = nn.relu6(b, nn.conv(b, x, wide, 1)) if expansion > 1 else x
    y = nn.relu6(b, nn.conv(b, y, wide, 3, stride=stride, group=wide))
    y = nn.conv(b, y, channels, 1, gain=1)
    return b.elementwise("Add", x, y) if x.shape == y.shape else y


def mobilenetv2(b: GraphBuilder) -> list[Value]:
    x = nn.relu6(b, nn.conv(b, image(b), 32, 3, stride=2))
    # expansion, channels, blocks, stride of the first block
    for expansion, channels, blocks, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                                (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for block in range(blocks):
            x = inverted_residual(b, x, channels, expansion, 1 if block else stride)
    return [nn.classifier(b, nn.relu6(b, nn.conv(b, x, 1280, 1)), 1000)]


def fire(b: GraphBuilder, x: Value, squeeze: int, expand: int) -> Value:
    """Squeeze by 1x1, then expand by 1x1 and by 3x3 side by side."""
    x = nn.conv_relu(b, x, squeeze, 1)
    halves = [nn.conv_relu(b, x, expand, 1), nn.conv_relu(b, x, expand, 3)]
    n, _, height, width = halves[0].shape
    return b.emit("Concat", halves, [n, 2 * expand, height, width], axis=1)


def squeezenet(b: GraphBuilder) -> list[Value]:
    """SqueezeNet 1.1."""
    x = nn.conv_relu(b, image(b), 64, 3, stride=2, pad=0)
    for group in ([(16, 64)] * 2, [(32, 128)] * 2, [(48, 192)] * 2 + [(64, 256)] * 2):
        x = nn.max_pool(b, x, 3, 2, ceil=True)
        for squeeze, expand in group:
            x = fire(b, x, squeeze, expand)
    return [nn.pooled_features(b, nn.conv_relu(b, x, 1000, 1))]


def vgg16_front(b: GraphBuilder, x: Value) -> Value:
    """VGG-16's first ten convolutions."""
    for step, (count, channels) in enumerate([(2, 64), (2, 128), (3, 256), (3, 512)]):
        if step:
            x = nn.max_pool(b, x, 2, 2)
        for _ in range(count):
            x = nn.conv_relu(b, x, channels, 3)
    return x


def vgg16_convs(b: GraphBuilder) -> list[Value]:
    x = nn.max_pool(b, vgg16_front(b, image(b)), 2, 2)
    for _ in range(3):
        x = nn.conv_relu(b, x, 512, 3)
    return [x]


def csrnet(b: GraphBuilder) -> list[Value]:
    """Crowd counting: VGG-16's front, then six dilated convolutions."""
    x = vgg16_front(b, image(b, 256))
    for channels in (512, 512, 512, 256, 128, 64):
        x = nn.conv_relu(b, x, channels, 3, dilation=2)
    return [nn.conv(b, x, 1, 1)]


def dcgan(b: GraphBuilder) -> list[Value]:
    """The generator: noise [n, 100, 1, 1] to an image [n, 3, 64, 64]."""
    x = b.input("z", [b.batch, 100, 1, 1], symbols={0: "batch"})
    x = nn.conv_transpose(b, x, 512, 4, 1, 0)
    for channels in (256, 128, 64, 3):
        x = nn.conv_transpose(b, nn.relu(b, nn.batch_norm(b, x)), channels, 4, 2, 1)
    return [b.elementwise("Tanh", x)]


# -- transformers ------------------------------------------------------------------------------------------------------

def bert_mask(b: GraphBuilder, length: int) -> Value:
    """Input `mask` (1 = attend) as what is added to the scores: 0 or -10000, shaped [n, 1, 1, length]."""
    mask = b.input("mask", [b.batch, length], symbols={0: "batch", 1: "seq"})
    mask = b.emit("Unsqueeze", [mask, b.integers(1, 2)], [b.batch, 1, 1, length])
    return b.elementwise("Mul", b.elementwise("Sub", b.scalar(1), mask), b.scalar(-10000))


def bert_base(b: GraphBuilder, length: int) -> list[Value]:
    width, heads = 768, 12
    ids = b.input("input_ids", [b.batch, length], INT64, {0: "batch", 1: "seq"})
    mask = bert_mask(b, length)
    words = nn.embedding(b, ids, BERT_WORDS, width)
    if b.symbolic:
        positions = nn.first_rows(b, b.weight(1, LONGEST_POSITION, width), 1, ids, 1)
    else:
        positions = b.weight(1, length, width)
    x = nn.layer_norm(b, b.elementwise("Add", words, positions))
    for _ in range(12):
        x = nn.layer_norm(b, b.elementwise("Add", nn.self_attention(b, x, heads, mask), x))
        y = nn.linear(b, nn.gelu(b, nn.linear(b, x, 4 * width)), width)
        x = nn.layer_norm(b, b.elementwise("Add", y, x))
    return [x]


def class_token(b: GraphBuilder, patches: Value) -> Value:
    """One learned token per image. An open or larger batch is reached by adding it to zero times a patch."""
    n, _, width = patches.shape
    token = b.weight(1, 1, width)
    if not b.symbolic and n == 1:
        return token
    patch = b.emit("Slice", [patches, b.integers(0), b.integers(1), b.integers(1)], [n, 1, width])
    return b.elementwise("Add", b.elementwise("Mul", patch, b.scalar(0)), token)


def vit_b16(b: GraphBuilder) -> list[Value]:
    width, heads, patches = 768, 12, 196
    x = nn.conv(b, image(b), width, 16, stride=16, pad=0)
    x = nn.transpose(b, nn.reshape(b, x, [b.batch, width, patches], [0, 0, -1]), 0, 2, 1)
    x = b.emit("Concat", [class_token(b, x), x], [b.batch, patches + 1, width], axis=1)
    x = b.elementwise("Add", x, b.weight(1, patches + 1, width))
    for _ in range(12):
        x = b.elementwise("Add", x, nn.self_attention(b, nn.layer_norm(b, x), heads))
        y = nn.gelu(b, nn.linear(b, nn.layer_norm(b, x), 4 * width))
        x = b.elementwise("Add", x, nn.linear(b, y, width))
    first = b.emit("Gather", [nn.layer_norm(b, x), b.constant(np.int64(0))], [b.batch, width], axis=1)
    return [nn.linear(b, first, 1000)]


def causal_mask(b: GraphBuilder, length: int, past: int, past_key: Value | None) -> Value:
    """What is added to the scores. In a symbolic model the one new token attends to everything before it, so the mask
    is a row of zeros, cut to past + 1 in the graph."""
    if b.symbolic and past_key is not None:
        return nn.first_rows(b, b.constant(np.zeros((1, 1, 1, LONGEST_PAST + 1), np.float32)), 3, past_key, 2, extra=1)
    blocked = np.full((1, 1, length, length + past), -1e4, np.float32)
    return b.constant(np.triu(blocked, 1 + past))


def gpt2_attention(b: GraphBuilder, x: Value, heads: int, past: tuple[Value, Value] | None,
                   mask: Value) -> tuple[Value, Value, Value]:
    """One fused projection to q, k, v. Returns the mixed values and the present key and value."""
    n, length, width = x.shape
    parts = b.emit_many("Split", [nn.linear(b, x, 3 * width), b.integers(width, width, width)],
                        [[n, length, width]] * 3, axis=2)
    query, key, value = (nn.split_heads(b, part, heads) for part in parts)
    if past is not None:
        extended = [n, heads, past[0].shape[2] + length, width // heads]
        key, value = (b.emit("Concat", [old, new], extended, axis=2) for old, new in zip(past, (key, value)))
    mixed = nn.attend(b, query, nn.transpose(b, key, 0, 1, 3, 2), value, mask)
    return nn.linear(b, nn.merge_heads(b, mixed), width), key, value


def gpt2(b: GraphBuilder, length: int, past: int) -> list[Value]:
    """GPT-2 small. past = 0: prefill; otherwise one decoding step, with the key/value cache as inputs. Outputs are the
    logits, then each layer's present key and value."""
    width, heads, depth = 768, 12, 12
    ids = b.input("input_ids", [b.batch, length], INT64, {0: "batch"})

    def cache(kind: str) -> list[Value]:
        shape, symbols = [b.batch, heads, past, width // heads], {0: "batch", 2: "past"}
        return [b.input(f"past_{kind}_{layer}", shape, symbols=symbols) for layer in range(depth)]

    pasts = list(zip(cache("key"), cache("value"))) if past else [None] * depth
    x = b.elementwise("Add", nn.embedding(b, ids, GPT2_WORDS, width), b.weight(1, length, width))
    mask = causal_mask(b, length, past, pasts[0][0] if pasts[0] else None)
    present: list[Value] = []
    for layer in range(depth):
        y, key, value = gpt2_attention(b, nn.layer_norm(b, x), heads, pasts[layer], mask)
        present += [key, value]
        x = b.elementwise("Add", x, y)
        y = nn.gelu_tanh(b, nn.linear(b, nn.layer_norm(b, x), 4 * width))
        x = b.elementwise("Add", x, nn.linear(b, y, width))
    return [nn.matmul(b, nn.layer_norm(b, x), b.weight(width, GPT2_WORDS)), *present]


# -- others ------------------------------------------------------------------------------------------------------------

def lstm_2x512(b: GraphBuilder) -> list[Value]:
    length, hidden = 64, 512
    x = b.input("x", [length, b.batch, 256])
    for _ in range(2):
        width = x.shape[2]
        b.count_macs(length * b.batch * 4 * hidden * (width + hidden))
        weights = [b.weight(1, 4 * hidden, width), b.weight(1, 4 * hidden, hidden), b.weight(1, 8 * hidden)]
        y = b.emit("LSTM", [x, *weights], [length, 1, b.batch, hidden], hidden_size=hidden)
        x = b.emit("Squeeze", [y, b.integers(1)], [length, b.batch, hidden])
    return [x]


def tiny_chain(b: GraphBuilder) -> list[Value]:
    """The cost of a node: 50 elementwise nodes over 64 numbers."""
    x = b.input("x", [64])
    for _ in range(25):
        x = b.elementwise("Sin", b.elementwise("Ceil", x))
    return [x]


MODELS: dict[str, Callable[[GraphBuilder], list[Value]]] = {
    "resnet50": resnet50, "resnet18": resnet18, "mobilenetv2": mobilenetv2, "squeezenet": squeezenet,
    "vgg16_convs": vgg16_convs, "csrnet": csrnet, "dcgan": dcgan,
    "bert_base_128": lambda b: bert_base(b, 128), "bert_base_512": lambda b: bert_base(b, 512), "vit_b16": vit_b16,
    "gpt2_prefill_128": lambda b: gpt2(b, 128, 0), "gpt2_decode_512": lambda b: gpt2(b, 1, 512),
    "lstm_2x512": lstm_2x512, "tiny_chain": tiny_chain,
}
EXAMPLE_SIZES = {"batch": 1, "seq": 128, "past": 512}


# -- building, inputs, command line ------------------------------------------------------------------------------------

def build(spec: str) -> tuple[GraphBuilder, onnx.ModelProto]:
    """Builds NAME, NAME@bN or NAME@sym; raises ValueError for anything else."""
    name, _, option = spec.partition("@")
    batch = int(option[1:]) if option.startswith("b") and option[1:].isdigit() else 1
    if name not in MODELS or option not in ("", "sym", f"b{batch}") or batch < 1:
        raise ValueError(f"unknown model {spec!r}; models: {' '.join(MODELS)}; options: @bN, @sym")
    builder = GraphBuilder(spec.replace("@", "_"), batch, symbolic=option == "sym")
    return builder, builder.model(MODELS[name](builder))


def make_inputs(inputs: Sequence[onnx.ValueInfoProto], sizes: Mapping[str, int],
                seed: int = 0) -> dict[str, np.ndarray]:
    """One array per graph input: token ids inside every vocabulary, masks of ones whose last quarter is zero, normal
    numbers elsewhere. sizes gives the open axes their extents."""
    random = np.random.default_rng(seed)
    arrays: dict[str, np.ndarray] = {}
    for info in inputs:
        kind = info.type.tensor_type
        shape = [sizes[d.dim_param] if d.dim_param else d.dim_value for d in kind.shape.dim]
        if kind.elem_type == INT64:
            arrays[info.name] = random.integers(0, min(BERT_WORDS, GPT2_WORDS), shape, np.int64)
        elif info.name == "mask":
            mask = np.ones(shape, np.float32)
            mask[..., shape[-1] - shape[-1] // 4:] = 0
            arrays[info.name] = mask
        else:
            arrays[info.name] = random.standard_normal(shape, np.float32)
    return arrays


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--with-data", action="store_true", help="also write NAME.npz, one array per graph input")
    parser.add_argument("folder", type=pathlib.Path, metavar="OUT_DIR")
    parser.add_argument("specs", nargs="*", metavar="NAME", help=f"default: all of {' '.join(MODELS)}")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    meta_file = options.folder / "meta.json"
    meta = json.loads(meta_file.read_text()) if meta_file.exists() else {}
    for spec in options.specs or MODELS:
        try:
            builder, model = build(spec)
        except ValueError as problem:
            parser.error(str(problem))
        onnx.save(model, str(options.folder / f"{builder.name}.onnx"))
        if options.with_data:
            np.savez(options.folder / f"{builder.name}.npz", **make_inputs(model.graph.input, EXAMPLE_SIZES))
        meta[builder.name] = entry = builder.statistics()
        print(f"{builder.name:20} {entry['flops'] / 1e9:9.3f} GFLOP {entry['weight_bytes'] / 1e6:8.1f} MB "
              f"{entry['nodes']:5} nodes", flush=True)
    meta_file.write_text(json.dumps(meta, indent=1) + "\n")


if __name__ == "__main__":
    main()
