"""Values to and from ONNX's messages: TensorProto, SequenceProto, OptionalProto, by the type that a graph declares."""

from __future__ import annotations

import numpy as np
from npz_io import DTYPE_OF_CODE, Value
from onnx import OptionalProto, SequenceProto, TensorProto, TypeProto, numpy_helper

Message = TensorProto | SequenceProto | OptionalProto


def tensor_to_array(tensor: TensorProto) -> np.ndarray:
    """The tensor's elements, in the dtype that npz_io gives its type."""
    if tensor.data_type == TensorProto.STRING:
        decoded = [item.decode("utf-8", "surrogateescape") for item in tensor.string_data]
        return np.array(decoded, object).reshape(tuple(tensor.dims))
    array = numpy_helper.to_array(tensor)
    if array.dtype != DTYPE_OF_CODE[tensor.data_type]:
        raise ValueError(f"{tensor.name}: read as {array.dtype}, not as {DTYPE_OF_CODE[tensor.data_type]}")
    return array


def array_to_tensor(array: np.ndarray, name: str = "") -> TensorProto:
    """The array as a message."""
    if array.dtype != object:
        return numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
    tensor = TensorProto(name=name, data_type=TensorProto.STRING, dims=array.shape)
    tensor.string_data.extend(str(item).encode("utf-8", "surrogateescape") for item in array.ravel())
    return tensor


def normalise(value: object, kind: TypeProto) -> Value:
    """What the conformance suite holds (arrays, scalars, messages, lists, None) as a value of the declared type."""
    if value is None:
        return None
    if kind.HasField("optional_type"):
        return normalise(value, kind.optional_type.elem_type)
    if kind.HasField("sequence_type"):
        return [normalise(item, kind.sequence_type.elem_type) for item in value]  # type: ignore[attr-defined]
    if isinstance(value, TensorProto):
        return tensor_to_array(value)
    dtype = DTYPE_OF_CODE[kind.tensor_type.elem_type]
    array = np.asarray(value)
    if dtype == object:
        return tensor_to_array(array_to_tensor(array.astype(object)))
    if array.dtype != dtype:
        raise ValueError(f"the graph declares {dtype}, the data is {array.dtype}")
    return array


def parse(data: bytes, kind: TypeProto) -> Value:
    """Reads the bytes of an input_N.pb or output_N.pb whose graph input or output has type `kind`."""
    if kind.HasField("optional_type"):
        message = OptionalProto.FromString(data)
        if message.elem_type == OptionalProto.SEQUENCE:
            return [tensor_to_array(item) for item in message.sequence_value.tensor_values]
        return tensor_to_array(message.tensor_value) if message.elem_type == OptionalProto.TENSOR else None
    if kind.HasField("sequence_type"):
        return [tensor_to_array(item) for item in SequenceProto.FromString(data).tensor_values]
    array = tensor_to_array(TensorProto.FromString(data))
    # Before bfloat16 had a NumPy type, releases wrote such data as the 16-bit integers of its bits.
    bits_only = kind.tensor_type.elem_type == TensorProto.BFLOAT16 and array.dtype == np.uint16
    return array.view(DTYPE_OF_CODE[TensorProto.BFLOAT16]) if bits_only else array


def message_of(value: Value, kind: TypeProto, name: str) -> Message:
    """The message that a test-data folder holds for a value of the declared type."""
    if kind.HasField("optional_type"):
        inner = kind.optional_type.elem_type
        message = OptionalProto(name=name)
        if value is None:
            message.elem_type = OptionalProto.UNDEFINED
        elif inner.HasField("sequence_type"):
            message.elem_type = OptionalProto.SEQUENCE
            message.sequence_value.CopyFrom(message_of(value, inner, name))
        else:
            message.elem_type = OptionalProto.TENSOR
            message.tensor_value.CopyFrom(message_of(value, inner, name))
        return message
    if kind.HasField("sequence_type"):
        sequence = SequenceProto(name=name, elem_type=SequenceProto.TENSOR)
        sequence.tensor_values.extend(array_to_tensor(item) for item in value or [])
        return sequence
    assert isinstance(value, np.ndarray), f"{name} is declared a tensor"
    return array_to_tensor(value, name)
