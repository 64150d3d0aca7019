"""Layers over single elements, rows and windows, of 8 bits and of floats."""

import nodes
import numpy as np
from nodes import Net

SIZES = [(1, 32, 64, 64), (1, 96, 14, 14)]


def scale_args(net: Net, x: str, scale: float, zero: int = 128) -> tuple[str, str, str]:
    return x, net.constant("f32", scale), net.constant("u8", zero)


def quantized_binary():
    for op in ("QLinearAdd", "QLinearMul"):
        for shape in SIZES:
            n, c, h, w = shape
            for name, other in (("same shape", shape), ("a vector of channels", (n, c, 1, 1)), ("a scalar", (1,)),
                                ("an image", (1, 1, h, w)), ("a row", (w,))):
                net = Net()
                a, b = net.input("u8", *shape), net.input("u8", *other)
                y = net.microsoft(op, *scale_args(net, a, 0.02), *scale_args(net, b, 0.01),
                                  net.constant("f32", 0.03), net.constant("u8", 128))
                yield net.case(op, f"{shape} and {name}", y)


def quantized_unary():
    for shape in SIZES:
        for op in ("QLinearSigmoid", "QLinearLeakyRelu"):
            net = Net()
            x = net.input("u8", *shape)
            y = net.microsoft(op, *scale_args(net, x, 0.05), net.constant("f32", 0.01), net.constant("u8", 0))
            yield net.case("8-bit functions", f"{op} {shape}", y)
        net = Net()
        x = net.input("u8", *shape)
        y = net.microsoft("QLinearGlobalAveragePool", *scale_args(net, x, 0.05), net.constant("f32", 0.05),
                          net.constant("u8", 128), channels_last=0)
        yield net.case("8-bit pools", f"global average {shape}", y)
        for kernel, stride in ((2, 2), (3, 1), (3, 2)):
            pads = [kernel // 2] * 4 if kernel == 3 else [0] * 4
            net = Net()
            y = net.node("MaxPool", net.input("u8", *shape), kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads)
            yield net.case("8-bit pools", f"maximum {kernel}x{kernel} stride {stride} {shape}", y)
            net = Net()
            y = net.microsoft("QLinearAveragePool", *scale_args(net, net.input("u8", *shape), 0.05),
                              net.constant("f32", 0.05), net.constant("u8", 128), kernel_shape=[kernel] * 2,
                              strides=[stride] * 2, pads=pads)
            yield net.case("8-bit pools", f"average {kernel}x{kernel} stride {stride} {shape}", y)
        for function in ("Sigmoid", "HardSwish", "Tanh", "Relu", "Erf"):
            net = Net()
            x = net.dequantize(net.input("u8", *shape))
            yield net.case("8-bit functions", f"QDQ {function} {shape}", net.quantize(net.node(function, x)))
    for rows, columns in ((512, 128), (49, 49), (1, 1000)):
        net = Net()
        x = net.input("u8", rows, columns)
        y = net.microsoft("QLinearSoftmax", *scale_args(net, x, 0.05), net.constant("f32", 1 / 256),
                          net.constant("u8", 0), axis=-1, opset=13)
        yield net.case("8-bit softmax", f"{rows}x{columns}", y)


def moves():
    for kind in ("u8", "f32"):
        group = f"moves {kind}"
        for shape in SIZES:
            for perm in ((0, 2, 3, 1), (0, 3, 1, 2), (0, 1, 3, 2), (0, 2, 1, 3)):
                net = Net()
                yield net.case(group, f"Transpose {perm} {shape}", net.node("Transpose", net.input(kind, *shape),
                                                                            perm=list(perm)))
            net = Net()
            yield net.case(group, f"Concat {shape}", net.node("Concat", net.input(kind, *shape),
                                                              net.input(kind, *shape), axis=1))
            net = Net()
            y = net.node("Slice", net.input(kind, *shape), net.constant("s64", [0, 2]), net.constant("s64", [14, 12]),
                         net.constant("s64", [1, 2]))
            yield net.case(group, f"Slice {shape}", y)
            net = Net()
            y = net.node("Pad", net.input(kind, *shape), net.constant("s64", [0, 0, 1, 1, 0, 0, 1, 1]))
            yield net.case(group, f"Pad {shape}", y)
            for mode in ("nearest", "linear"):
                net = Net()
                y = net.node("Resize", net.input(kind, *shape), "", net.constant("f32", [1, 1, 2, 2]), mode=mode,
                             coordinate_transformation_mode="asymmetric")
                yield net.case(group, f"Resize {mode} {shape}", y)
            net = Net()
            yield net.case(group, f"DepthToSpace {shape}", net.node("DepthToSpace", net.input(kind, *shape), blocksize=2))
        net = Net()
        y = net.node("Gather", net.weights(kind, 1000, 64), net.constant("s64", np.arange(128) * 7 % 1000))
        yield net.case(group, "Gather 128 rows of 64", net.node("Concat", y, net.input(kind, 1, 64), axis=0))
        net = Net()
        yield net.case(group, "Expand (1, 64, 1) to (32, 64, 32)",
                       net.node("Expand", net.input(kind, 1, 64, 1), net.constant("s64", [32, 64, 32])))


UNARY = ["Exp", "Erf", "Tanh", "Sigmoid", "Log", "Sqrt", "Relu", "HardSwish", "HardSigmoid", "Softplus", "Abs", "Neg",
         "Reciprocal", "Floor", "Round", "Elu", "LeakyRelu", "Gelu"]


def float_elements():
    for op in UNARY:
        for count in (65536, 4096):
            net = Net()
            x = net.input("f32", count)
            if op in ("Log", "Sqrt"):
                net.feeds["x0"] = np.abs(net.feeds["x0"]) + np.float32(0.01)
            y = net.microsoft(op, x) if op == "Gelu" else net.node(op, x)
            yield net.case("float functions", f"{op} {count}", y)
    for op in ("Add", "Mul", "Sub", "Div", "Min", "Max", "Pow"):
        for name, other in (("same shape", (1, 64, 32, 32)), ("channels", (1, 64, 1, 1)), ("a scalar", ()),
                            ("a row", (32,))):
            net = Net()
            a, b = net.input("f32", 1, 64, 32, 32), net.input("f32", *other)
            if op == "Pow":
                net.feeds[a] = np.abs(net.feeds[a]) + np.float32(0.01)
            yield net.case("float arithmetic", f"{op}, {name}", net.node(op, a, b))
    for name, make in (("Clip", lambda n, x: n.node("Clip", x, n.constant("f32", 0), n.constant("f32", 6))),
                       ("PRelu", lambda n, x: n.node("PRelu", x, n.weights("f32", 64, 1, 1))),
                       ("Cast", lambda n, x: n.node("Cast", x, to=6)),
                       ("QuantizeLinear", lambda n, x: n.quantize(x)),
                       ("DynamicQuantizeLinear", lambda n, x: n.node("DynamicQuantizeLinear", x, outputs=3)[0]),
                       ("Greater, Where", lambda n, x: n.node("Where", n.node("Greater", x, n.constant("f32", 0)), x,
                                                              n.constant("f32", 1)))):
        net = Net()
        yield net.case("float elements", name, make(net, net.input("f32", 1, 64, 32, 32)))
    net = Net()
    yield net.case("float elements", "DequantizeLinear", net.dequantize(net.input("u8", 1, 64, 32, 32)))


def float_rows():
    for shape in ((128, 256), (512, 128), (1, 1000), (197, 768)):
        for op in ("Softmax", "LogSoftmax"):
            net = Net()
            yield net.case("float rows", f"{op} {shape}", net.node(op, net.input("f32", *shape), axis=-1))
        net = Net()
        y = net.node("LayerNormalization", net.input("f32", *shape), net.weights("f32", shape[1]),
                     net.weights("f32", shape[1]), axis=-1)
        yield net.case("float rows", f"LayerNormalization {shape}", y)
        for op in ("ReduceMean", "ReduceMax", "ReduceL2"):
            net = Net()
            yield net.case("float rows", f"{op} {shape}", net.node(op, net.input("f32", *shape), axes=[-1], keepdims=1))
        net = Net()
        yield net.case("float rows", f"ArgMax {shape}", net.node("ArgMax", net.input("f32", *shape), axis=-1))
        net = Net()
        yield net.case("float rows", f"ReduceMean axis 0 {shape}", net.node("ReduceMean", net.input("f32", *shape),
                                                                          axes=[0], keepdims=1))
    for shape in SIZES:
        channels = shape[1]
        net = Net()
        y = net.node("InstanceNormalization", net.input("f32", *shape), net.weights("f32", channels),
                     net.weights("f32", channels))
        yield net.case("float images", f"InstanceNormalization {shape}", y)
        for op in ("GlobalAveragePool", "GlobalMaxPool"):
            net = Net()
            yield net.case("float images", f"{op} {shape}", net.node(op, net.input("f32", *shape)))
        for op in ("MaxPool", "AveragePool"):
            net = Net()
            yield net.case("float images", f"{op} 3x3 {shape}", net.node(op, net.input("f32", *shape),
                                                                       kernel_shape=[3, 3], pads=[1] * 4))
        for group in (1, channels):
            net = Net()
            y = net.node("Conv", net.input("f32", *shape), net.weights("f32", channels, channels // group, 3, 3),
                         pads=[1] * 4, group=group)
            yield net.case("float images", f"Conv 3x3 group {group} {shape}", y)


def all_cases() -> list[nodes.Case]:
    return [*quantized_binary(), *quantized_unary(), *moves(), *float_elements(), *float_rows()]
