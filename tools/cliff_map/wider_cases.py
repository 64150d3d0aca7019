"""Sizes and attributes beside those of the other files: batches, narrow groups, large images, inner axes, long sequences."""

import nodes
import numpy as np
from element_cases import scale_args
from integer_cases import integer_conv, static_conv
from nodes import Net

# name, batch, channels in, channels out, spatial sizes, kernel, attributes
WIDER = [
    ("groups of 3, 3x3", 1, 48, 48, (28, 28), (3, 3), {"pads": [1] * 4, "group": 16}),
    ("groups of 5, 3x3", 1, 40, 40, (28, 28), (3, 3), {"pads": [1] * 4, "group": 8}),
    ("groups of 8 to 16, 3x3", 1, 64, 128, (28, 28), (3, 3), {"pads": [1] * 4, "group": 8}),
    ("groups of 12, 3x3 stride 2", 1, 96, 96, (28, 28), (3, 3), {"pads": [1] * 4, "group": 8, "strides": [2, 2]}),
    ("groups of 20, 1x1", 1, 60, 60, (28, 28), (1, 1), {"group": 3}),
    ("groups of 6, 5x3", 1, 24, 24, (28, 28), (5, 3), {"pads": [2, 1, 2, 1], "group": 4}),
    ("1 channel 320x320", 1, 1, 8, (320, 320), (3, 3), {"pads": [1] * 4}),
    ("3 channels 320x320 stride 2", 1, 3, 16, (320, 320), (3, 3), {"pads": [1] * 4, "strides": [2, 2]}),
    ("3 channels 224x224, 16x16 patches", 1, 3, 192, (224, 224), (16, 16), {"strides": [16, 16]}),
    ("3 to 3 channels 128x128, 9x9", 1, 3, 3, (128, 128), (9, 9), {"pads": [4] * 4}),
    ("3x3, batch 16 of 8x8", 16, 32, 32, (8, 8), (3, 3), {"pads": [1] * 4}),
    ("depthwise 3x3, batch 16 of 8x8", 16, 64, 64, (8, 8), (3, 3), {"pads": [1] * 4, "group": 64}),
    ("depthwise 3x3 stride 3", 1, 64, 64, (30, 30), (3, 3), {"group": 64, "strides": [3, 3]}),
    ("depthwise 1x7", 1, 64, 64, (28, 28), (1, 7), {"pads": [0, 3, 0, 3], "group": 64}),
    ("2x2, even kernel", 1, 32, 32, (28, 28), (2, 2), {}),
    ("1x1 of 1x1 image", 1, 1280, 256, (1, 1), (1, 1), {}),
    ("1x1 1024 of 7x7", 1, 512, 1024, (7, 7), (1, 1), {}),
    ("4x4 of 4x4 image", 1, 64, 64, (4, 4), (4, 4), {}),
    ("1-D k80 stride 4, 1 channel", 1, 1, 32, (8000,), (80,), {"strides": [4]}),
    ("1-D k3, 16 of 8000", 1, 16, 16, (8000,), (3,), {"pads": [1, 1]}),
    ("1-D k7 stride 4", 1, 32, 64, (1000,), (7,), {"pads": [3, 3], "strides": [4]}),
    ("1-D k5 dilation 16", 1, 32, 32, (1000,), (5,), {"pads": [32, 32], "dilations": [16]}),
    ("1-D depthwise k9, 8 of 4000", 1, 8, 8, (4000,), (9,), {"pads": [4, 4], "group": 8}),
    ("3-D 3x3x3 stride 2", 1, 8, 16, (16, 32, 32), (3, 3, 3), {"pads": [1] * 6, "strides": [2, 2, 2]}),
    ("3-D 3x1x1", 1, 32, 32, (8, 14, 14), (3, 1, 1), {"pads": [1, 0, 0, 1, 0, 0]}),
    ("3-D 3x3x3, 1 channel", 1, 1, 8, (16, 32, 32), (3, 3, 3), {"pads": [1] * 6}),
]


def wider_convolutions():
    for name, batch, inputs, out, image, kernel, attributes in WIDER:
        for group, maker in (("QLinearConv, wider", static_conv), ("ConvInteger, wider", integer_conv)):
            net = Net()
            yield net.case(group, name, maker(net, net.input("u8", batch, inputs, *image), out, inputs, kernel, **attributes))
        net = Net()
        y = net.node("Conv", net.input("f32", batch, inputs, *image),
                     net.weights("f32", out, inputs // attributes.get("group", 1), *kernel), **attributes)
        yield net.case("float Conv, wider", name, y)


def per_channel_uint8():
    """uint8 weights whose scales and zero points are per channel."""
    for name, inputs, out, size, kernel, group in (("1x1", 64, 64, 28, 1, 1), ("3x3", 32, 32, 28, 3, 1),
                                                   ("depthwise 3x3", 64, 64, 28, 3, 64)):
        net = Net()
        w = net.weights("u8", out, inputs // group, kernel, kernel)
        zero = net.constant("u8", net.random.integers(100, 156, out))
        x = net.input("u8", 1, inputs, size, size)
        one, mid = net.constant("f32", 0.02), net.constant("u8", 128)
        y = net.node("QLinearConv", x, one, mid, w, net.constant("f32", net.random.uniform(0.005, 0.01, out)), zero,
                     net.constant("f32", 0.1), mid, group=group, pads=[kernel // 2] * 4)
        yield net.case("QLinearConv, wider", f"{name}, uint8 weights per channel", y)


def resized_bytes():
    for mode, scale, size in (("nearest", 2.0, 32), ("nearest", 1.5, 32), ("linear", 2.0, 32), ("nearest", 2.0, 80)):
        net = Net()
        y = net.node("Resize", net.input("u8", 1, 32, size, size), "", net.constant("f32", [1, 1, scale, scale]),
                     mode=mode, coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        yield net.case("resize, wider", f"{mode} x {scale} of u8 {size}x{size}", y)
    for mode, transform in (("linear", "align_corners"), ("linear", "pytorch_half_pixel"), ("cubic", "align_corners"),
                            ("nearest", "half_pixel")):
        net = Net()
        y = net.node("Resize", net.input("f32", 1, 32, 20, 20), "", "", net.constant("s64", [1, 32, 53, 47]), mode=mode,
                     coordinate_transformation_mode=transform)
        yield net.case("resize, wider", f"{mode} {transform} 20x20 to 53x47", y)


def antialiased():
    """Images and feature maps that shrink, under filters that are as wide as the ratio of sizes."""
    for kind, mode, shape, size in (("f32", "linear", (1, 3, 224, 224), (112, 112)), ("u8", "linear", (1, 3, 224, 224), (112, 112)),
                                    ("f32", "cubic", (1, 3, 224, 224), (112, 112)), ("u8", "cubic", (1, 3, 224, 224), (96, 96)),
                                    ("f32", "linear", (1, 3, 480, 640), (224, 224)), ("u8", "linear", (1, 3, 480, 640), (224, 224)),
                                    ("f32", "linear", (1, 3, 64, 64), (112, 112)), ("f32", "linear", (1, 64, 14, 14), (7, 7)),
                                    ("f32", "cubic", (1, 768, 16, 16), (14, 14)), ("f32", "linear", (1, 1, 16, 4000), (16, 2000)),
                                    ("f32", "linear", (1, 1, 1024, 1024), (32, 32))):
        net = Net()
        y = net.node("Resize", net.input(kind, *shape), "", "", net.constant("s64", [*shape[:2], *size]), mode=mode,
                     antialias=1)
        yield net.case("antialias", f"{mode} {kind} {list(shape)} to {list(size)}", y, opset=18)
    for kind in ("f32", "u8"):
        net = Net()
        y = net.node("Resize", net.input(kind, 1, 224, 224, 3), "", "", net.constant("s64", [1, 112, 112, 3]),
                     mode="linear", antialias=1)
        yield net.case("antialias", f"linear {kind} channels last 224x224x3 to 112x112", y, opset=18)


def inner_reductions():
    for op in ("ReduceMean", "ReduceMax", "ReduceL2", "ReduceProd", "ReduceLogSumExp"):
        for axes, shape in (((1,), (8, 128, 64)), ((0,), (256, 256)), ((2, 3), (4, 64, 14, 14)), ((1, 3), (4, 16, 32, 16)),
                            ((0, 1, 2), (8, 16, 128))):
            net = Net()
            yield net.case("reductions", f"{op} {list(axes)} of {shape}",
                           net.node(op, net.input("f32", *shape), axes=list(axes), keepdims=0))
    for op, axis, shape in (("ArgMax", 1, (1, 21, 128, 128)), ("ArgMin", 0, (64, 512)), ("ArgMax", -1, (1, 50000))):
        net = Net()
        yield net.case("reductions", f"{op} axis {axis} of {shape}", net.node(op, net.input("f32", *shape), axis=axis))
    for op in ("ArgMax", "ReduceMax"):
        net = Net()
        x = net.input("u8", 1, 64, 64, 21)
        y = net.node(op, x, axis=-1) if op == "ArgMax" else net.node(op, x, axes=[3], keepdims=0)
        yield net.case("reductions", f"{op} of u8 (1, 64, 64, 21)", y)


TRANSPOSES = [((0, 2, 1, 3), (1, 128, 12, 64)), ((0, 2, 3, 1), (1, 3, 224, 224)), ((0, 3, 1, 2), (1, 224, 224, 3)),
              ((0, 1, 3, 2), (1, 12, 128, 64)), ((2, 0, 3, 1, 4), (2, 49, 3, 4, 32)),
              ((0, 1, 4, 2, 5, 3), (1, 16, 2, 2, 32, 32)), ((0, 3, 2, 1), (1, 40, 60, 24))]


def places(net: Net, high: int, *shape: int) -> str:
    return net.late("s64", net.random.integers(0, high, shape))


def window_moves(net: Net, kind: str):
    """Moves of one image by rule."""
    def image():
        return net.input(kind, 1, 16, 64, 64)

    def longs(*values):
        return net.constant("s64", values)
    yield "Slice step 2", lambda: net.node("Slice", image(), longs(0, 1), longs(64, 64), longs(2, 3), longs(2, 2))
    yield "Pad reflect", lambda: net.node("Pad", image(), longs(0, 0, 3, 3, 0, 0, 3, 3), mode="reflect")
    yield "Pad constant", lambda: net.node("Pad", image(), longs(0, 0, 1, 1, 0, 0, 1, 1))
    yield "Tile", lambda: net.node("Tile", net.input(kind, 1, 16, 1, 32), longs(1, 1, 32, 2))
    yield "Expand", lambda: net.node("Expand", net.input(kind, 1, 64, 1, 1), longs(1, 64, 28, 28))
    yield "SpaceToDepth", lambda: net.node("SpaceToDepth", net.input(kind, 1, 12, 64, 64), blocksize=2)
    yield "DepthToSpace CRD", lambda: net.node("DepthToSpace", net.input(kind, 1, 64, 32, 32), blocksize=2, mode="CRD")


def moves_by_late_index(net: Net, kind: str):
    """Moves whose indices arrive at run time."""
    def table(rows, columns):
        return net.input(kind, rows, columns)

    def where():
        mask = net.node("Greater", net.input("f32", 64, 256), net.constant("f32", 0))
        return net.node("Where", mask, table(64, 256), table(64, 256))

    def scatter_nd():
        rows = net.late("s64", net.random.permutation(512)[:128].reshape(128, 1))
        return net.node("ScatterND", table(512, 64), rows, table(128, 64))
    yield "Gather rows", lambda: net.node("Gather", table(1000, 96), places(net, 1000, 300), axis=0)
    yield "Gather of the last axis", lambda: net.node("Gather", table(64, 256), places(net, 256, 100), axis=1)
    yield "GatherElements of the last axis", lambda: net.node("GatherElements", table(64, 256), places(net, 256, 64, 100),
                                                              axis=1)
    yield "ScatterND", scatter_nd
    yield "ScatterElements", lambda: net.node("ScatterElements", table(256, 64), places(net, 256, 64, 64), table(64, 64),
                                              axis=0)
    yield "Where", where


def inner_moves():
    for kind in ("u8", "f32"):
        group = f"inner moves {kind}"
        for perm, shape in TRANSPOSES:
            net = Net()
            yield net.case(group, f"Transpose {perm} of {shape}", net.node("Transpose", net.input(kind, *shape), perm=perm))
        for axis, shape in ((1, (1, 24, 40, 40)), (3, (1, 40, 40, 24)), (2, (1, 40, 24, 40))):
            net = Net()
            y = net.node("Concat", *[net.input(kind, *shape) for _ in range(3)], axis=axis)
            yield net.case(group, f"Concat of 3 along {axis} {shape}", y)
            net = Net()
            sizes = net.constant("s64", [shape[axis] // 4, shape[axis] // 2, shape[axis] // 4])
            yield net.case(group, f"Split along {axis} {shape}",
                           *net.node("Split", net.input(kind, *shape), sizes, outputs=3, axis=axis))
        for moves in (window_moves, moves_by_late_index):
            for name in [one for one, _ in moves(Net(), kind)]:
                net = Net()
                yield net.case(group, name, dict(moves(net, kind))[name]())


def orders():
    for axis, shape in ((1, (8, 64, 64)), (-1, (1, 16000))):
        net = Net()
        yield net.case("orders, wider", f"CumSum axis {axis} {shape}",
                       net.node("CumSum", net.input("f32", *shape), net.constant("s64", axis)))
    for count, shape, axis in ((300, (1, 25200), -1), (5, (32, 1000), -1), (8, (64, 64), 0), (1, (128, 128), -1),
                               (1000, (1, 1000), -1)):
        net = Net()
        yield net.case("orders, wider", f"TopK {count} of {shape}, axis {axis}",
                       *net.node("TopK", net.input("f32", *shape), net.constant("s64", [count]), outputs=2, axis=axis))


def longer_recurrences():
    for op, gates in (("LSTM", 4), ("GRU", 3)):
        for steps, batch, width, hidden, direction in ((32, 8, 64, 64, "forward"), (100, 1, 40, 24, "forward"),
                                                       (30, 1, 128, 256, "forward"), (40, 1, 64, 64, "bidirectional")):
            net = Net()
            both = 2 if direction == "bidirectional" else 1
            extra = {"linear_before_reset": 1} if op == "GRU" else {}
            y = net.node(op, net.input("f32", steps, batch, width), net.weights("f32", both, gates * hidden, width),
                         net.weights("f32", both, gates * hidden, hidden), net.weights("f32", both, 2 * gates * hidden),
                         hidden_size=hidden, direction=direction, **extra)
            yield net.case("recurrent, wider", f"{op} {steps}x{batch}x{width}, {hidden} hidden, {direction}", y)


def norms():
    for shape in ((1, 32, 64, 64), (1, 16, 4000), (4, 64, 14, 14)):
        net = Net()
        y = net.node("InstanceNormalization", net.input("f32", *shape), net.weights("f32", shape[1]),
                     net.weights("f32", shape[1]))
        yield net.case("normalizations, wider", f"instance {shape}", y)
    for axis, shape in ((-1, (1500, 384)), (-1, (1, 4096)), (-1, (64, 33)), (1, (16, 8, 64))):
        net = Net()
        size = shape[axis:] if axis < 0 else shape[1:]
        y = net.node("LayerNormalization", net.input("f32", *shape), net.weights("f32", *size), net.weights("f32", *size),
                     axis=axis)
        yield net.case("normalizations, wider", f"layer {shape}, axis {axis}", y)
    for name, shape in (("skip", (1, 128, 256)), ("skip", (1, 1, 768))):
        net = Net()
        y = net.microsoft("SkipLayerNormalization", net.input("f32", *shape), net.input("f32", *shape),
                          *[net.weights("f32", shape[-1]) for _ in range(3)], epsilon=1e-5)
        yield net.case("normalizations, wider", f"{name} {shape}", y)
    net = Net()
    yield net.case("normalizations, wider", "LRN (1, 64, 28, 28)", net.node("LRN", net.input("f32", 1, 64, 28, 28), size=5))


def pools():
    image = (1, 32, 56, 56)
    for op, shape, attributes in (("MaxPool", image, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}),
                                  ("AveragePool", image, {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1] * 4}),
                                  ("MaxPool", (1, 64, 1000), {"kernel_shape": [3], "strides": [2]}),
                                  ("MaxPool", (1, 64, 20, 20), {"kernel_shape": [5, 5], "pads": [2] * 4}),
                                  ("MaxPool", (1, 8, 16, 32, 32), {"kernel_shape": [2, 2, 2], "strides": [2, 2, 2]}),
                                  ("LpPool", (1, 32, 28, 28), {"kernel_shape": [2, 2], "strides": [2, 2]})):
        net = Net()
        yield net.case("pools, wider", f"{op} {shape} {attributes['kernel_shape']}",
                       net.node(op, net.input("f32", *shape), **attributes))
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        net = Net()
        yield net.case("pools, wider", f"{op} (4, 256, 7, 7)", net.node(op, net.input("f32", 4, 256, 7, 7)))


def packed_products():
    """Level 4: rows quantized to 8 bits, as quantizers of language models ask for."""
    for rows, depth, cols, block, level in (
            (1, 1024, 1024, 32, 0), (16, 512, 512, 32, 0), (1, 2048, 512, 128, 0), (1, 256, 1000, 16, 0),
            (1, 1024, 1024, 32, 4), (16, 512, 512, 32, 4), (1, 2048, 512, 128, 4), (1, 256, 1000, 16, 4)):
        net = Net()
        blocks = depth // block
        packed = net.constant("u8", net.random.integers(0, 256, (cols, blocks, block // 2)))
        scales = net.constant("f32", net.random.uniform(0.01, 0.02, cols * blocks))
        y = net.microsoft("MatMulNBits", net.input("f32", rows, depth), packed, scales, K=depth, N=cols, bits=4,
                          block_size=block, accuracy_level=level)
        integers = ", level 4" if level == 4 else ""
        yield net.case("4-bit products", f"{rows}x{depth}x{cols}, blocks of {block}{integers}", y)


def products():
    for rows, depth, cols in ((3, 100, 70), (1, 64, 10), (1, 4096, 4096), (256, 64, 1000), (1000, 16, 16), (8, 768, 768),
                              (64, 1, 64), (1, 1, 1)):
        net = Net()
        yield net.case("float products, wider", f"{rows}x{depth}x{cols}",
                       net.node("MatMul", net.input("f32", rows, depth), net.weights("f32", depth, cols)))
        if rows * cols > 64:
            net = Net()
            yield net.case("dynamic products, wider", f"{rows}x{depth}x{cols}",
                           net.dynamic(net.input("f32", rows, depth), net.weights("s8", depth, cols)))
    for a, b in (((8, 64, 64), (8, 64, 64)), ((1, 8, 1, 64), (1, 8, 64, 300)), ((32, 10, 10), (32, 10, 10)),
                 ((256, 256), (256, 256))):
        net = Net()
        yield net.case("float products, wider", f"run time {a} x {b}",
                       net.node("MatMul", net.input("f32", *a), net.input("f32", *b)))
    for trans_a, trans_b in ((1, 0), (0, 1)):
        net = Net()
        a = (128, 64) if trans_a else (64, 128)
        b = (96, 128) if trans_b else (128, 96)
        y = net.node("Gemm", net.input("f32", *a), net.input("f32", *b), net.weights("f32", 96), transA=trans_a,
                     transB=trans_b)
        yield net.case("float products, wider", f"Gemm at run time, transA {trans_a}, transB {trans_b}", y)
    for equation, left, right in (("bchw,bcoh->bohw", (1, 16, 32, 32), (1, 16, 8, 32)), ("i,j->ij", (512,), (512,)),
                                  ("bqnh,bknh->bnqk", (1, 64, 4, 32), (1, 64, 4, 32)), ("ij,ij->i", (256, 256), (256, 256))):
        net = Net()
        yield net.case("float products, wider", f"Einsum {equation}",
                       net.node("Einsum", net.input("f32", *left), net.input("f32", *right), equation=equation))


def attentions():
    """Scores, mask and mix of given queries, keys and values."""
    for batch, count, queries, keys, size, masked in (
            (1, 8, 1, 1024, 64, False), (1, 4, 32, 32, 32, True), (8, 4, 50, 50, 32, False), (1, 6, 512, 512, 64, False),
            (1, 2, 16, 300, 40, True), (64, 3, 49, 49, 32, True)):
        net = Net()
        q, k, v = (net.input("f32", batch, count, n, size) for n in (queries, keys, keys))
        scores = net.node("MatMul", q, net.node("Transpose", k, perm=[0, 1, 3, 2]))
        scores = net.node("Mul", scores, net.constant("f32", size**-0.5))
        if masked:
            scores = net.node("Add", scores, net.input("f32", batch, 1, queries if queries == keys else 1, keys))
        y = net.node("MatMul", net.node("Softmax", scores, axis=-1), v)
        mask = ", mask" if masked else ""
        yield net.case("attention, wider", f"{batch}x{count} heads of {size}, {queries} x {keys}{mask}", y)


def byte_elements():
    group = "8-bit elements, wider"
    for shape in ((1, 24, 80, 80), (4, 33, 15, 15)):
        for name, op, attributes in (
                ("QLinearAveragePool 2x2", "QLinearAveragePool", {"kernel_shape": [2, 2], "strides": [2, 2]}),
                ("QLinearGlobalAveragePool channels last", "QLinearGlobalAveragePool", {"channels_last": 1})):
            net = Net()
            y = net.microsoft(op, *scale_args(net, net.input("u8", *shape), 0.05), net.constant("f32", 0.05),
                              net.constant("u8", 128), **attributes)
            yield net.case(group, f"{name} {shape}", y)
        net = Net()
        parts = [*scale_args(net, net.input("u8", *shape), 0.04, 120), *scale_args(net, net.input("u8", *shape), 0.05)]
        y = net.microsoft("QLinearConcat", net.constant("f32", 0.05), net.constant("u8", 128), *parts, axis=1)
        yield net.case(group, f"QLinearConcat {shape}", y)
        net = Net()
        yield net.case(group, f"QuantizeLinear {shape}", net.quantize(net.input("f32", *shape)))
        net = Net()
        yield net.case(group, f"DequantizeLinear {shape}", net.dequantize(net.input("u8", *shape)))
        net = Net()
        scales = net.constant("f32", net.random.uniform(0.01, 0.05, shape[1]))
        y = net.node("QuantizeLinear", net.input("f32", *shape), scales, net.constant("s8", np.zeros(shape[1])), axis=1)
        yield net.case(group, f"QuantizeLinear per channel {shape}", y)
        net = Net()
        yield net.case(group, f"DynamicQuantizeLinear {shape}",
                       *net.node("DynamicQuantizeLinear", net.input("f32", *shape), outputs=3))
        net = Net()
        yield net.case(group, f"Cast u8 to float {shape}", net.node("Cast", net.input("u8", *shape), to=1))
        net = Net()
        y = net.node("Clip", net.input("u8", *shape), net.constant("u8", 10), net.constant("u8", 200))
        yield net.case(group, f"Clip of u8 {shape}", y)


def all_cases() -> list[nodes.Case]:
    return [*wider_convolutions(), *per_channel_uint8(), *resized_bytes(), *antialiased(), *inner_reductions(),
            *inner_moves(), *orders(), *longer_recurrences(), *norms(), *pools(), *packed_products(), *products(),
            *attentions(), *byte_elements()]
