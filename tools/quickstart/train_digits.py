#!/usr/bin/env python3
"""Trains the quickstart's digit classifier and writes digits.onnx, six test images and labels.txt beside this file.

    pip install numpy scikit-learn onnx && python train_digits.py [FOLDER]

Data: the UCI handwritten digits, scikit-learn's copy: 1,797 images of 8x8 pixels from 0 to 16. 1,397 are trained on and
400 are held out; the six images written are held-out ones. Seeded: the same machine gives the same file.
"""

from __future__ import annotations

import pathlib
import sys

import numpy as np
import onnx
from network import Adam, Array, BatchNormalization, Conv3x3, Flatten, Gemm, Layer, MaxPool2x2, Relu, softmax
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

SEED, HELD_OUT, EPOCHS, BATCH, RATE = 7, 400, 30, 64, 3e-3
SHOWN_DIGITS = (0, 2, 3, 5, 7, 9)


def load_data() -> tuple[Array, Array, np.ndarray, np.ndarray]:
    """Training images, held-out images, training labels, held-out labels."""
    digits = load_digits()
    images, labels = digits.images[:, None].astype(np.float32), digits.target
    order = np.random.default_rng(SEED).permutation(len(images))
    kept, held = order[HELD_OUT:], order[:HELD_OUT]
    return images[kept], images[held], labels[kept], labels[held]


def build_network(random: np.random.Generator) -> list[Layer]:
    return [Conv3x3(1, 16, random), BatchNormalization(16), Relu(),
            Conv3x3(16, 32, random), BatchNormalization(32), Relu(), MaxPool2x2(),
            Conv3x3(32, 32, random), BatchNormalization(32), Relu(), MaxPool2x2(),
            Flatten(), Gemm(128, 10, random)]


def forward(network: list[Layer], x: Array, training: bool = False) -> Array:
    """Class probabilities."""
    for layer in network:
        x = layer.forward(x, training)
    return softmax(x)


def shifted(images: Array, random: np.random.Generator) -> Array:
    """Each image moved by up to one pixel along each axis."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    corners = random.integers(0, 3, (len(images), 2))
    return np.stack([image[:, row:row + 8, column:column + 8] for image, (row, column) in zip(padded, corners)])


def train(network: list[Layer], images: Array, labels: np.ndarray, random: np.random.Generator) -> None:
    """Minimises the cross-entropy by Adam, the rate falling to 0 along a cosine."""
    optimizer = Adam(network)
    for epoch in range(EPOCHS):
        order = random.permutation(len(images))
        rate = RATE * (1 + np.cos(np.pi * epoch / EPOCHS)) / 2
        for start in range(0, len(order), BATCH):
            batch = order[start:start + BATCH]
            probabilities = forward(network, shifted(images[batch], random), training=True)
            gradient = (probabilities - np.eye(10, dtype=np.float32)[labels[batch]]) / np.float32(len(batch))
            for layer in reversed(network):
                gradient = layer.backward(gradient)
            optimizer.step(rate)


def export(network: list[Layer]) -> onnx.ModelProto:
    """The trained network as an exporter writes it: one node per layer, Softmax last."""
    nodes: list[onnx.NodeProto] = []
    constants: dict[str, Array] = {}
    source = "image"
    for index, layer in enumerate(network):
        target = f"{layer.op_type.lower()}_{index}.out"
        node, operands = layer.export(f"{layer.op_type.lower()}_{index}", source, target)
        nodes.append(node)
        constants |= operands
        source = target
    nodes.append(helper.make_node("Softmax", [source], ["probabilities"], name="softmax", axis=-1))
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name) for name, value in constants.items()])
    model = helper.make_model(graph, producer_name="train_digits", opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def main() -> None:
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent
    folder.mkdir(parents=True, exist_ok=True)
    images, held_images, labels, held_labels = load_data()
    random = np.random.default_rng(SEED)
    network = build_network(random)
    train(network, images, labels, random)
    right = forward(network, held_images).argmax(1) == held_labels
    print(f"{100 * right.mean():.2f} % of {len(right)} held-out images recognised "
          f"({100 * (forward(network, images).argmax(1) == labels).mean():.2f} % of the training images)")
    onnx.save(export(network), str(folder / "digits.onnx"))
    with open(folder / "labels.txt", "w", encoding="utf-8") as list_file:
        for digit in SHOWN_DIGITS:
            image = held_images[np.flatnonzero(held_labels == digit)[0]]
            np.save(folder / f"digit_{digit}.npy", image[None])
            list_file.write(f"digit_{digit}.npy {digit}\n")


if __name__ == "__main__":
    main()
