"""Writes a calibrated network (networks.py) as ONNX: QOperator, and QDQ."""

import numpy as np
from models import Builder
from networks import Calibrated, Node
from onnx import ModelProto, TensorProto

MICROSOFT = {"domain": "com.microsoft"}


class Writer:
    def __init__(self, calibrated: Calibrated):
        self.calibrated, self.net = calibrated, calibrated.net
        self.builder = Builder()
        for name, (scale, zero) in calibrated.tensors.items():
            self.builder.constant(name + "_scale", scale)
            self.builder.constant(name + "_zero", zero)
        for name, (weights, scales, bias) in calibrated.weights.items():
            for part, value in (("w", weights), ("ws", scales), ("wz", np.zeros(len(scales), np.int8)), ("b", bias)):
                self.builder.constant(f"{name}_{part}", value)

    def scales(self, name: str) -> list[str]:
        return [name + "_scale", name + "_zero"]

    def with_scales(self, name: str) -> list[str]:
        return [name, *self.scales(name)]

    def finish(self) -> ModelProto:
        last = self.net.nodes[-1]
        return self.builder.model(self.net.name, [("x", TensorProto.UINT8, [1, *self.net.image])],
                                  [(last.output, TensorProto.UINT8, [1, self.net.channels[last.output]])])


class OperatorWriter(Writer):
    def model(self) -> ModelProto:
        for node in self.net.nodes:
            getattr(self, node.kind)(node)
        return self.finish()

    def weights(self, node: Node) -> list[str]:
        return [f"{node.output}_{part}" for part in ("w", "ws", "wz")]

    def Conv(self, node: Node) -> None:
        inputs = [*self.with_scales(node.inputs[0]), *self.weights(node), *self.scales(node.output), node.output + "_b"]
        self.builder.node("QLinearConv", inputs, node.output, **node.attributes)

    def Add(self, node: Node) -> None:
        inputs = [*self.with_scales(node.inputs[0]), *self.with_scales(node.inputs[1]), *self.scales(node.output)]
        self.builder.node("QLinearAdd", inputs, node.output, **MICROSOFT)

    def MaxPool(self, node: Node) -> None:
        self.builder.node("MaxPool", node.inputs, node.output, **node.attributes)

    def Mean(self, node: Node) -> None:
        inputs = [*self.with_scales(node.inputs[0]), *self.scales(node.output)]
        mean = self.builder.node("QLinearGlobalAveragePool", inputs, node.output + "_4d", channels_last=0, **MICROSOFT)
        self.builder.node("Flatten", [mean], node.output)

    def Gemm(self, node: Node) -> None:
        inputs = [*self.with_scales(node.inputs[0]), *self.weights(node), node.output + "_b", *self.scales(node.output)]
        self.builder.node("QGemm", inputs, node.output, transB=1, **MICROSOFT)


class QdqWriter(Writer):
    def __init__(self, calibrated: Calibrated, quantize_input_again: bool = False):
        super().__init__(calibrated)
        self.quantize_input_again = quantize_input_again

    def model(self) -> ModelProto:
        first = "x"
        if self.quantize_input_again:  # OpenVINO runs on integers only after a quantization
            real = self.builder.node("DequantizeLinear", self.with_scales("x"), "x_first")
            first = self.builder.node("QuantizeLinear", [real, *self.scales("x")], "x_again")
        self.builder.node("DequantizeLinear", [first, *self.scales("x")], "x_real")
        for node in self.net.nodes:
            self.write(node)
        return self.finish()

    def write(self, node: Node) -> None:
        inputs = [name + "_real" for name in node.inputs]
        raw = node.output + "_raw"
        if node.kind in ("Conv", "Gemm"):
            inputs += self.parameters(node)
        kind = "GlobalAveragePool" if node.kind == "Mean" else node.kind
        attributes = {"transB": 1} if node.kind == "Gemm" else node.attributes
        self.builder.node(kind, inputs, raw, **attributes)
        if node.relu:
            raw = self.builder.node("Relu", [raw], node.output + "_relu")
        if node.kind == "Mean":
            raw = self.builder.node("QuantizeLinear", [raw, *self.scales(node.output)], node.output + "_4d")
            raw = self.builder.node("DequantizeLinear", [raw, *self.scales(node.output)], node.output + "_4d_real")
            raw = self.builder.node("Flatten", [raw], node.output + "_flat")
        self.builder.node("QuantizeLinear", [raw, *self.scales(node.output)], node.output)
        if node is not self.net.nodes[-1]:
            self.builder.node("DequantizeLinear", self.with_scales(node.output), node.output + "_real")

    def parameters(self, node: Node) -> list[str]:
        _, scales, _ = self.calibrated.weights[node.output]
        bias_scales = self.calibrated.tensors[node.inputs[0]][0] * scales
        self.builder.constant(node.output + "_bs", bias_scales)
        weights = [f"{node.output}_{part}" for part in ("w", "ws", "wz")]
        self.builder.node("DequantizeLinear", weights, node.output + "_w_real", axis=0)
        bias = [node.output + "_b", node.output + "_bs"]
        self.builder.node("DequantizeLinear", bias, node.output + "_b_real", axis=0)
        return [node.output + "_w_real", node.output + "_b_real"]
