#!/usr/bin/env python3
"""Records ONNX Runtime's results for single nodes and small groups of nodes, topic by topic.

Writes tests/data/nodes/<topic>/{cases.tsv,cases.bin} in the form that tests/support/recorded_cases.h
describes; tests/recorded/recorded_nodes_test.cc replays them. Optimizations are off, so that each node runs
as written. Each topic is seeded by its name: record one only to change it, and look at what
changes. Cases that ONNX Runtime refuses are left out and listed.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install onnx onnxruntime numpy
    /tmp/v/bin/python tools/record_nodes.py top_k
"""

import itertools
import pathlib
import struct
import sys
import zlib

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

from record_attention import attention, transformer
from record_packed import packed
from record_rows import rows

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "nodes"
F = np.float32


def filled(values, shapes):
    """Zeros after the rows of each value up to a shape; after all of them the shapes, except of those whose shape is None,
    which have no counted rows."""
    out, counts = [], []
    for value, shape in zip(values, shapes):
        if shape is None:
            out.append(value)
            continue
        larger = np.zeros(shape, value.dtype)
        larger[tuple(slice(0, size) for size in value.shape)] = value
        out.append(larger)
        counts.append(np.array(value.shape, np.int64))
    return out + counts


class Topic:
    """The cases of one folder."""

    def __init__(self, name):
        self.name = name
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.cases = []
        self.refused = []

    def node(self, name, op, inputs, opset, outputs=1, run_time=1, domain="", **attributes):
        """One node; the first `run_time` inputs are graph inputs, None is omitted."""
        names = ["" if x is None else f"i{k}" for k, x in enumerate(inputs)]
        results = [f"o{k}" for k in range(outputs)]
        node = helper.make_node(op, names, results, domain=domain, **attributes)
        given = dict(zip(names, inputs))
        given.pop("", None)
        self.graph(name, [node], {k: v for k, v in given.items() if int(k[1:]) < run_time},
                   {k: v for k, v in given.items() if int(k[1:]) >= run_time}, results, opset)

    def counted(self, name, nodes, inputs, most, constants, results, uncounted=()):
        """The same with results of as many rows as inputs say, at most those that `most` give, except `uncounted` ones."""
        self.graph(name, nodes, inputs, constants, results, 18, most, uncounted)

    def graph(self, name, nodes, inputs, constants, results, opset, most=None, uncounted=()):
        """Nodes with graph inputs and initializers, name to array or TensorProto."""
        infos = [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
                 for k, x in inputs.items()]
        fixed = [x if isinstance(x, onnx.TensorProto) else numpy_helper.from_array(x, k)
                 for k, x in constants.items()]
        for (key, _), tensor in zip(constants.items(), fixed):
            tensor.name = key
        graph = helper.make_graph(nodes, "g", infos, [onnx.ValueInfoProto(name=r) for r in results],
                                  fixed)
        imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
        ir_version = 8 if opset < 19 else 10
        model = helper.make_model(graph, opset_imports=imports, ir_version=ir_version)
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        try:
            session = ort.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
            values = session.run(None, inputs)
            if most is not None:
                shapes = [x.shape for x in session.run(None, most)]
                values = filled(values, [None if result in uncounted else shape
                                         for result, shape in zip(results, shapes)])
        except Exception as error:  # pylint: disable=broad-except
            self.refused.append(f"{name}: {str(error)[:160]}")
            return
        for info, value in zip(model.graph.output, values):  # the only type that is not known without being stated
            if value.dtype == np.float16:
                info.type.tensor_type.elem_type = onnx.TensorProto.FLOAT16
        tensors = list(inputs.values()) + [np.asarray(value) for value in values]
        blocks = [numpy_helper.from_array(tensor).SerializeToString() for tensor in tensors]
        self.cases.append((f"{len(self.cases)}_{name}", f"{len(inputs)}:{len(values)}",
                           [model.SerializeToString()] + blocks))

    def write(self):
        folder = FOLDER / self.name
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "cases.tsv", "w", encoding="utf-8") as listing:
            listing.write(f"# ONNX Runtime {ort.__version__}; name, inputs:outputs, source, "
                          "deviation\n")
            for name, count, _ in self.cases:
                listing.write(f"{name}\t{count}\titself\t\n")
        with open(folder / "cases.bin", "wb") as blocks:
            for _, _, parts in self.cases:
                for part in parts:
                    blocks.write(struct.pack("<I", len(part)) + part)
        print(f"{self.name}: {len(self.cases)} cases, "
              f"{(folder / 'cases.bin').stat().st_size} bytes, refused:", *self.refused, sep="\n  ")


def top_k(topic):
    """Many equal elements; k as small, large and whole; rows short and long."""
    rng = topic.rng
    for dtype in (F, np.int8, np.uint8, np.int32, np.int64):
        for shape, axis in (((2, 7), -1), ((5, 3, 2), 0), ((2, 6, 3), 1), ((1, 200), 1), ((9,), 0)):
            size = shape[axis]
            for k, largest in itertools.product({1, 2, size // 2, size}, (0, 1)):
                x = rng.integers(0 if dtype == np.uint8 else -4, 5, shape).astype(dtype)
                topic.node(f"{np.dtype(dtype).name}_{k}_of_{size}", "TopK",
                           [x, np.array([k], np.int64)], int(rng.choice([11, 13, 21])), outputs=2,
                           axis=axis, largest=largest)
    x = np.array([[0.0, -0.0, np.inf, -np.inf, 3, -0.0, 0.0, 1e-40]], F)
    for k, largest in itertools.product((1, 3, 8), (0, 1)):
        topic.node("special", "TopK", [x, np.array([k], np.int64)], 11, outputs=2, largest=largest)
    topic.node("set_9", "TopK", [rng.normal(0, 1, (3, 8)).astype(F)], 9, outputs=2, k=3)
    topic.node("set_10", "TopK", [rng.normal(0, 1, (3, 8)).astype(F), np.array([3], np.int64)], 10,
               outputs=2, axis=0)


def where(topic):
    """Where between DequantizeLinear and QuantizeLinear, of equal and of different quantizations."""
    rng = topic.rng
    shapes = [((2, 3, 4), (2, 3, 4), (2, 3, 4)), ((1, 4), (2, 3, 4), (3, 1)), ((), (5,), (1,)),
              ((2, 1, 4), (), (3, 1)), ((2, 64, 64), (2, 64, 64), ())]
    for dtype, (c, x, y), equal in itertools.product((np.uint8, np.int8), shapes, (0, 1)):
        info = np.iinfo(dtype)
        inputs = {"c": rng.integers(0, 2, c).astype(np.bool_)}
        constants = {}
        nodes = []
        for name, shape in (("x", x), ("y", y), ("z", None)):
            scale, zero = F(0.05), dtype(7)
            if not equal:
                scale = F(rng.choice([0.03125, rng.uniform(0.01, 0.1)]))
                zero = rng.integers(info.min, info.max, endpoint=True).astype(dtype)
            constants |= {f"{name}s": np.array(scale), f"{name}z": np.array(zero)}
            if shape is not None:
                data = rng.integers(info.min, info.max, shape, endpoint=True).astype(dtype)
                (constants if shape == () else inputs)[name] = data
                nodes.append(helper.make_node("DequantizeLinear", [name, f"{name}s", f"{name}z"],
                                              [f"{name}f"]))
        nodes += [helper.make_node("Where", ["c", "xf", "yf"], ["zf"]),
                  helper.make_node("QuantizeLinear", ["zf", "zs", "zz"], ["z"])]
        topic.graph(f"{np.dtype(dtype).name}_{'equal' if equal else 'different'}", nodes, inputs,
                    constants, ["z"], 13)


FOUR_BITS = {"s4": (onnx.TensorProto.INT4, -8, 7), "u4": (onnx.TensorProto.UINT4, 0, 15)}


def four_bit_tensor(rng, kind, shape):
    code, least, most = FOUR_BITS[kind]
    values = rng.integers(least, most, shape, endpoint=True)
    return helper.make_tensor("", code, shape, values.flatten().tolist())


def four_bit_weights(topic, kind, shape, granularity, axis, scale):
    """Initializers w, ws, wz and the DequantizeLinear that makes wf of them."""
    rng = topic.rng
    attributes = {"axis": axis}
    parts = {"tensor": (), "axis": (shape[axis],)}.get(granularity)
    if parts is None:  # blocks of two or three along the axis
        attributes["block_size"] = int(granularity)
        parts = tuple(-(-n // int(granularity)) if d == axis else n for d, n in enumerate(shape))
    if granularity == "tensor":
        attributes = {}
    scales = (scale * 2.0 ** rng.integers(-2, 3, parts)).astype(F)
    constants = {"w": four_bit_tensor(rng, kind, shape), "ws": np.asarray(scales),
                 "wz": four_bit_tensor(rng, kind, parts)}
    return constants, helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wf"], **attributes)


PRODUCTS = (("Conv", (2, 4, 5, 6), (6, 4, 3, 2), (0, 1)), ("Conv", (1, 6, 7), (6, 1, 3), (0,)),
            ("ConvTranspose", (1, 4, 5), (4, 3, 3), (1, 0)), ("MatMul", (3, 12), (12, 5), (1, 0)),
            ("MatMul", (2, 3, 12), (12, 5), (1, 0)), ("Gemm", (3, 12), (5, 12), (0, 1)))


def four_bits(topic):
    """Weights of 4 bits beside float activations, whose products add up without rounding, and beside
    8-bit activations; conversions from and to 4 bits."""
    rng = topic.rng
    for (op, x, w, axes), kind, opset in itertools.product(PRODUCTS, FOUR_BITS, (21, 23)):
        attributes = {"group": 6} if w[1] == 1 else {"transB": 1} if op == "Gemm" else {}
        for granularity, axis in [("tensor", 0)] + [(g, a) for g in ("axis", "2", "3") for a in axes]:
            if granularity not in ("tensor", "axis") and w[axis] % int(granularity):
                continue
            constants, dequantize = four_bit_weights(topic, kind, w, granularity, axis, 0.25)
            data = (rng.integers(-32, 32, x) / 8).astype(F)
            product = helper.make_node(op, ["x", "wf"], ["y"], **attributes)
            topic.graph(f"{op}_{kind}_{granularity}_{axis}", [dequantize, product], {"x": data},
                        constants, ["y"], opset)
            activation = rng.choice([np.uint8, np.int8])
            info = np.iinfo(activation)
            constants, dequantize = four_bit_weights(topic, kind, w, granularity, axis,
                                                     rng.uniform(0.01, 0.05))
            constants |= {"xs": np.array(F(0.05)), "ys": np.array(F(rng.uniform(0.1, 0.3)))}
            constants |= {z: rng.integers(info.min, info.max, endpoint=True).astype(activation)
                          for z in ("xz", "yz")}
            constants = {k: v if isinstance(v, onnx.TensorProto) else np.asarray(v)
                         for k, v in constants.items()}
            data = rng.integers(info.min, info.max, x, endpoint=True).astype(activation)
            topic.graph(f"quantized_{op}_{kind}_{granularity}_{axis}",
                        [helper.make_node("DequantizeLinear", ["q", "xs", "xz"], ["x"]), dequantize,
                         helper.make_node(op, ["x", "wf"], ["yf"], **attributes),
                         helper.make_node("QuantizeLinear", ["yf", "ys", "yz"], ["y"])],
                        {"q": data}, constants, ["y"], opset)


NUMBERS = {"u4": 21, "s4": 22, "u16": 4, "s16": 5, "u8": 2, "s8": 3}


def conversions(topic):
    """Forms of operator sets 21 and 23: output_dtype, precision, Cast; values within the graph."""
    rng = topic.rng
    for kind, opset, block in itertools.product(NUMBERS, (21, 23, 24), (0, 3)):
        x = rng.normal(0, 40 if "16" not in kind else 30000, (2, 6, 5)).astype(F)
        # In blocks ONNX Runtime goes through int32, where inf becomes the least value instead of
        # saturating.
        x[0, 0] = [np.nan, 100 if block else np.inf, -np.inf, 0.5, -0.0]
        scale = rng.uniform(0.5, 3, (2, 2, 5) if block else ()).astype(F)
        attributes = {"axis": 1, "block_size": block} if block else {}
        quantize = helper.make_node("QuantizeLinear", ["x", "s"], ["q"],
                                    output_dtype=NUMBERS[kind], **attributes)
        if opset >= 23:
            quantize.attribute.append(helper.make_attribute("precision", 1))
        back = helper.make_node("DequantizeLinear", ["q", "s"], ["y"], **attributes)
        if opset >= 23:
            back.attribute.append(helper.make_attribute("output_dtype", 1))
        topic.graph(f"there_and_back_{kind}_{block}", [quantize, back], {"x": x},
                    {"s": np.asarray(scale)}, ["y"], opset)
        if "4" not in kind:
            topic.graph(f"quantize_{kind}_{block}", [quantize], {"x": x}, {"s": np.asarray(scale)},
                        ["q"], opset)
    for kind, opset in itertools.product(NUMBERS, (21, 23)):
        x = np.concatenate([np.arange(-20, 21), rng.normal(0, 9, 20)]).astype(F)
        for type_ in (F, np.int8, np.uint8, np.int32, np.int64):
            if type_ == F and kind in FOUR_BITS:  # rounds as nothing else does: refused
                continue
            data = x.astype(type_) if type_ != np.uint8 else np.abs(x).astype(type_)
            topic.graph(f"cast_{np.dtype(type_).name}_{kind}",
                        [helper.make_node("Cast", ["x"], ["q"], to=NUMBERS[kind]),
                         helper.make_node("Cast", ["q"], ["y"], to=1)], {"x": data}, {}, ["y"], opset)
        if kind in FOUR_BITS:
            for number in (1, 2, 3, 6, 7):
                topic.graph(f"cast_constant_{kind}_{number}",
                            [helper.make_node("Cast", ["w"], ["y"], to=number)], {},
                            {"w": four_bit_tensor(rng, kind, (3, 5))}, ["y"], opset)


def integers(topic):
    """Arithmetic and functions of integers, Mod in both forms, Mean of several tensors."""
    rng = topic.rng
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64):
        info = np.iinfo(dtype)
        a = rng.integers(info.min, info.max, (3, 17), dtype, endpoint=True)
        a[0, :3] = info.min, info.max, 0
        b = rng.integers(info.min // 8, info.max // 8, (17,), dtype, endpoint=True)
        b[b == 0] = 3
        b[4:7] = info.max, info.min or 1, 1
        name = np.dtype(dtype).name
        for op in ("Add", "Sub", "Mul", "Div", "Max", "Min"):
            topic.node(f"{op}_{name}", op, [a, b], 14, run_time=2)
        if dtype == np.int64:  # ONNX Runtime's fmod of int64 goes through double
            a, b = a // 4096, b // 4096 + 1
        for fmod in (0, 1):
            topic.node(f"Mod_{name}", "Mod", [a, b], 13, run_time=2, fmod=fmod)
            topic.node(f"Mod_constant_{name}", "Mod", [a, b[:1]], 13, fmod=fmod)
        for op in ("Relu", "Abs", "Neg", "Sign"):
            topic.node(f"{op}_{name}", op, [a], 14)
    a = np.ldexp(rng.normal(0, 1, (40, 9)), rng.integers(-140, 100, (40, 9))).astype(F)
    b = np.ldexp(rng.uniform(1, 2, (40, 9)), rng.integers(-140, 100, (40, 9))).astype(F)
    topic.node("Mod_float", "Mod", [a, b], 13, run_time=2, fmod=1)
    topic.node("Mod_float", "Mod", [rng.normal(0, 9, (40, 9)).astype(F),
                                    rng.uniform(-3, -1, (9,)).astype(F)], 13, run_time=2, fmod=1)
    special = np.array([-0.0, 3, -3, 6, 1e-45, -7e-45], F)
    topic.node("Mod_float", "Mod", [special, np.array([np.inf, 3, 1.5, 4, 1e-40, 3e-45], F)], 13,
               run_time=2, fmod=1)
    for count in range(1, 6):
        shapes = [(2, 3, 4), (4,), (3, 1), (2, 3, 4), ()]
        parts = [rng.normal(0, 3, shapes[k]).astype(F) for k in range(count)]
        topic.node(f"Mean_{count}", "Mean", parts, 13, run_time=count)
        topic.node(f"Sum_{count}", "Sum", parts, 13, run_time=count)


ACTIVATIONS = {"Relu": (), "Sigmoid": (), "Tanh": (), "LeakyRelu": (0.3,), "Clip": (-0.5, 0.75),
               "HardSigmoid": (0.3, 0.4)}


def fused(topic):
    """What ONNX Runtime's optimizer makes of several float operators."""
    rng = topic.rng

    def floats(*shape):
        return rng.normal(0, 1, shape).astype(F)

    def add(op, inputs, run_time=1, outputs=1, opset=13, **attributes):
        topic.node(f"{op}_{attributes.get('activation', '')}", op, inputs, opset, outputs, run_time,
                   "com.microsoft", **attributes)

    add("FusedConv", [floats(1, 3, 6, 5), floats(4, 3, 3, 3)], strides=[2, 1])
    for activation, parameters in ACTIVATIONS.items():
        add("FusedConv", [floats(2, 4, 6, 5), floats(6, 2, 3, 3), floats(6)], group=2,
            pads=[1, 0, 1, 2], dilations=[1, 2], activation=activation,
            **({"activation_params": list(parameters)} if parameters else {}))
    for bias, old in itertools.product((None, floats(4)), (9, 13)):
        add("FusedConv", [floats(1, 3, 6, 5), floats(4, 3, 3, 3), bias, floats(1, 4, 4, 3)], 4,
            opset=old, activation="Relu")
        add("FusedConv", [floats(1, 3, 6, 5), floats(4, 3, 3, 3), bias], opset=old,
            activation="Clip", activation_params=[0.0, 0.5])
    for activation, parameters in (("", ()), ("Relu", ()), ("LeakyRelu", (0.2,)), ("Tanh", ()),
                                   ("HardSigmoid", (0.3, 0.4)), ("Elu", (0.7,)), ("Softplus", ())):
        names = ("activation_alpha", "activation_beta")
        add("FusedGemm", [floats(5, 3), floats(7, 5), floats(7)], transA=1, transB=1, alpha=0.5,
            beta=2.0, activation=activation, **dict(zip(names, parameters)))
    for trans_a, trans_b in itertools.product((0, 1), (0, 1)):
        a, b = ((4, 3), (3, 4))[trans_a], ((3, 5), (5, 3))[trans_b]
        add("FusedMatMul", [floats(*a), floats(*b)], 1, transA=trans_a, transB=trans_b, alpha=0.125)
        add("FusedMatMul", [floats(2, 6, *a), floats(2, 6, *b)], 2, transA=trans_a, transB=trans_b)
        add("FusedMatMul", [floats(2, 6, *a), floats(*b)], 2, transA=trans_a, transB=trans_b)
        add("TransposeMatMul", [floats(2, *a), floats(2, *b)], 2, transA=trans_a, transB=trans_b)
        for batch_a, batch_b in ((1, 0), (0, 1), (1, 1)):
            left = (a[0], 2, 6, a[1]) if batch_a else (2, 6, *a)
            right = (b[0], 2, 6, b[1]) if batch_b else (2, 6, *b)
            add("FusedMatMul", [floats(*left), floats(*right)], 2, transA=trans_a, transB=trans_b,
                transBatchA=batch_a, transBatchB=batch_b)
    add("BiasGelu", [floats(2, 3, 8), floats(8)])
    add("FastGelu", [floats(2, 3, 8)])
    add("FastGelu", [floats(2, 3, 8), floats(8)])
    for count in (3, 4, 5):
        vectors = [floats(8) for _ in range(count - 2)]
        add("SkipLayerNormalization", [floats(2, 3, 8), floats(2, 3, 8)] + vectors, 2, epsilon=0.01)
    inputs = {"x": floats(2, 3, 8), "s": floats(2, 3, 8)}
    node = helper.make_node("SkipLayerNormalization", ["x", "s", "g"], ["y", "", "", "sum"],
                            domain="com.microsoft")
    topic.graph("skip_sum", [node], inputs, {"g": floats(8)}, ["y", "sum"], 13)


def cubic(topic):
    """Resize in cubic mode, in all coordinates."""
    rng = topic.rng
    transforms = ("asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners",
                  "half_pixel_symmetric", "tf_crop_and_resize")
    for transform, exclude in itertools.product(transforms, (0, 1)):
        opset = 19 if transform == "half_pixel_symmetric" else 13
        for shape, out in (((1, 2, 5, 6), (1, 2, 10, 9)), ((2, 1, 7, 4), (2, 1, 3, 4)),
                           ((5, 7), (8, 3)), ((1, 3, 1, 2), (1, 3, 2, 5))):
            crop = transform == "tf_crop_and_resize"
            roi = np.array([0.0] * len(shape) + [1.0] * len(shape), F)
            if crop:
                roi[len(shape) - 2], roi[-1] = -0.25, 1.25
            topic.node(f"{transform}_{exclude}", "Resize",
                       [rng.normal(0, 3, shape).astype(F), roi if crop else None, None,
                        np.array(out, np.int64)], opset, mode="cubic", exclude_outside=exclude,
                       coordinate_transformation_mode=transform, extrapolation_value=7.5,
                       cubic_coeff_a=float(rng.choice([-0.75, -0.5])))


def antialias(topic):
    """Resize with antialias: both filters of float32 and uint8, in all coordinates."""
    rng = topic.rng
    transforms = ("asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners",
                  "half_pixel_symmetric", "tf_crop_and_resize")

    def record(name, x, scales=None, sizes=None, roi=None, **how):
        given = None if scales is None else np.array(scales, F)
        inputs = [x, None if roi is None else np.array(roi, F), given]
        topic.node(name, "Resize", inputs if sizes is None else inputs + [np.array(sizes, np.int64)],
                   19, antialias=1, extrapolation_value=7.0, **how)

    def data(kind, shape):
        return rng.normal(0, 3, shape).astype(F) if kind == F else rng.integers(0, 256, shape, kind)

    for transform, kind, mode, cut in itertools.product(transforms, (F, np.uint8), ("linear", "cubic"),
                                                        (0, 1)):
        how = {"mode": mode, "exclude_outside": cut, "coordinate_transformation_mode": transform,
               "cubic_coeff_a": float(rng.choice([-0.75, -0.5]))}
        roi = [0, 0, -0.25, 0.1, 1, 1, 1.25, 0.8] if transform == "tf_crop_and_resize" else None
        name = f"{transform}_{np.dtype(kind).name}_{mode}_{cut}"
        record(name, data(kind, (1, 2, 12, 19)), sizes=(1, 2, 5, 7), roi=roi, **how)
        record(name, data(kind, (1, 1, 23, 6)), scales=(1, 1, 0.13, 1.05), roi=roi, **how)
        record(name, data(kind, (2, 1, 5, 9)), scales=(1, 1, 1.7, 0.6), roi=roi, **how)
    for kind in (F, np.uint8):
        name = np.dtype(kind).name
        record(f"last_{name}", data(kind, (1, 11, 40, 3)), scales=(1, 0.4, 0.3, 1), mode="linear")
        record(f"rows_{name}", data(kind, (1, 3, 37, 90)), sizes=(1, 3, 18, 31), mode="cubic")
        record(f"axes_{name}", data(kind, (1, 2, 9, 8)), scales=(0.5, 0.7), axes=[3, 2], mode="linear")
        record(f"volume_{name}", data(kind, (1, 2, 6, 7, 8)), scales=(1, 1, 0.5, 0.6, 0.3), mode="linear")
        record(f"rank_3_{name}", data(kind, (6, 7, 9)), scales=(0.5, 0.6, 0.3), mode="linear")
        record(f"rank_2_{name}", data(kind, (16, 70)), scales=(0.25, 0.1), mode="linear")
        record(f"ratio_{name}", data(kind, (1, 1, 9, 16)), sizes=(4, 4), axes=[2, 3], mode="linear",
               keep_aspect_ratio_policy="not_larger")


def limits(topic):
    """Relu, Clip and Max between a quantized product and the same quantization again."""
    rng = topic.rng
    for op, dtype, after in itertools.product(("QGemm", "QLinearMatMul"), (np.uint8, np.int8),
                                              ("Relu", "Clip", "Max")):
        info = np.iinfo(dtype)
        rows, depth, columns = 5, 40, 7
        constants = {"w": rng.integers(-128, 127, (depth, columns), np.int8, endpoint=True),
                     "ws": rng.uniform(0.001, 0.01, columns).astype(F),
                     "wz": np.zeros(columns, np.int8), "xs": np.array(F(0.03)),
                     "xz": np.array(dtype(info.min + 120)), "ys": np.array(F(0.05)),
                     "yz": np.array(dtype(info.min + 100)), "low": np.array(F(-1.3)),
                     "high": np.array(F(2.6))}
        x = rng.integers(info.min, info.max, (rows, depth), dtype, endpoint=True)
        inputs = ["x", "xs", "xz", "w", "ws", "wz"] + ([""] if op == "QGemm" else []) + ["ys", "yz"]
        limits_of = {"Relu": [], "Clip": ["low", "high"], "Max": ["low"]}[after]
        nodes = [helper.make_node(op, inputs, ["q"],
                                  domain="com.microsoft" if op == "QGemm" else ""),
                 helper.make_node("DequantizeLinear", ["q", "ys", "yz"], ["f"]),
                 helper.make_node(after, ["f"] + limits_of, ["r"]),
                 helper.make_node("QuantizeLinear", ["r", "ys", "yz"], ["y"])]
        topic.graph(f"{op}_{np.dtype(dtype).name}_{after}", nodes, {"x": x}, constants, ["y"], 13)


TOPICS = {"attention": attention, "transformer": transformer, "limits": limits, "cubic": cubic,
          "antialias": antialias, "fused": fused, "integers": integers, "top_k": top_k, "where": where,
          "four_bits": four_bits, "conversions": conversions, "rows": rows,
          "packed": packed}


def main():
    ort.set_default_logger_severity(4)
    for name in sys.argv[1:]:
        topic = Topic(name)
        TOPICS[name](topic)
        topic.write()
    if len(sys.argv) == 1:
        print("topics:", *TOPICS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
