#!/usr/bin/env python3
"""Makes random quantized networks with the outputs of ONNX Runtime, for tests/recorded/random_graphs_test.cc.

Network number N follows from N alone (tools/random_networks.py) and is quantized by its ranges on random data, in one
of three forms: QDQ, QOperator (with the com.microsoft operators) or dynamic. Outputs are those of ONNX Runtime at the
level at which all int8 groups run as integers. Writes FOLDER/cases.tsv and cases.bin (tests/support/recorded_cases.h).

    python3 -m venv /tmp/v && /tmp/v/bin/pip install onnx onnxruntime numpy
    /tmp/v/bin/python tools/random_graphs.py tests/data/random_graphs 0-74 1017   (the committed ones: those of up to 19 kB)
    /tmp/v/bin/python tools/random_graphs.py --again tests/data/random_graphs

--again runs the recorded networks on the recorded inputs, replaces outputs of integers that are different now, and says
which.
"""

import pathlib
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import random_networks
from random_networks import KEEPS_RANGE, OPSET
from recorded_cases import case_blocks, read_blocks, tensor_of, write_cases

MS = "com.microsoft"
# The operator of com.microsoft that takes quantized tensors, and what its inputs are.
QLINEAR = {"Add": 2, "Mul": 2, "AveragePool": 1, "GlobalAveragePool": 1, "LeakyRelu": 1, "Sigmoid": 1}
INTEGER_READY = {"MaxPool", "Reshape", "Flatten", "Transpose", "Slice", "Split", "Resize"}


def session(model, level=ort.GraphOptimizationLevel.ORT_ENABLE_ALL):
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.add_session_config_entry("session.qdqisint8allowed", "1")
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


class Parameters:
    """Scale and zero point of one tensor."""

    def __init__(self, scale, zero_point):
        self.scale, self.zero_point = np.float32(scale), zero_point


def measured(rng, dtype, values):
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    if rng.random() < 0.2:
        low, high = low * 0.7, high * 0.7  # values outside are clipped
    info = np.iinfo(dtype)
    if dtype == np.int8 and rng.random() < 0.4:
        scale, zero = max(-low, high) / 127, 0
    else:
        scale = (high - low) / 255
        zero = info.min - low / scale if scale else 0
    scale = scale or 1.0
    if rng.random() < 0.15:
        scale = 2.0 ** np.ceil(np.log2(scale))
        zero = 0 if dtype == np.int8 else (128 if low < 0 else 0)
    return Parameters(scale, dtype(np.clip(round(zero), info.min, info.max)))


class Quantizer:
    """Writes `network` in one form. Names: t is float, t_q quantized."""

    def __init__(self, network, seed):
        self.net, self.rng = network, np.random.default_rng([seed, 1])
        self.dtype = self.pick([np.uint8, np.int8])
        self.nodes, self.constants, self.parameters = [], dict(network.constants), {}
        self.users = {}
        for node in network.nodes:
            for name in node.inputs:
                self.users.setdefault(name, []).append(node)
        self.sample = self.rng.normal(0, 1, network.input_shape).astype(np.float32)
        self.measure()

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def measure(self):
        names = [name for node in self.net.nodes for name in node.outputs]
        model = random_networks.float_model(self.net.nodes, {"x": self.sample.shape}, self.net.constants, names)
        values = session(model, ort.GraphOptimizationLevel.ORT_DISABLE_ALL).run(names, {"x": self.sample})
        self.parameters["x"] = measured(self.rng, self.dtype, self.sample)
        found = dict(zip(names, values))
        for node in self.net.nodes:
            for name in node.outputs:
                self.parameters[name] = measured(self.rng, self.dtype, found[name])
                if node.op in KEEPS_RANGE and self.rng.random() < 0.85:
                    self.parameters[name] = self.parameters[node.inputs[0]]

    # ---- pieces ----

    def node(self, op, inputs, outputs, domain="", **attributes):
        self.nodes.append(helper.make_node(op, inputs, outputs, domain=domain, **attributes))

    def keep(self, name, value):
        self.constants[name] = np.asarray(value)
        return name

    def scale_and_zero(self, tensor):
        p = self.parameters[tensor]
        return [self.keep(f"{tensor}_scale", p.scale), self.keep(f"{tensor}_zero", p.zero_point)]

    def quantize(self, tensor):
        self.node("QuantizeLinear", [tensor] + self.scale_and_zero(tensor), [f"{tensor}_q"])

    def dequantize(self, tensor, result):
        self.node("DequantizeLinear", [f"{tensor}_q"] + self.scale_and_zero(tensor), [result])

    def weights(self, name, axis):
        """Quantizes the constant `name`; gives the names of values, scale and zero point, and the scales."""
        w = self.net.constants[name]
        others = tuple(a for a in range(w.ndim) if a != axis)
        per_channel = self.rng.random() < 0.5
        top = np.abs(w).max(axis=others if per_channel else None)
        kind = np.uint8 if self.dtype == np.uint8 and self.rng.random() < 0.3 else np.int8
        scale = np.asarray(np.maximum(top, 1e-3) / (127 if kind == np.int8 else 110), np.float32)
        zero = np.zeros(scale.shape, kind) if kind == np.int8 else np.full(scale.shape, self.rng.integers(120, 136), kind)
        spread = scale.reshape([-1 if a == axis else 1 for a in range(w.ndim)]) if per_channel else scale
        info = np.iinfo(kind)
        q = np.clip(np.rint(w / spread) + (0 if kind == np.int8 else zero.flat[0]), info.min, info.max).astype(kind)
        return [self.keep(f"{name}_q", q), self.keep(f"{name}_scale", scale), self.keep(f"{name}_zero", zero)], scale

    def bias(self, name, x, scales):
        unit = np.float32(self.parameters[x].scale) * scales.astype(np.float32)
        values = np.clip(np.rint(self.net.constants[name] / unit), -2**30, 2**30).astype(np.int32)
        return self.keep(f"{name}_q", values), np.broadcast_to(unit, values.shape).astype(np.float32)

    def weight_axis(self, node):
        return {"Conv": 0, "Gemm": 0 if node.attributes.get("transB") else 1, "MatMul": 1}.get(node.op)

    def stays_float(self, node):
        """A product whose activation is quantized instead of the product itself."""
        users = self.users.get(node.outputs[0], [])
        return node.op in ("Conv", "Gemm") and len(users) == 1 and users[0].op in ("Relu", "Clip")

    def model(self, inputs, outputs, microsoft=False):
        used = {name for node in self.nodes for name in node.input}
        graph = helper.make_graph(
            self.nodes, "random", [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
                                   for n, v in inputs.items()],
            [onnx.ValueInfoProto(name=name) for name in outputs],
            [numpy_helper.from_array(v, n) for n, v in self.constants.items() if n in used])
        opsets = [helper.make_opsetid("", OPSET)] + ([helper.make_opsetid(MS, 1)] if microsoft else [])
        return helper.make_model(graph, opset_imports=opsets, ir_version=8), inputs

    # ---- the three forms ----

    def start(self):
        """Quantizes the input, or takes it quantized."""
        if self.rng.random() < 0.7:
            self.quantize("x")
            return {"x": self.sample}
        p = self.parameters["x"]
        info = np.iinfo(self.dtype)
        q = np.clip(np.rint(self.sample / p.scale) + p.zero_point, info.min, info.max).astype(self.dtype)
        return {"x_q": q}

    def finish(self):
        """Outputs are quantized or float."""
        outputs = []
        for name in self.net.outputs():
            outputs.append(f"{name}_q")
            if self.rng.random() < 0.5:
                self.dequantize(name, f"{name}_out")
                outputs[-1] = f"{name}_out"
        return outputs

    def qdq(self):
        inputs = self.start()
        self.dequantize("x", "x_f")
        for node in self.net.nodes:
            names = [f"{n}_f" if n in self.parameters else n for n in node.inputs]
            axis = self.weight_axis(node)
            if axis is not None:
                (q, scale, zero), scales = self.weights(node.inputs[1], axis)
                names[1] = f"{q}_f"
                extra = {"axis": axis} if scales.ndim else {}
                self.node("DequantizeLinear", [q, scale, zero], [names[1]], **extra)
                if len(names) > 2:
                    bias, unit = self.bias(node.inputs[2], node.inputs[0], scales)
                    names[2] = f"{bias}_f"
                    unit = unit if scales.ndim else unit.flat[0]
                    self.node("DequantizeLinear", [bias, self.keep(f"{bias}_scale", unit)], [names[2]],
                              **({"axis": 0} if scales.ndim else {}))
            plain = self.stays_float(node)
            raw = [f"{n}_f" if plain else n for n in node.outputs]
            self.node(node.op, names, raw, **node.attributes)
            for name in [] if plain else node.outputs:
                self.quantize(name)
                self.dequantize(name, f"{name}_f")
        return self.model(inputs, self.finish())

    def qoperator(self):
        inputs = self.start()
        for node in self.net.nodes:
            if not self.qlinear(node):
                self.float_between(node)
        return self.model(inputs, self.finish(), microsoft=True)

    def quantized(self, tensor):
        return [f"{tensor}_q"] + self.scale_and_zero(tensor)

    def qlinear(self, node):
        out, x = node.outputs[0], node.inputs[0]
        axis = self.weight_axis(node)
        if axis is not None:
            w, scales = self.weights(node.inputs[1], axis)
            bias = [self.bias(node.inputs[2], x, scales)[0]] if len(node.inputs) > 2 else []
            ends = self.scale_and_zero(out)
            if node.op == "Gemm":
                self.node("QGemm", self.quantized(x) + w + bias + ends, [f"{out}_q"], MS, **node.attributes)
            else:
                self.node("QLinear" + node.op, self.quantized(x) + w + ends + bias, [f"{out}_q"], **node.attributes)
        elif node.op in QLINEAR:
            operands = sum((self.quantized(n) for n in node.inputs), [])
            self.node("QLinear" + node.op, operands + self.scale_and_zero(out), [f"{out}_q"], MS, **node.attributes)
        elif node.op == "Concat":
            operands = self.scale_and_zero(out) + sum((self.quantized(n) for n in node.inputs), [])
            self.node("QLinearConcat", operands, [f"{out}_q"], MS, **node.attributes)
        elif node.op == "Softmax":
            self.node("QLinearSoftmax", self.quantized(x) + self.scale_and_zero(out), [f"{out}_q"], MS, opset=OPSET,
                      **node.attributes)
        elif node.op in INTEGER_READY and all(self.same(x, name) for name in node.outputs):
            self.node(node.op, [f"{x}_q"] + node.inputs[1:], [f"{n}_q" for n in node.outputs], **node.attributes)
        else:
            return False
        return True

    def same(self, a, b):
        p, q = self.parameters[a], self.parameters[b]
        return p.scale == q.scale and p.zero_point == q.zero_point

    def float_between(self, node):
        names = []
        for name in node.inputs:
            names.append(f"{name}_f{len(self.nodes)}" if name in self.parameters else name)
            if name in self.parameters:
                self.dequantize(name, names[-1])
        self.node(node.op, names, node.outputs, **node.attributes)
        for name in node.outputs:
            self.quantize(name)

    def dynamic(self):
        for node in self.net.nodes:
            if node.op not in ("Conv", "MatMul"):
                self.node(node.op, node.inputs, node.outputs, **node.attributes)
                continue
            x, out = node.inputs[0], node.outputs[0]
            (q, scale, zero), scales = self.weights(node.inputs[1], self.weight_axis(node))
            if scales.ndim:  # per channel: along the axis of the channels, and one zero point for all
                shape = [-1] + [1] * self.net.rank if node.op == "Conv" else [-1]
                self.keep(scale, scales.reshape(shape))
                self.keep(zero, self.constants[zero].flat[0])
            at = f"{x}_{len(self.nodes)}"
            self.node("DynamicQuantizeLinear", [x], [f"{at}_q", f"{at}_scale", f"{at}_zero"])
            self.node(f"{node.op}Integer", [f"{at}_q", q, f"{at}_zero", zero], [f"{out}_i"], **node.attributes)
            self.node("Cast", [f"{out}_i"], [f"{out}_c"], to=TensorProto.FLOAT)
            self.node("Mul", [f"{at}_scale", scale], [f"{out}_s"])
            self.node("Mul", [f"{out}_c", f"{out}_s"], [f"{out}_m" if len(node.inputs) > 2 else out])
            if len(node.inputs) > 2:
                bias = self.net.constants[node.inputs[2]].reshape([-1] + [1] * self.net.rank)
                self.node("Add", [f"{out}_m", self.keep(f"{out}_b", bias)], [out])
        return self.model({"x": self.sample}, self.net.outputs())


def make_case(seed):
    """Name, model, inputs and the outputs of ONNX Runtime."""
    form = ["qdq", "qoperator", "qdq", "dynamic", "qoperator"][seed % 5]
    network = random_networks.make_network(seed, plain=form == "dynamic")
    model, inputs = getattr(Quantizer(network, seed), form)()
    level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL if form == "dynamic" else ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    outputs = session(model, level).run(None, inputs)
    return f"{form}_{seed}", model, list(inputs.values()), outputs


def run_again(folder):
    """Outputs of floats stay: they depend on the order of sums, which ONNX Runtime chooses by processor."""
    lines = (folder / "cases.tsv").read_text(encoding="utf-8").splitlines()
    blocks, at = read_blocks(folder / "cases.bin"), 0
    for number, line in enumerate(lines):
        if line.startswith("#"):
            continue
        name, counts = line.split("\t")[:2]
        inputs, outputs = map(int, counts.split(":"))
        level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL if name.startswith("dynamic") else ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        network = session(onnx.load_from_string(blocks[at]), level)
        feeds = [tensor_of(block) for block in blocks[at + 1:at + 1 + inputs]]
        values = network.run(None, dict(zip([port.name for port in network.get_inputs()], feeds)))
        for k, value in enumerate(values, at + 1 + inputs):
            tensor = onnx.TensorProto.FromString(blocks[k])
            if value.dtype.kind in "iu" and not np.array_equal(value, numpy_helper.to_array(tensor)):
                blocks[k] = numpy_helper.from_array(value, tensor.name).SerializeToString()
                lines[number] = f"# the next one: ONNX Runtime {ort.__version__}\n{line}"
                print(f"{name}: other outputs")
        at += 1 + inputs + outputs
    write_cases(folder, lines, blocks)


def main():
    if sys.argv[1:2] == ["--again"]:
        run_again(pathlib.Path(sys.argv[2]))
        return
    folder = pathlib.Path(sys.argv[1])
    seeds = []
    for numbers in sys.argv[2:]:
        first, _, last = numbers.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    lines = [f"# ONNX Runtime {ort.__version__}; name, inputs:outputs, source, deviation"]
    blocks = []
    for seed in seeds:
        name, model, inputs, outputs = make_case(seed)
        lines.append(f"{name}\t{len(inputs)}:{len(outputs)}\titself\t")
        blocks += case_blocks(model, inputs + outputs)
    write_cases(folder, lines, blocks)
    print(f"{len(seeds)} networks in {folder}, {sum(map(len, blocks))} bytes")


if __name__ == "__main__":
    main()
