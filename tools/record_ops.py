#!/usr/bin/env python3
"""Records small quantized operators as ONNX Runtime computes them, for tests/recorded/recorded_ops_test.cc.

Writes tests/data/ops/CASE/{model.onnx, test_data_set_0/*.pb}: seeded random shapes, types, scales
and attributes. The recorded files are committed; run this only to change the set, and look at what
changes. Only cases that every x86 machine with AVX512-VNNI or ARM computes alike are recorded: on
x86 without VNNI ONNX Runtime saturates u8 x s8 products, so weights stay within 7 bits there.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install onnx onnxruntime numpy
    /tmp/v/bin/python tools/record_ops.py
"""

import pathlib
import shutil
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "ops"
TYPES = {"u": np.uint8, "s": np.int8}


class Case:
    """One node with its inputs; the first `runtime` inputs are graph inputs, the rest constants."""

    def __init__(self, op, inputs, runtime=1, opset=13, domain="", outputs=1, **attributes):
        self.inputs = inputs
        names = ["" if x is None else f"i{k}" for k, x in enumerate(inputs)]
        nodes = [
            helper.make_node(
                op, names, [f"o{k}" for k in range(outputs)], domain=domain, **attributes)
        ]
        graph_inputs, constants = [], []
        for k, value in enumerate(inputs):
            if value is None:
                continue
            if k < runtime:
                kind = helper.np_dtype_to_tensor_dtype(value.dtype)
                graph_inputs.append(helper.make_tensor_value_info(names[k], kind, value.shape))
            else:
                constants.append(numpy_helper.from_array(value, names[k]))
        out = [onnx.ValueInfoProto(name=f"o{k}") for k in range(outputs)]
        graph = helper.make_graph(nodes, "g", graph_inputs, out, constants)
        opsets = [helper.make_opsetid("", opset)]
        if domain:
            opsets.append(helper.make_opsetid(domain, 1))
        self.model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        self.feeds = {names[k]: x for k, x in enumerate(inputs) if k < runtime and x is not None}

    def dequantized(self):
        """Appends a DequantizeLinear of scale 1: Python cannot hold a 4-bit result itself."""
        node = helper.make_node("DequantizeLinear", ["o0", "one"], ["y"])
        self.model.graph.node.append(node)
        self.model.graph.initializer.append(numpy_helper.from_array(np.float32(1), "one"))
        self.model.graph.output[0].name = "y"
        return self

    def write(self, name):
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        session = ort.InferenceSession(
            self.model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        results = session.run(None, self.feeds)
        folder = FOLDER / name / "test_data_set_0"
        folder.mkdir(parents=True)
        onnx.save(self.model, folder.parent / "model.onnx")
        for role, tensors in (("input", self.feeds.values()), ("output", results)):
            for k, value in enumerate(tensors):
                proto = numpy_helper.from_array(np.asarray(value))
                (folder / f"{role}_{k}.pb").write_bytes(proto.SerializeToString())


def integers(rng, kind, shape, bits=8):
    info = np.iinfo(TYPES[kind])
    if bits < 8:
        return rng.integers(-63, 64, shape).astype(np.int8) if kind == "s" else rng.integers(
            info.min, info.max + 1, shape).astype(np.uint8)
    return rng.integers(info.min, info.max + 1, shape).astype(TYPES[kind])


def scale(rng, low=0.001, high=0.1, shape=()):
    return np.exp(rng.uniform(np.log(low), np.log(high), shape)).astype(np.float32)


def weights(rng, x_kind, kind, shape):
    """s8 weights beside u8 data keep to 7 bits, see above."""
    return integers(rng, kind, shape, bits=7 if x_kind + kind == "us" else 8)


def output_scale(rng, depth, x_scale, w_scale):
    """A scale that spreads sums of `depth` random products over a few hundred steps."""
    spread = 73.0 * 50.0 * np.sqrt(depth) * float(x_scale) * float(np.mean(w_scale))
    return np.float32(spread / rng.uniform(30, 90))


def conv_attributes(rng, rank):
    attributes = {"strides": rng.integers(1, 3, rank).tolist()}
    mode = rng.integers(0, 4)
    if mode == 0:
        attributes["dilations"] = rng.integers(1, 3, rank).tolist()
        attributes["pads"] = rng.integers(0, 3, 2 * rank).tolist()
    elif mode == 1:
        attributes["pads"] = rng.integers(0, 2, 2 * rank).tolist()
    else:
        attributes["auto_pad"] = "SAME_UPPER" if mode == 2 else "SAME_LOWER"
    return attributes


def conv_operands(rng, rank, x_kind, w_kind):
    group = int(rng.choice([1, 1, 2, 3]))
    in_per_group, out_per_group = (int(v) for v in rng.integers(1, 5, 2))
    size = rng.integers(5, 9 if rank < 3 else 7, rank)
    kernel = rng.integers(1, 4 if rank < 3 else 3, rank)
    x = integers(rng, x_kind, (int(rng.integers(1, 3)), group * in_per_group, *size))
    w = weights(rng, x_kind, w_kind, (group * out_per_group, in_per_group, *kernel))
    return group, x, w


def qlinear_conv(rng, rank, x_kind, w_kind, microsoft=False):
    group, x, w = conv_operands(rng, rank, x_kind, w_kind)
    channels = w.shape[0]
    per_channel = rng.integers(0, 2) == 1
    x_scale = scale(rng)
    w_scale = scale(rng, shape=(channels,) if per_channel else ())
    w_zero = integers(rng, w_kind, (channels,) if per_channel else ())
    if x_kind + w_kind != "uu":
        w_zero = np.zeros_like(w_zero)
    y_scale = output_scale(rng, w[0].size, x_scale, w_scale)
    bias = rng.integers(-5000, 5000, channels).astype(np.int32) if rng.integers(0, 2) else None
    attributes = conv_attributes(rng, rank)
    if microsoft:
        x = np.ascontiguousarray(np.moveaxis(x, 1, -1))
        attributes["channels_last"] = 1
    inputs = [x, x_scale, integers(rng, x_kind, ()), w, w_scale, w_zero, y_scale,
              integers(rng, x_kind, ())]
    if bias is not None:
        inputs.append(bias)
    return Case("QLinearConv", inputs, opset=10, domain="com.microsoft" if microsoft else "",
                group=group, **attributes)


def conv_integer(rng, rank, x_kind, w_kind):
    group, x, w = conv_operands(rng, rank, x_kind, w_kind)
    if x_kind + w_kind == "su":  # ORT swaps the operands, so here x is what has to stay small
        x = integers(rng, x_kind, x.shape, bits=7)
    inputs = [x, w]
    if rng.integers(0, 3) > 0:
        inputs += [integers(rng, x_kind, ()), integers(rng, w_kind, ())]
    return Case("ConvInteger", inputs, opset=10, group=group, **conv_attributes(rng, rank))


def qlinear_matmul(rng, a_kind, b_kind, batched):
    m, k, n = (int(v) for v in rng.integers(1, 12, 3))
    a = integers(rng, a_kind, (2, m, k) if batched else (m, k))
    b = weights(rng, a_kind, b_kind, (2, k, n) if batched else (k, n))
    column = (n,) if not batched and rng.integers(0, 2) else ()
    a_scale, b_scale = scale(rng), scale(rng, shape=column)
    inputs = [a, a_scale, integers(rng, a_kind, ()), b, b_scale, integers(rng, b_kind, column),
              output_scale(rng, k, a_scale, b_scale), integers(rng, a_kind, ())]
    return Case("QLinearMatMul", inputs)


def matmul_integer(rng, a_kind, b_kind):
    m, k, n = (int(v) for v in rng.integers(1, 12, 3))
    inputs = [integers(rng, a_kind, (3, m, k)), weights(rng, a_kind, b_kind, (k, n)),
              integers(rng, a_kind, ()), integers(rng, b_kind, (n,) if rng.integers(0, 2) else ())]
    return Case("MatMulInteger", inputs)


def qgemm(rng, a_kind, b_kind, quantized):
    m, k, n = (int(v) for v in rng.integers(1, 12, 3))
    trans_a, trans_b = (int(v) for v in rng.integers(0, 2, 2))
    column = (n,) if rng.integers(0, 2) else ()
    a_scale, b_scale = scale(rng), scale(rng, shape=column)
    inputs = [
        integers(rng, a_kind, (k, m) if trans_a else (m, k)), a_scale, integers(rng, a_kind, ()),
        weights(rng, a_kind, b_kind, (n, k) if trans_b else (k, n)), b_scale,
        integers(rng, b_kind, column),
        rng.integers(-5000, 5000, n).astype(np.int32) if rng.integers(0, 2) else None
    ]
    if quantized:
        inputs += [output_scale(rng, k, a_scale, b_scale), integers(rng, a_kind, ())]
    alpha = float(np.float32(rng.choice([1.0, 1.0, 0.3])))
    return Case("QGemm", inputs, domain="com.microsoft", transA=trans_a, transB=trans_b,
                alpha=alpha)


def float_data(rng, shape, step, special=True):
    """Values around multiples of half a step, so that ties occur; on request the special ones."""
    x = (rng.integers(-600, 600, shape) * np.float32(0.5)).astype(np.float32) * np.float32(step)
    x += (rng.random(shape) < 0.5) * rng.normal(0, step, shape)
    x = x.astype(np.float32)
    if special:
        x.reshape(-1)[:4] = [np.inf, -np.inf, np.nan, -0.0]
    return x


def quantize(rng, dtype, axis=None, block=None):
    shape = (3, 8, 5)
    attributes = {}
    parameters = ()
    if axis is not None:
        attributes["axis"] = axis
        parameters = (shape[axis],)
    if block is not None:
        attributes["block_size"] = block
        parameters = tuple(-(-d // block) if k == axis else d for k, d in enumerate(shape))
    y_scale = scale(rng, shape=parameters)
    if isinstance(dtype, int):  # an ONNX type number: output type without a zero point
        attributes["output_dtype"] = dtype
        return Case("QuantizeLinear", [float_data(rng, shape, np.mean(y_scale)), y_scale],
                    opset=21, **attributes)
    info = np.iinfo(dtype)
    zero = rng.integers(info.min, info.max + 1, parameters).astype(dtype)
    # Beside blocks ONNX Runtime converts infinities to int32 in an undefined way: none there.
    data = float_data(rng, shape, np.mean(y_scale), special=block is None)
    inputs = [data, y_scale, zero]
    return Case("QuantizeLinear", inputs, opset=21, **attributes)


def dequantize(rng, dtype, axis=None, block=None):
    shape = (3, 8, 5)
    attributes = {}
    parameters = ()
    if axis is not None:
        attributes["axis"] = axis
        parameters = (shape[axis],)
    if block is not None:
        attributes["block_size"] = block
        parameters = tuple(-(-d // block) if k == axis else d for k, d in enumerate(shape))
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max + 1, shape).astype(dtype)
    zero = rng.integers(info.min, info.max + 1, parameters).astype(dtype)
    if dtype == np.int32:
        zero = np.zeros_like(zero)
    return Case("DequantizeLinear", [x, scale(rng, shape=parameters), zero], opset=21,
                **attributes)


def record_convolutions(rng):
    mixes = ["uu", "us", "ss"]
    for rank in (1, 2, 3):
        for mix in mixes:
            for k in range(2 if rank == 2 else 1):
                qlinear_conv(rng, rank, *mix).write(f"qlinear_conv_{rank}d_{mix}_{k}")
    for mix in mixes:
        qlinear_conv(rng, 2, *mix, microsoft=True).write(f"qlinear_conv_channels_last_{mix}")
    for mix in ("uu", "us", "su", "ss"):
        for rank in (1, 2):
            conv_integer(rng, rank, *mix).write(f"conv_integer_{rank}d_{mix}")


def record_matrices(rng):
    for mix in ("uu", "us", "ss"):
        qlinear_matmul(rng, *mix, batched=False).write(f"qlinear_matmul_{mix}")
        qgemm(rng, *mix, quantized=True).write(f"qgemm_{mix}")
    qlinear_matmul(rng, "u", "u", batched=True).write("qlinear_matmul_batched_uu")
    qgemm(rng, "u", "s", quantized=False).write("qgemm_float_us")
    qgemm(rng, "s", "s", quantized=False).write("qgemm_float_ss")
    for mix in ("uu", "us", "su", "ss"):
        matmul_integer(rng, *mix).write(f"matmul_integer_{mix}")


def record_quantizers(rng):
    for dtype in (np.uint8, np.int8, np.uint16, np.int16):
        name = np.dtype(dtype).name
        quantize(rng, dtype).write(f"quantize_{name}")
        quantize(rng, dtype, axis=1).write(f"quantize_axis_{name}")
        dequantize(rng, dtype).write(f"dequantize_{name}")
        dequantize(rng, dtype, axis=2).write(f"dequantize_axis_{name}")
    quantize(rng, np.int8, axis=1, block=3).write("quantize_block_int8")
    dequantize(rng, np.uint8, axis=1, block=4).write("dequantize_block_uint8")
    dequantize(rng, np.int32).write("dequantize_int32")
    quantize(rng, int(TensorProto.UINT4)).dequantized().write("quantize_uint4")
    quantize(rng, int(TensorProto.INT4), axis=1).dequantized().write("quantize_axis_int4")
    for k in range(3):
        x = (rng.normal(rng.uniform(-2, 2), 1, (4, 7)) * 10**k).astype(np.float32)
        Case("DynamicQuantizeLinear", [x], outputs=3).write(f"dynamic_quantize_{k}")


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    rng = np.random.default_rng(20240611)
    record_convolutions(rng)
    record_matrices(rng)
    record_quantizers(rng)
    cases = sorted(FOLDER.iterdir())
    total = sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file())
    print(f"{len(cases)} cases, {total} bytes, onnxruntime {ort.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
