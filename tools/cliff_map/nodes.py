"""Small ONNX models in a few words: a Net collects nodes, constants and inputs, and knows what to feed."""

import dataclasses

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPES = {"u8": (TensorProto.UINT8, np.uint8), "s8": (TensorProto.INT8, np.int8), "f32": (TensorProto.FLOAT, np.float32),
         "f16": (TensorProto.FLOAT16, np.float16),
         "s32": (TensorProto.INT32, np.int32), "s64": (TensorProto.INT64, np.int64)}


@dataclasses.dataclass
class Case:
    """`group` is the row of the summary that it belongs to."""

    group: str
    name: str
    model: bytes
    feeds: dict[str, np.ndarray]


class Net:
    """Values are named by the methods that make them, which return the names."""

    def __init__(self, seed: int = 1, trained: bool = False):
        self.random = np.random.default_rng(seed)
        self.trained = trained  # weights of 8 bits are normally distributed, as trained ones nearly are
        self.nodes, self.constants, self.inputs, self.feeds = [], [], [], {}
        self.count = 0

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def values(self, kind: str, shape) -> np.ndarray:
        if kind in ("f32", "f16"):
            return self.random.normal(size=shape).astype(TYPES[kind][1])
        low, high = (0, 256) if kind == "u8" else (-128, 128)
        return self.random.integers(low, high, shape).astype(TYPES[kind][1])

    def input(self, kind: str, *shape: int) -> str:
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[kind][0], shape))
        self.feeds[name] = self.values(kind, shape)
        return name

    def late(self, kind: str, value) -> str:
        """A parameter that is known at run time only."""
        name = f"x{len(self.inputs)}"
        array = np.asarray(value, TYPES[kind][1])
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[kind][0], array.shape))
        self.feeds[name] = array
        return name

    def constant(self, kind: str, value) -> str:
        name = self.fresh("c")
        self.constants.append(numpy_helper.from_array(np.asarray(value, TYPES[kind][1]), name))
        return name

    def weights(self, kind: str, *shape: int) -> str:
        if self.trained and kind in ("s8", "u8"):
            w = self.random.normal(size=shape)
            return self.constant(kind, np.rint(w * (127 / np.abs(w).max())) + (128 if kind == "u8" else 0))
        scale = 0.1 if kind == "f32" else 1
        return self.constant(kind, self.values(kind, shape) * scale if kind == "f32" else self.values(kind, shape))

    def node(self, op: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes):
        names = [self.fresh(op.lower() + "_") for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def microsoft(self, op: str, *inputs: str, **attributes):
        return self.node(op, *inputs, domain="com.microsoft", **attributes)

    def quantize(self, x: str, scale: float = 0.05, zero: int = 128, kind: str = "u8") -> str:
        return self.node("QuantizeLinear", x, self.constant("f32", scale), self.constant(kind, zero))

    def dequantize(self, x: str, scale: float = 0.05, zero: int = 128, kind: str = "u8") -> str:
        return self.node("DequantizeLinear", x, self.constant("f32", scale), self.constant(kind, zero))

    def fake(self, x: str, scale: float = 0.05) -> str:
        return self.dequantize(self.quantize(x, scale), scale)

    def integer_weights(self, *shape: int, scale: float = 0.01) -> str:
        """A float value that is dequantized from int8 constants."""
        return self.node("DequantizeLinear", self.weights("s8", *shape), self.constant("f32", scale),
                         self.constant("s8", 0))

    def dynamic(self, x: str, w: str, w_scale: float = 0.01) -> str:
        """What quantize_dynamic makes of x times constant w."""
        q, scale, zero = self.node("DynamicQuantizeLinear", x, outputs=3)
        product = self.node("MatMulInteger", q, w, zero, self.constant("s8", 0))
        both = self.node("Mul", scale, self.constant("f32", w_scale))
        return self.node("Mul", self.node("Cast", product, to=TensorProto.FLOAT), both)

    def case(self, group: str, name: str, *outputs: str, opset: int = 17) -> Case:
        graph = helper.make_graph(self.nodes, "net", self.inputs,
                                  [helper.make_empty_tensor_value_info(one) for one in outputs], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset),
                                                        helper.make_opsetid("com.microsoft", 1)], ir_version=8)
        return Case(group, name, onnx.shape_inference.infer_shapes(model).SerializeToString(), self.feeds)
