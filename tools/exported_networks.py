#!/usr/bin/env python3
"""Writes small networks of common kinds, quantized by ONNX Runtime's own tools, with test data.

Each architecture (a YOLO and an SSD head, DeepLab with dilations, a U-Net with transposed convolutions, a dilated 1-D
and a 3-D network, a transformer block, ShuffleNet, MobileNetV3, ...) has random weights; what matters is its
operators and the idioms of the quantizer around them. Every one is quantized in several ways: QDQ and QOperator, int8
and uint8, per channel and per tensor, dynamically. Writes FOLDER/NAME/model.onnx and test_data_set_0, for
tools/zoo-check; `disabled` holds the outputs without optimisations where they differ.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install onnx onnxruntime numpy sympy
    /tmp/v/bin/python tools/exported_networks.py build/exported
    tools/zoo-check build/exported
"""

import logging
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic,
                                      quantize_static)
from onnxruntime.quantization.shape_inference import quant_pre_process


class Net:
    """A float network in the making; tensors are names."""

    def __init__(self, shape, seed, opset=17):
        self.rng, self.shape, self.opset = np.random.default_rng(seed), shape, opset
        self.nodes, self.constants, self.channels = [], [], {"x": shape[1]}

    def const(self, value, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def op(self, kind, *inputs, outputs=1, channels=None, **attributes):
        names = [f"{kind.lower()}{len(self.nodes)}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, f"/{kind}_{len(self.nodes)}", **attributes))
        for name in names:
            self.channels[name] = channels or self.channels.get(inputs[0])
        return names[0] if outputs == 1 else names

    def conv(self, x, out, k=3, s=1, d=1, g=1, kind="Conv", bn=False, **extra):
        rank, inside = len(self.shape) - 2, self.channels[x]
        size = [out, inside // g] if kind == "Conv" else [inside, out // g]
        w = self.rng.normal(0, np.sqrt(2 / (size[1] * k**rank)), size + [k] * rank)
        inputs = [x, self.const(w)] + ([] if bn else [self.const(self.rng.normal(0, 0.1, out))])
        attributes = {"kernel_shape": [k] * rank, "strides": [s] * rank, "dilations": [d] * rank, "group": g,
                      "pads": [(k - 1) * d // 2] * 2 * rank}
        y = self.op(kind, *inputs, channels=out, **{**attributes, **extra})
        if not bn:
            return y
        parts = [self.rng.uniform(0.5, 1.5, out), self.rng.normal(0, 0.1, out), self.rng.normal(0, 0.1, out),
                 self.rng.uniform(0.5, 1.5, out)]
        return self.op("BatchNormalization", y, *[self.const(p) for p in parts])

    def relu(self, x):
        return self.op("Relu", x)

    def silu(self, x):
        return self.op("Mul", x, self.op("Sigmoid", x))

    def hard_swish(self, x):
        """As PyTorch exported it before opset 14."""
        inner = self.op("Clip", self.op("Add", x, self.const(3.0)), self.const(0.0), self.const(6.0))
        return self.op("Mul", x, self.op("Div", inner, self.const(6.0)))

    def linear(self, x, inside, out):
        return self.op("Gemm", x, self.const(self.rng.normal(0, inside**-0.5, [out, inside])),
                       self.const(self.rng.normal(0, 0.1, out)), transB=1)

    def ints(self, *values):
        return self.const(values, np.int64)

    def model(self, *outputs):
        graph = helper.make_graph(self.nodes, "net",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
                                  [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
                                  self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)


def yolo():
    """CSP blocks with SiLU, pooling pyramid, upsampling, and the decoding of boxes in float."""
    n = Net([1, 3, 48, 48], 1)
    x = n.silu(n.conv("x", 16, k=6, s=2, bn=True, pads=[2, 2, 2, 2]))
    x = a = n.silu(n.conv(x, 32, s=2, bn=True))
    left, right = n.silu(n.conv(x, 16, k=1)), n.silu(n.conv(x, 16, k=1))
    left = n.op("Add", left, n.silu(n.conv(n.silu(n.conv(left, 16, k=1)), 16)))
    x = n.silu(n.conv(n.op("Concat", left, right, axis=1, channels=32), 32, k=1))
    x = n.silu(n.conv(x, 32, s=2, bn=True))
    half = n.silu(n.conv(x, 16, k=1))
    pools = [half]
    for _ in range(3):
        pools.append(n.op("MaxPool", pools[-1], kernel_shape=[5, 5], pads=[2, 2, 2, 2], strides=[1, 1]))
    x = n.silu(n.conv(n.op("Concat", *pools, axis=1, channels=64), 32, k=1))
    up = n.op("Resize", x, "", n.const([1, 1, 2, 2]), mode="nearest", nearest_mode="floor",
              coordinate_transformation_mode="asymmetric")
    x = n.silu(n.conv(n.op("Concat", up, a, axis=1, channels=64), 32, k=3))
    x = n.conv(x, 3 * 7, k=1)
    x = n.op("Transpose", n.op("Reshape", x, n.ints(1, 3, 7, 12, 12)), perm=[0, 1, 3, 4, 2])
    xy, wh, scores = n.op("Split", n.op("Sigmoid", x), n.ints(2, 2, 3), outputs=3, axis=4)
    grid = np.stack(np.meshgrid(np.arange(12), np.arange(12)), -1)[None, None].astype(np.float32)
    xy = n.op("Mul", n.op("Add", n.op("Sub", n.op("Mul", xy, n.const(2.0)), n.const(0.5)), n.const(grid)), n.const(4.0))
    wh = n.op("Mul", n.op("Pow", n.op("Mul", wh, n.const(2.0)), n.const(2.0)), n.const(np.full([1, 3, 1, 1, 2], 10)))
    boxes = n.op("Concat", xy, wh, scores, axis=4)
    return n.model(n.op("Reshape", boxes, n.ints(1, -1, 7)))


def ssd():
    """Two scales of boxes and classes, concatenated, softmax over the classes."""
    n = Net([1, 3, 40, 40], 2)
    x = n.op("Clip", n.conv("x", 16, s=2), n.const(0.0), n.const(6.0))
    boxes, classes = [], []
    for out in (24, 48):
        x = n.op("Clip", n.conv(x, n.channels[x], s=2, g=n.channels[x]), n.const(0.0), n.const(6.0))
        x = n.op("Clip", n.conv(x, out, k=1), n.const(0.0), n.const(6.0))
        for results, per_anchor in ((boxes, 4), (classes, 5)):
            y = n.op("Transpose", n.conv(x, 3 * per_anchor), perm=[0, 2, 3, 1])
            results.append(n.op("Reshape", y, n.ints(1, -1, per_anchor)))
    return n.model(n.op("Concat", *boxes, axis=1), n.op("Softmax", n.op("Concat", *classes, axis=1), axis=2))


def deeplab():
    """Atrous pyramid with an image branch, bilinear upsampling, arg-max."""
    n = Net([1, 3, 33, 33], 3)
    x = n.relu(n.conv("x", 16, s=2, bn=True))
    x = n.relu(n.conv(x, 32, s=2))
    branches = [n.relu(n.conv(x, 16, k=1))]
    branches += [n.relu(n.conv(x, 16, d=d, pads=[d] * 4)) for d in (2, 4, 6)]
    image = n.relu(n.conv(n.op("GlobalAveragePool", x), 16, k=1))
    branches.append(n.op("Resize", image, "", "", n.ints(1, 16, 9, 9), mode="linear",
                         coordinate_transformation_mode="align_corners"))
    x = n.conv(n.relu(n.conv(n.op("Concat", *branches, axis=1, channels=80), 32, k=1)), 6, k=1)
    x = n.op("Resize", x, "", "", n.ints(1, 6, 33, 33), mode="linear", coordinate_transformation_mode="half_pixel")
    return n.model(x)


def unet():
    n = Net([1, 1, 24, 24], 4)
    a = n.relu(n.conv("x", 8, bn=True))
    b = n.relu(n.conv(n.op("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2]), 16))
    c = n.relu(n.conv(n.op("MaxPool", b, kernel_shape=[2, 2], strides=[2, 2]), 32))
    up = n.conv(c, 16, k=2, s=2, kind="ConvTranspose", pads=[0] * 4)
    x = n.relu(n.conv(n.op("Concat", up, b, axis=1, channels=32), 16))
    up = n.conv(x, 8, k=2, s=2, kind="ConvTranspose", pads=[0] * 4)
    x = n.relu(n.conv(n.op("Concat", up, a, axis=1, channels=16), 8))
    return n.model(n.op("Sigmoid", n.conv(x, 1, k=1)))


def temporal():
    """Dilated 1-D convolutions with residual sums."""
    n = Net([1, 8, 60], 5)
    x = n.conv("x", 16, k=1)
    for d in (1, 2, 4, 8):
        y = n.relu(n.conv(x, 16, k=3, d=d, pads=[2 * d, 0]))
        x = n.op("Add", x, n.conv(y, 16, k=1))
    x = n.op("ReduceMean", n.relu(x), axes=[2], keepdims=0)
    return n.model(n.op("LogSoftmax", n.linear(x, 16, 6), axis=1))


def volume():
    n = Net([1, 1, 8, 16, 16], 6)
    x = n.relu(n.conv("x", 8, s=2, bn=True))
    x = n.op("MaxPool", n.relu(n.conv(x, 16)), kernel_shape=[2, 2, 2], strides=[2, 2, 2])
    x = n.relu(n.conv(x, 16, g=16))
    x = n.op("Flatten", n.op("GlobalAveragePool", x), axis=1)
    return n.model(n.linear(x, 16, 4))


def transformer():
    """Patches, attention with batched products of activations, GELU by Erf, layer normalization by its parts."""
    n = Net([1, 3, 16, 16], 7)
    x = n.conv("x", 16, k=4, s=4, pads=[0] * 4)
    x = n.op("Transpose", n.op("Reshape", x, n.ints(1, 16, 16)), perm=[0, 2, 1])

    def norm(v):
        d = n.op("Sub", v, n.op("ReduceMean", v, axes=[-1]))
        variance = n.op("ReduceMean", n.op("Pow", d, n.const(2.0)), axes=[-1])
        return n.op("Add", n.op("Mul", n.op("Div", d, n.op("Sqrt", n.op("Add", variance, n.const(1e-5)))),
                                n.const(np.ones(16))), n.const(np.zeros(16)))

    def dense(v, inside, out):
        return n.op("Add", n.op("MatMul", v, n.const(n.rng.normal(0, inside**-0.5, [inside, out]))),
                    n.const(n.rng.normal(0, 0.1, out)))

    def heads(v, perm):
        return n.op("Transpose", n.op("Reshape", v, n.ints(1, 16, 2, 8)), perm=perm)

    y = norm(x)
    q, k, v = (heads(dense(y, 16, 16), p) for p in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    weights = n.op("Softmax", n.op("Div", n.op("MatMul", q, k), n.const(8**0.5)), axis=-1)
    y = n.op("Reshape", n.op("Transpose", n.op("MatMul", weights, v), perm=[0, 2, 1, 3]), n.ints(1, 16, 16))
    x = n.op("Add", x, dense(y, 16, 16))
    y = dense(norm(x), 16, 32)
    gelu = n.op("Mul", n.op("Mul", y, n.op("Add", n.op("Erf", n.op("Div", y, n.const(2**0.5))), n.const(1.0))),
                n.const(0.5))
    x = n.op("Add", x, dense(gelu, 32, 16))
    return n.model(n.linear(n.op("ReduceMean", x, axes=[1], keepdims=0), 16, 5))


def shufflenet():
    n = Net([1, 3, 24, 24], 8)
    x = n.relu(n.conv("x", 16, s=2, bn=True))
    for _ in range(2):
        a, b = n.op("Split", x, n.ints(8, 8), outputs=2, axis=1, channels=8)
        b = n.relu(n.conv(n.conv(n.relu(n.conv(b, 8, k=1)), 8, g=8), 8, k=1))
        x = n.op("Concat", a, b, axis=1, channels=16)
        x = n.op("Transpose", n.op("Reshape", x, n.ints(1, 2, 8, 12, 12)), perm=[0, 2, 1, 3, 4])
        x = n.op("Reshape", x, n.ints(1, 16, 12, 12), channels=16)
    return n.model(n.linear(n.op("ReduceMean", x, axes=[2, 3], keepdims=0), 16, 5))


def mobilenet_v3():
    n = Net([1, 3, 32, 32], 9)
    x = n.op("HardSwish", n.conv("x", 16, s=2, bn=True))
    for out, s in ((16, 1), (24, 2)):
        y = n.hard_swish(n.conv(x, 32, k=1))
        y = n.op("HardSwish", n.conv(y, 32, k=5, s=s, g=32))
        e = n.relu(n.conv(n.op("GlobalAveragePool", y), 8, k=1))
        y = n.op("Mul", y, n.op("HardSigmoid", n.conv(e, 32, k=1), alpha=1 / 6, beta=0.5))
        y = n.conv(y, out, k=1)
        x = n.op("Add", x, y) if n.channels[x] == out and s == 1 else y
    x = n.op("Flatten", n.op("AveragePool", x, kernel_shape=[8, 8]), axis=1)
    return n.model(n.linear(n.op("HardSwish", n.linear(x, 24, 32)), 32, 5))


def padded():
    """TensorFlow's style: explicit Pad before strided convolutions, PRelu, image gradients by Slice."""
    n = Net([1, 3, 25, 25], 10)
    x = n.op("Pad", "x", n.ints(0, 0, 0, 0, 0, 0, 1, 1), n.const(0.0), mode="constant")
    x = n.op("PRelu", n.conv(x, 12, s=2, pads=[0] * 4), n.const(n.rng.uniform(0, 0.3, [12, 1, 1])))
    x = n.op("Pad", x, n.ints(0, 0, 2, 2, 0, 0, 2, 2), mode="reflect")
    x = n.op("LeakyRelu", n.conv(x, 16, k=5, pads=[0] * 4), alpha=0.1)
    d = n.op("DepthToSpace", x, blocksize=2, channels=4)
    a = n.op("Slice", d, n.ints(1), n.ints(24), n.ints(2))
    b = n.op("Slice", d, n.ints(0), n.ints(23), n.ints(2))
    x = n.op("Tanh", n.op("Sub", a, b))
    return n.model(n.op("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]))


ARCHITECTURES = [yolo, ssd, deeplab, unet, temporal, volume, transformer, shufflenet, mobilenet_v3, padded]
FORMS = {
    "qdq_s8": {"quant_format": QuantFormat.QDQ, "per_channel": True, "activation_type": QuantType.QInt8},
    "qdq_u8": {"quant_format": QuantFormat.QDQ, "per_channel": False, "activation_type": QuantType.QUInt8},
    "qop_u8": {"quant_format": QuantFormat.QOperator, "per_channel": True, "activation_type": QuantType.QUInt8},
    "qop_s8": {"quant_format": QuantFormat.QOperator, "per_channel": False, "activation_type": QuantType.QInt8},
}


class Samples(CalibrationDataReader):
    def __init__(self, shape):
        rng = np.random.default_rng(99)
        self.all = [rng.normal(0, 1, shape).astype(np.float32) for _ in range(6)]
        self.remaining = iter(self.all)

    def get_next(self):
        sample = next(self.remaining, None)
        return None if sample is None else {"x": sample}


def run(path, sample, level, int8):
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    if int8:
        options.add_session_config_entry("session.qdqisint8allowed", "1")
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, {"x": sample})


def write(folder, arrays, role):
    folder.mkdir(parents=True, exist_ok=True)
    for i, array in enumerate(arrays):
        (folder / f"{role}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(array)).SerializeToString())


def record(model, sample):
    levels = ort.GraphOptimizationLevel
    golden = run(model, sample, levels.ORT_ENABLE_ALL, True)
    plain = run(model, sample, levels.ORT_DISABLE_ALL, False)
    data = model.parent / "test_data_set_0"
    write(data, [sample], "input")
    write(data, golden, "output")
    if any(not np.array_equal(a, b) for a, b in zip(golden, plain)):
        write(data / "disabled", plain, "output")


def main():
    logging.disable(logging.WARNING)
    root = pathlib.Path(sys.argv[1])
    for build in ARCHITECTURES:
        with tempfile.TemporaryDirectory() as temporary:
            source, prepared = pathlib.Path(temporary) / "float.onnx", pathlib.Path(temporary) / "prepared.onnx"
            float_model = build()
            onnx.save(float_model, source)
            quant_pre_process(source, prepared, skip_symbolic_shape=True)
            shape = [d.dim_value for d in float_model.graph.input[0].type.tensor_type.shape.dim]
            for form, settings in FORMS.items():
                model = root / f"{build.__name__}_{form}" / "model.onnx"
                model.parent.mkdir(parents=True, exist_ok=True)
                quantize_static(prepared, model, Samples(shape), weight_type=QuantType.QInt8, **settings)
                record(model, Samples(shape).all[0])
            model = root / f"{build.__name__}_dynamic" / "model.onnx"
            model.parent.mkdir(parents=True, exist_ok=True)
            quantize_dynamic(prepared, model, weight_type=QuantType.QUInt8, per_channel=False,
                             op_types_to_quantize=["Conv", "MatMul", "Gemm"])
            record(model, Samples(shape).all[0])
        print(build.__name__, flush=True)


if __name__ == "__main__":
    main()
