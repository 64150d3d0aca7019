#!/usr/bin/env python3
"""Records operators on floats as ONNX Runtime computes them, for tests/recorded/recorded_float_test.cc.

Writes tests/data/float/cases.{tsv,bin} (the form is in tests/support/recorded_cases.h): seeded random
shapes and attributes. Float sums are compared within 1e-5, because ONNX Runtime adds in another
order; integer results exactly. The files are committed; run this only to change the set.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install onnx onnxruntime numpy
    /tmp/v/bin/python tools/record_float.py
"""

import pathlib
import struct
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "float"


class Recording:
    def __init__(self):
        self.rng = np.random.default_rng(20261121)
        self.lines, self.blocks = [], []

    def floats(self, *shape):
        return self.rng.normal(0, 1, shape).astype(np.float32)

    def size(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def add(self, name, op, inputs, runtime=1, opset=17, domain="", **attributes):
        """One node; the first `runtime` inputs are graph inputs, the rest constants."""
        names = ["" if x is None else f"i{k}" for k, x in enumerate(inputs)]
        node = helper.make_node(op, names, ["y"], domain=domain, **attributes)
        given = [k for k, x in enumerate(inputs) if x is not None and k < runtime]
        kinds = [helper.np_dtype_to_tensor_dtype(inputs[k].dtype) for k in given]
        graph = helper.make_graph(
            [node], "g",
            [helper.make_tensor_value_info(names[k], t, inputs[k].shape)
             for k, t in zip(given, kinds)],
            [onnx.ValueInfoProto(name="y")],
            [numpy_helper.from_array(x, names[k]) for k, x in enumerate(inputs)
             if x is not None and k >= runtime])
        opsets = [helper.make_opsetid("", opset)]
        if domain:
            opsets.append(helper.make_opsetid(domain, 1))
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        session = ort.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        result = session.run(None, {names[k]: inputs[k] for k in given})[0]
        tensors = [inputs[k] for k in given] + [np.asarray(result)]
        self.lines.append(f"{name}\t{len(given)}\titself\t")
        self.blocks.append(model.SerializeToString())
        self.blocks += [numpy_helper.from_array(x).SerializeToString() for x in tensors]

    def write(self):
        FOLDER.mkdir(parents=True, exist_ok=True)
        header = (f"# Recorded by tools/record_float.py with ONNX Runtime {ort.__version__}.\n"
                  "# case\tinputs in cases.bin\tsource\tONNX Runtime's deviation\n")
        (FOLDER / "cases.tsv").write_text(header + "\n".join(self.lines) + "\n")
        data = b"".join(struct.pack("<I", len(b)) + b for b in self.blocks)
        (FOLDER / "cases.bin").write_bytes(data)
        print(f"{len(self.lines)} cases, {len(data)} bytes, onnxruntime {ort.__version__}")


def window(r, rank, dilations=True):
    kernel = [r.size(1, 3) for _ in range(rank)]
    attributes = {"strides": [r.size(1, 2) for _ in range(rank)],
                  "pads": [r.size(0, k - 1) for k in kernel + kernel]}
    if dilations:
        attributes["dilations"] = [r.size(1, 2) for _ in range(rank)]
    return kernel, attributes


def convolutions(r):
    for k in range(24):
        rank = 1 + k % 3
        kernel, attributes = window(r, rank)
        group = [1, 1, 2, 3][k % 4]
        c, m = group * r.size(1, 3), group * r.size(1, 8)
        if k % 8 == 7:
            group = c = m = r.size(3, 20)
        x = r.floats(1 + k % 2, c, *(r.size(5, 8 if rank < 3 else 5) for _ in range(rank)))
        b = [r.floats(m)] if k % 2 else []
        r.add(f"Conv/{k}", "Conv", [x, r.floats(m, c // group, *kernel)] + b, group=group,
              runtime=1 + k % 2, **attributes)
        w = r.floats(c, m // group, *kernel)
        attributes["pads"] = [0] * (2 * rank)
        r.add(f"ConvTranspose/{k}", "ConvTranspose", [x, w] + b, group=group, **attributes)


def products(r):
    for k in range(12):
        m, d, n = r.size(1, 9), r.size(1, 60), r.size(1, 80)
        r.add(f"Gemm/{k}", "Gemm",
              [r.floats(d, m) if k & 1 else r.floats(m, d),
               r.floats(n, d) if k & 2 else r.floats(d, n),
               [None, r.floats(n), r.floats(m, 1)][k % 3]],
              transA=k & 1, transB=k >> 1 & 1, alpha=[1.0, 0.3][k % 2], beta=[1.0, 1.7][k // 6])
    shapes = [((3, 5), (5, 7)), ((2, 3, 5), (5, 7)), ((2, 3, 5), (2, 5, 7)), ((5,), (5, 7)),
              ((3, 5), (5,)), ((2, 1, 3, 5), (3, 5, 70)), ((3, 5), (2, 5, 7)), ((5,), (5,))]
    for k, (a, b) in enumerate(shapes):
        r.add(f"MatMul/{k}", "MatMul", [r.floats(*a), r.floats(*b)], runtime=1 + k % 2)


def windows(r):
    for k in range(15):
        rank = 1 + k % 3
        kernel, attributes = window(r, rank, dilations=False)
        x = r.floats(1 + k % 2, r.size(1, 6), *(r.size(5, 8 if rank < 3 else 5) for _ in range(rank)))
        r.add(f"AveragePool/{k}", "AveragePool", [x], kernel_shape=kernel,
              count_include_pad=k & 1, ceil_mode=k >> 1 & 1, **attributes)
        r.add(f"GlobalMaxPool/{k}", "GlobalMaxPool", [x])


def rows(r):
    for k, slope in enumerate([(4, 1, 1), (1,), (2, 4, 5, 3), (3,), (5, 1)]):
        r.add(f"PRelu/{k}", "PRelu", [r.floats(2, 4, 5, 3), r.floats(*slope)], opset=16)
    for k, shape in enumerate([(2, 4, 5, 3), (3, 7), (2, 3, 6)]):
        c = shape[1]
        r.add(f"BatchNormalization/{k}", "BatchNormalization",
              [r.floats(*shape), r.floats(c), r.floats(c), r.floats(c), abs(r.floats(c))],
              opset=[9, 14, 15][k], epsilon=1e-3)
    for op in ("Softmax", "LogSoftmax"):
        for k, (axis, opset) in enumerate([(1, 13), (-1, 13), (2, 11), (1, 11), (0, 13)]):
            r.add(f"{op}/{k}", op, [3 * r.floats(2, 4, 5, 3)], axis=axis, opset=opset)
    for k, size in enumerate([1, 3, 4, 5]):
        r.add(f"LRN/{k}", "LRN", [r.floats(2, 7, 3, 2)], size=size, alpha=0.2,
              beta=[0.75, 0.5][k % 2], bias=1.0 + k)
    for k, shape in enumerate([(2, 4, 5, 3), (1, 3, 9), (2, 2, 3, 3, 3)]):
        c = shape[1]
        r.add(f"InstanceNormalization/{k}", "InstanceNormalization",
              [r.floats(*shape), r.floats(c), r.floats(c)], epsilon=1e-3)
        r.add(f"LayerNormalization/{k}", "LayerNormalization",
              [r.floats(*shape), r.floats(*shape[-k - 1:])] +
              ([r.floats(*shape[-k - 1:])] if k else []), axis=-k - 1)
    for op in ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum"):
        for k, axes in enumerate([[1], [0, -1], [], [2, 3], [0, 1, 2, 3]]):
            given = {"axes": axes} if axes else {}
            r.add(f"{op}/{k}", op, [r.floats(2, 4, 5, 3)], opset=12, keepdims=k % 2, **given)
        r.add(f"{op}/input", op, [r.floats(2, 4, 5), np.array([1], np.int64)], opset=18)
        r.add(f"{op}/noop", op, [r.floats(2, 4)], opset=18, noop_with_empty_axes=1)
    for op in ("ReduceMax", "ReduceMin"):
        for kind in (np.int8, np.uint8, np.int32, np.int64):
            info = np.iinfo(kind)
            x = r.rng.integers(info.min, info.max, (3, 5, 4), kind, endpoint=True)
            r.add(f"{op}/{np.dtype(kind).name}", op, [x], opset=12, axes=[1])
    for kind in (np.int32, np.int64):
        r.add(f"ReduceSum/{np.dtype(kind).name}", "ReduceSum",
              [r.rng.integers(-99, 99, (3, 5, 4)).astype(kind)], opset=12, axes=[1])
    for op in ("ArgMax", "ArgMin"):
        for kind in (np.float32, np.int32, np.int8, np.uint8):
            for last in (0, 1):
                x = r.rng.integers(0, 5, (3, 6, 4)).astype(kind)
                r.add(f"{op}/{np.dtype(kind).name}/{last}", op, [x], opset=13, axis=last - 2,
                      keepdims=last, select_last_index=last)


def integer_products(r):
    for k in range(8):
        m, d, n = r.size(1, 9), r.size(1, 60), r.size(1, 40)
        kind = [np.uint8, np.int8][k & 1]
        info = np.iinfo(kind)
        per = (n,) if k & 2 else ()
        # Seven bits: without VNNI ONNX Runtime saturates sums of two u8 x s8 products.
        b = r.rng.integers(-60, 60, (d, n)).astype(np.int8) if k & 1 else r.rng.integers(
            0, 120, (d, n)).astype(np.uint8)
        b_scale = abs(r.floats(*per)) + np.float32(0.01)
        b_zero = np.asarray(r.rng.integers(0, 9, per)).astype(b.dtype)
        bias = [r.floats(n)] if k & 4 else []
        r.add(f"DynamicQuantizeMatMul/{k}", "DynamicQuantizeMatMul",
              [r.floats(2, m, d), b, np.asarray(b_scale, np.float32), b_zero] + bias,
              domain="com.microsoft")
        a = r.rng.integers(info.min, info.max, (m, d), kind, endpoint=True)
        r.add(f"MatMulIntegerToFloat/{k}", "MatMulIntegerToFloat",
              [a, b, np.float32(0.03).reshape(()), np.asarray(b_scale, np.float32),
               np.asarray(a[0, 0]), b_zero] + bias, domain="com.microsoft")


def main():
    r = Recording()
    convolutions(r)
    products(r)
    windows(r)
    rows(r)
    integer_products(r)
    r.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
