"""ONNX Runtime as the reference: sessions, ports of models, models with their weights inside."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._program import EtchError, Model, Path, extra

if TYPE_CHECKING:
    import onnx
    import onnxruntime

_MOST_BYTES = 2**31 - 1  # of a protobuf file


def packages() -> tuple[Any, Any]:
    """onnx and onnxruntime; EtchError that says how to install them."""
    try:
        import onnx
        import onnxruntime
    except ImportError as error:
        raise extra("onnxruntime", error) from error
    return onnx, onnxruntime


def load(model: Model) -> onnx.ModelProto:
    """The model with its weights inside: exporters, PyTorch's among them, put them into a file beside it
    (NAME.onnx.data), which neither shape inference nor the quantizer looks for from another folder."""
    onnx, _ = packages()
    if not isinstance(model, (str, os.PathLike)):
        return model
    from google.protobuf.message import DecodeError

    try:
        loaded: Any = onnx.load(os.fspath(model))
    except DecodeError as error:
        raise EtchError(f"{model}: no ONNX model: {error}", 3) from error
    except OSError as error:
        raise EtchError(f"{model}: {error.strerror or error}", 3) from error
    except onnx.checker.ValidationError as error:
        raise EtchError(f"{model}: its weights are in other files, which must be beside it: {error}", 3) from error
    if loaded.ByteSize() > _MOST_BYTES:
        raise EtchError(f"{model}: networks of 2 GiB and more do not fit one ONNX file", 2)
    return loaded 


def inputs(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    """The inputs that are no initializers."""
    constants = {tensor.name for tensor in model.graph.initializer}
    return [port for port in model.graph.input if port.name not in constants]


def shapes(
    model: onnx.ModelProto, dim: Mapping[str, Any] | None = None, input_shape: Mapping[str, Sequence[int]] | None = None
) -> dict[str, tuple[int | None, ...]]:
    """Of the inputs, with what `dim` and `input_shape` say of open sizes; None for those that stay open."""

    def size(port: str, axis: int, each: onnx.TensorShapeProto.Dimension) -> int | None:
        if each.HasField("dim_value") and each.dim_value >= 0:
            return int(each.dim_value)
        given = (input_shape or {}).get(port, ())
        known = given[axis] if axis < len(given) else (dim or {}).get(each.dim_param)
        return known if isinstance(known, int) else None

    return {
        port.name: tuple(size(port.name, axis, each) for axis, each in enumerate(port.type.tensor_type.shape.dim))
        for port in inputs(model)
    }


def types(model: onnx.ModelProto) -> dict[str, np.dtype[Any]]:
    """Of the elements of the inputs that are tensors."""
    onnx, _ = packages()
    return {
        port.name: np.dtype(onnx.helper.tensor_dtype_to_np_dtype(port.type.tensor_type.elem_type))
        for port in inputs(model)
        if port.type.tensor_type.elem_type
    }


def session(model: Path | onnx.ModelProto) -> onnxruntime.InferenceSession:
    """Runs every quantized group in integers, which is what Etch computes; floats as they are."""
    _, ort = packages()
    settings = ort.SessionOptions()
    settings.add_session_config_entry("session.qdqisint8allowed", "1")
    settings.log_severity_level = 3
    source = str(pathlib.Path(model)) if isinstance(model, (str, os.PathLike)) else model.SerializeToString()
    try:
        return ort.InferenceSession(source, settings, providers=["CPUExecutionProvider"])
    except Exception as error:  # its classes have no common base of their own
        raise EtchError(f"ONNX Runtime refuses the model: {error}", 2) from error


def run(with_session: onnxruntime.InferenceSession, sample: dict[str, Any]) -> dict[str, Any]:
    """The outputs by name."""
    names = [port.name for port in with_session.get_outputs()]
    try:
        return dict(zip(names, with_session.run(None, sample)))
    except Exception as error:
        raise EtchError(f"ONNX Runtime cannot run the model on this input: {error}", 3) from error
