"""ONNX's backend interface (onnx.backend.base), with which its test runner and other tools run networks:

    import etch_onnx.backend as backend
    outputs = backend.prepare(onnx.load("model.onnx")).run([array])

Sizes that the model leaves open are those of the arrays of a call; each set of sizes is compiled once. Models that Etch
refuses are BackendIsNotSupposedToImplementIt, which the test runner accepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep, namedtupledict
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from ._network import Network, compile, counted
from ._program import REFUSED, EtchError


def _inputs(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    constants = {tensor.name for tensor in model.graph.initializer}
    return [each for each in model.graph.input if each.name not in constants]


def _has_open_sizes(model: onnx.ModelProto) -> bool:
    return any(
        not each.type.tensor_type.HasField("shape")
        or any(not dim.HasField("dim_value") for dim in each.type.tensor_type.shape.dim)
        for each in _inputs(model)
    )


def _compile(model: onnx.ModelProto, **options: Any) -> Network:
    try:
        return compile(model, **options)
    except EtchError as error:
        if error.exit_code == REFUSED:
            raise BackendIsNotSupposedToImplementIt(str(error)) from error
        raise


class EtchRep(BackendRep):  # type: ignore[misc]
    """A model that is ready to run."""

    def __init__(self, model: onnx.ModelProto, **options: Any):
        self._model = model
        self._options = options
        self._names = [each.name for each in _inputs(model)]
        self._networks: dict[tuple[tuple[int, ...], ...], Network] = {}
        self._fixed = None if _has_open_sizes(model) else _compile(model, **options)

    def _network(self, arrays: Sequence[Any]) -> Network:
        if self._fixed is not None:
            return self._fixed
        shapes = tuple(array.shape for array in arrays)
        if shapes not in self._networks:
            fixed = {**self._options, "input_shape": dict(zip(self._names, shapes))}
            self._networks[shapes] = _compile(self._model, **fixed)
        return self._networks[shapes]

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs in the order of the model. `inputs`: arrays in the order of the model's inputs, or one array."""
        arrays = [np.asarray(each) for each in (inputs if isinstance(inputs, (list, tuple)) else [inputs])]
        names = [each.name for each in self._model.graph.output]
        outputs = counted(self._network(arrays).run(*arrays), names)
        return tuple(namedtupledict("Outputs", names)(*(outputs[name] for name in names)))


class EtchBackend(Backend):  # type: ignore[misc]
    """Compiles for this machine's CPU; options of prepare() are those of etch_onnx.compile()."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        try:
            cls.prepare(model, device, **kwargs)
        except BackendIsNotSupposedToImplementIt:
            return False
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> EtchRep:
        if not cls.supports_device(device):
            raise BackendIsNotSupposedToImplementIt(f"device {device}")
        return EtchRep(model, **kwargs)

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[Any, ...]:
        """A model of this node alone. `outputs_info` is not needed: Etch infers types and shapes; `opset_imports` as
        for onnx.helper.make_model."""
        opsets = kwargs.pop("opset_imports", None)
        names = [name for name in node.input if name]
        ports = [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in zip(names, map(np.asarray, inputs))
        ]
        results = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = onnx.helper.make_graph([node], "node", ports, results)
        model = onnx.helper.make_model(graph, **({"opset_imports": opsets} if opsets else {}))
        return cls.run_model(model, inputs, device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device.split(":")[0] == "CPU"


is_compatible = EtchBackend.is_compatible
prepare = EtchBackend.prepare
run_model = EtchBackend.run_model
run_node = EtchBackend.run_node
supports_device = EtchBackend.supports_device
