"""Siblings of cases in the other files: other types, axes, modes, exponents and rarely used functions."""

import nodes
import numpy as np
from nodes import Net

PLACES = [((0,), (64, 1024)), ((1,), (16, 64, 64)), ((-1,), (64, 1024)), ((1, 2), (16, 64, 64)), ((0, 2), (16, 64, 64)),
          ((2, 3), (1, 64, 28, 28)), ((0, 1, 2), (8, 16, 128))]


def reduction(net: Net, op: str, kind: str, axes: tuple[int, ...], shape: tuple[int, ...]) -> str:
    x = net.input(kind, *shape)
    if op == "ReduceSum":
        return net.node(op, x, net.constant("s64", axes), keepdims=0)
    return net.node(op, x, axes=list(axes), keepdims=0)


def reductions():
    ops = {"ReduceSum": ("f32", "s32", "s64", "f16"), "ReduceMin": ("f32", "s8", "u8", "s32", "s64", "f16"),
           "ReduceMax": ("s8", "u8", "s32", "f16"), "ReduceMean": ("f16", "s32"), "ReduceProd": ("f32", "s32"),
           "ReduceL1": ("f32",), "ReduceL2": ("f32",), "ReduceSumSquare": ("f32",), "ReduceLogSum": ("f32",),
           "ReduceLogSumExp": ("f32",)}
    for op, kinds in ops.items():
        for kind in kinds:
            for axes, shape in PLACES:
                net = Net()
                yield net.case("reductions, siblings", f"{op} {list(axes)} of {kind} {shape}",
                               reduction(net, op, kind, axes, shape))


def extreme_places():
    for op in ("ArgMax", "ArgMin"):
        for kind in ("f32", "u8", "s8", "s32", "f16"):
            for axis, shape in ((0, (64, 1024)), (1, (16, 64, 64)), (-1, (64, 1024)), (-1, (1000, 10))):
                net = Net()
                yield net.case("positions", f"{op} axis {axis} of {kind} {shape}",
                               net.node(op, net.input(kind, *shape), axis=axis))


def running_sums():
    for kind in ("f32", "s32", "s64"):
        for axis, shape in ((0, (64, 256)), (1, (16, 64, 32)), (-1, (64, 256)), (-1, (1, 20000))):
            net = Net()
            yield net.case("running sums", f"CumSum axis {axis} of {kind} {shape}",
                           net.node("CumSum", net.input(kind, *shape), net.constant("s64", axis)))
    for extra in ({"exclusive": 1}, {"reverse": 1}):
        net = Net()
        y = net.node("CumSum", net.input("f32", 64, 256), net.constant("s64", 1), **extra)
        yield net.case("running sums", f"CumSum {' '.join(extra)}", y)


SMALL = ["Asin", "Acos", "Atanh"]  # of numbers below 1
RARE = ["Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", *SMALL, "Sign", "Ceil", "Celu", "Selu", "Softsign",
        "ThresholdedRelu", "Not", "IsNaN", "IsInf", "Mish", "BitShift"]


def rare_function(net: Net, op: str, count: int):
    if op == "Not":
        return net.node("Not", net.node("Greater", net.input("f32", count), net.constant("f32", 0)))
    if op == "BitShift":
        return net.node(op, net.input("u8", count), net.constant("u8", 2), direction="LEFT")
    x = net.input("f32", count)
    if op in SMALL:
        net.feeds[x] = np.tanh(net.feeds[x])
    elif op == "Acosh":
        net.feeds[x] = np.abs(net.feeds[x]) + np.float32(1)
    if op == "Mish":
        return net.node("Mul", x, net.node("Tanh", net.node("Softplus", x)))
    return net.node(op, x)


def rare_functions():
    for op in RARE:
        for count in (16384, 500):
            net = Net()
            yield net.case("rare functions", f"{op} {count}", rare_function(net, op, count))
    for exponent in (2, 3, 0.5, -0.5, -1, 4, 1.5, 2.4, 0):
        net = Net()
        x = net.input("f32", 16384)
        net.feeds[x] = np.abs(net.feeds[x]) + np.float32(0.01)
        yield net.case("rare functions", f"Pow {exponent}", net.node("Pow", x, net.constant("f32", exponent)))


def integer_arithmetic():
    for kind in ("s32", "s64", "u8", "s8"):
        for op in ("Add", "Mul", "Sub", "Div", "Mod", "Min", "Max", "Pow", "Equal", "Less"):
            if kind in ("u8", "s8") and op == "Pow":
                continue
            net = Net()
            a, b = net.input(kind, 64, 256), net.input(kind, 256)
            if op in ("Div", "Mod", "Pow"):
                net.feeds[b] = net.random.integers(1, 5, 256).astype(net.feeds[b].dtype)
            yield net.case("integer arithmetic", f"{op} of {kind}, a row", net.node(op, a, b))
    net = Net()
    yield net.case("integer arithmetic", "Mod of f32",
                   net.node("Mod", net.input("f32", 64, 256), net.constant("f32", 0.7), fmod=1))
    for source, target in (("f32", "s64"), ("s64", "f32"), ("f32", "s8"), ("s32", "f32"), ("f16", "f32"), ("f32", "f16"),
                           ("s64", "s32"), ("u8", "s32"), ("f32", "bool")):
        net = Net()
        to = 9 if target == "bool" else nodes.TYPES[target][0]
        yield net.case("integer arithmetic", f"Cast {source} to {target}",
                       net.node("Cast", net.input(source, 16384), to=to))
    for op in ("Neg", "Abs", "Sign"):
        for kind in ("s32", "s64", "s8"):
            net = Net()
            yield net.case("integer arithmetic", f"{op} of {kind}", net.node(op, net.input(kind, 16384)))


def half_floats():
    for op in ("Add", "Mul", "Exp", "Sigmoid", "Softmax", "Sqrt", "Relu", "Tanh"):
        net = Net()
        x = net.input("f16", 64, 256)
        y = net.node(op, x, net.input("f16", 64, 256)) if op in ("Add", "Mul") else net.node(op, x)
        yield net.case("half floats", op, y)


def spectra():
    for size, shape in ((256, (1, 4, 256, 1)), (512, (1, 1, 512, 1)), (400, (1, 8, 400, 1))):
        net = Net()
        yield net.case("spectra", f"DFT {shape}", net.node("DFT", net.input("f32", *shape), axis=2, onesided=1))
    for frame, step, length in ((256, 128, 4000), (400, 160, 16000)):
        net = Net()
        y = net.node("STFT", net.input("f32", 1, length, 1), net.constant("s64", step),
                     net.constant("f32", np.hanning(frame)), net.constant("s64", frame), onesided=1)
        yield net.case("spectra", f"STFT frames of {frame} every {step}", y)


def selections(net: Net, kind: str):
    def x(*shape):
        return net.input(kind, *shape)

    def longs(*values):
        return net.constant("s64", values)

    def mask(*shape):
        return net.node("Greater", net.input("f32", *shape), net.constant("f32", 0))

    def late(high, *shape):
        return net.late("s64", net.random.integers(0, high, shape))
    yield "Where, mask of a row", lambda: net.node("Where", mask(256), x(64, 256), x(64, 256))
    yield "Where, mask of a column", lambda: net.node("Where", mask(64, 1), x(64, 256), x(64, 256))
    yield "Where, scalars", lambda: net.node("Where", mask(64, 256), net.constant(kind, 1), net.constant(kind, 0))
    yield "Where, images", lambda: net.node("Where", mask(1, 1, 32, 32), x(1, 16, 32, 32), x(1, 16, 1, 1))
    yield "Gather axis 2", lambda: net.node("Gather", x(1, 16, 32, 32), late(32, 20), axis=2)
    yield "Gather of one", lambda: net.node("Gather", x(1, 197, 192), net.constant("s64", 0), axis=1)
    yield "Gather of single elements", lambda: net.node("Gather", x(1000), late(1000, 4000), axis=0)
    yield "GatherElements axis 0", lambda: net.node("GatherElements", x(256, 64), late(256, 64, 64), axis=0)
    yield "GatherElements axis 1 of 3", lambda: net.node("GatherElements", x(8, 64, 32), late(64, 8, 20, 32), axis=1)
    yield "GatherND of elements", lambda: net.node("GatherND", x(64, 64), late(64, 1000, 2))
    yield "ScatterElements of the last axis", lambda: net.node("ScatterElements", x(64, 256), late(256, 64, 64),
                                                              x(64, 64), axis=1)
    yield "ScatterND of elements", lambda: net.node("ScatterND", x(64, 64), late(64, 500, 2), x(500))
    yield "ScatterND of images", lambda: net.node("ScatterND", x(8, 16, 16, 16), late(8, 3, 1), x(3, 16, 16, 16))
    yield "Slice backwards", lambda: net.node("Slice", x(16, 64, 64), longs(-1), longs(-1000), longs(2), longs(-1))
    yield "Slice step 2, last axis", lambda: net.node("Slice", x(16, 64, 64), longs(0), longs(64), longs(2), longs(2))
    yield "Slice step 2, first axis", lambda: net.node("Slice", x(64, 64, 16), longs(0), longs(64), longs(0), longs(2))
    yield "Slice of the last axis", lambda: net.node("Slice", x(256, 64), longs(8), longs(40), longs(1))
    yield "Pad edge", lambda: net.node("Pad", x(1, 16, 32, 32), longs(0, 0, 2, 2, 0, 0, 2, 2), mode="edge")
    yield "Pad of channels", lambda: net.node("Pad", x(1, 32, 32, 24), longs(0, 0, 0, 0, 0, 0, 0, 8))
    yield "Pad of the last axis", lambda: net.node("Pad", x(1, 16, 4000), longs(0, 0, 3, 0, 0, 3))
    yield "Pad reflect of a row", lambda: net.node("Pad", x(1, 1, 16000), longs(0, 0, 200, 0, 0, 200), mode="reflect")
    yield "Tile of the last axis", lambda: net.node("Tile", x(256, 10), longs(1, 6))
    yield "Tile of the first axis", lambda: net.node("Tile", x(1, 64, 32), longs(16, 1, 1))
    yield "Tile of elements", lambda: net.node("Tile", x(256, 1), longs(1, 100))
    yield "Expand rows", lambda: net.node("Expand", x(1, 256), longs(128, 256))
    yield "Expand columns", lambda: net.node("Expand", x(128, 1), longs(128, 256))
    yield "Expand heads", lambda: net.node("Expand", x(1, 2, 1, 64, 32), longs(1, 2, 4, 64, 32))
    yield "Concat of 2 on the last axis, odd", lambda: net.node("Concat", x(300, 5), x(300, 7), axis=1)
    yield "Concat of 2 on the last axis", lambda: net.node("Concat", x(64, 128), x(64, 64), axis=1)
    yield "Concat of 8 on the first axis", lambda: net.node("Concat", *[x(1, 500) for _ in range(8)], axis=0)
    yield "Stack of 4 columns", lambda: net.node("Concat", *[x(1000, 1) for _ in range(4)], axis=1)
    yield "Transpose (1, 0) of (100, 80)", lambda: net.node("Transpose", x(100, 80), perm=[1, 0])
    yield "Transpose (1, 0) of (1000, 3)", lambda: net.node("Transpose", x(1000, 3), perm=[1, 0])
    yield "Transpose (2, 1, 0)", lambda: net.node("Transpose", x(20, 30, 40), perm=[2, 1, 0])
    yield "Transpose, batch first", lambda: net.node("Transpose", x(50, 4, 64), perm=[1, 0, 2])
    yield "Transpose of windows", lambda: net.node("Transpose", x(1, 4, 7, 4, 7, 96), perm=[0, 1, 3, 2, 4, 5])
    yield "Transpose of patches", lambda: net.node("Transpose", x(1, 3, 8, 16, 8, 16), perm=[0, 2, 4, 1, 3, 5])
    yield "Transpose, shuffle", lambda: net.node("Transpose", x(1, 2, 58, 28, 28), perm=[0, 2, 1, 3, 4])
    yield "Split in 3 of the last axis", lambda: net.node("Split", x(64, 192), axis=1, outputs=3)[1]
    yield "Trilu", lambda: net.node("Trilu", x(64, 64), upper=0)
    yield "Range of Unsqueeze and Equal", lambda: net.node("Equal", x(64, 1), x(1, 64))


def moves():
    for kind in ("u8", "f32", "s64", "f16"):
        for name in [one for one, _ in selections(Net(), kind)]:
            if kind == "f16" and name.startswith(("Trilu", "Range")):
                continue
            net = Net()
            yield net.case(f"selections {kind}", name, dict(selections(net, kind))[name]())


def images():
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            net = Net()
            grid = net.late("f32", net.random.uniform(-1.1, 1.1, (1, 32, 32, 2)))
            y = net.node("GridSample", net.input("f32", 1, 16, 32, 32), grid, mode=mode, padding_mode=padding)
            yield net.case("sampling", f"GridSample {mode} {padding}", y)
    for mode, transform in (("linear", "half_pixel"), ("linear", "align_corners"), ("cubic", "half_pixel"),
                            ("nearest", "half_pixel")):
        for sizes in ((53, 47), (64, 64), (16, 16)):
            net = Net()
            y = net.node("Resize", net.input("u8", 1, 8, 32, 32), "", "", net.constant("s64", [1, 8, *sizes]), mode=mode,
                         coordinate_transformation_mode=transform)
            yield net.case("sampling", f"Resize u8 {mode} {transform} 32x32 to {sizes}", y)
    for shape in ((4, 3), (64, 91)):
        net = Net()
        y = net.node("OneHot", net.late("s64", net.random.integers(0, shape[1], shape[0])), net.constant("s64", shape[1]),
                     net.constant("f32", [0, 1]), axis=0)
        yield net.case("sampling", f"OneHot axis 0 {shape}", y)
    for classes, boxes in ((1, 1000), (20, 200)):
        net = Net()
        corners = net.random.uniform(0, 0.8, (1, boxes, 2))
        both = net.late("f32", np.concatenate([corners, corners + net.random.uniform(0.05, 0.2, (1, boxes, 2))], 2))
        scores = net.late("f32", net.random.uniform(0, 1, (1, classes, boxes)))
        y = net.node("NonMaxSuppression", both, scores, net.constant("s64", [50]), net.constant("f32", [0.5]),
                     net.constant("f32", [0.4]))
        yield net.case("sampling", f"NonMaxSuppression {classes} x {boxes}", y)
    net = Net()
    rois = net.late("f32", net.random.uniform(0, 14, (10, 4)))
    y = net.node("RoiAlign", net.input("f32", 1, 16, 28, 28), rois, net.constant("s64", np.zeros(10)), output_height=7,
                 output_width=7, sampling_ratio=2)
    yield net.case("sampling", "RoiAlign 10 of 7x7", y)


def pools():
    for op in ("AveragePool", "MaxPool"):
        for shape, attributes in (((1, 32, 56, 56), {"kernel_shape": [2, 2], "strides": [2, 2]}),
                                  ((1, 32, 56, 56), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}),
                                  ((1, 32, 28, 28), {"kernel_shape": [5, 5], "strides": [1, 1], "pads": [2] * 4}),
                                  ((1, 32, 1000), {"kernel_shape": [4], "strides": [4]}),
                                  ((1, 32, 1000), {"kernel_shape": [25], "strides": [1], "pads": [12] * 2}),
                                  ((4, 16, 14, 14), {"kernel_shape": [3, 3], "pads": [1] * 4}),
                                  ((1, 64, 8, 8), {"kernel_shape": [8, 8]})):
            net = Net()
            name = f"{op} {shape} {attributes['kernel_shape']} {'pads' in attributes}"
            yield net.case("pools, siblings", name, net.node(op, net.input("f32", *shape), **attributes))
    net = Net()
    y = net.node("AveragePool", net.input("f32", 1, 32, 28, 28), kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=1)
    yield net.case("pools, siblings", "AveragePool that counts its border", y)


def orders():
    for count, kind, shape, axis, extra in (
            (5, "f32", (1, 80), -1, {}), (1, "f32", (64, 1000), -1, {}), (10, "f32", (8, 1000), -1, {"largest": 0}),
            (50, "f32", (4, 1000), -1, {}), (10, "s64", (8, 1000), -1, {}), (10, "s32", (8, 1000), -1, {}),
            (100, "f32", (100, 100), -1, {}), (3, "f32", (16, 64, 16), 1, {}), (20, "f32", (1, 50000), -1, {}),
            (10, "f32", (8, 1000), -1, {"sorted": 0}), (2, "f32", (128, 8), -1, {})):
        net = Net()
        words = "".join(f", {name} {value}" for name, value in extra.items())
        y = net.node("TopK", net.input(kind, *shape), net.constant("s64", [count]), outputs=2, axis=axis, **extra)
        yield net.case("orders, siblings", f"TopK {count} of {kind} {shape}, axis {axis}{words}", *y)
    for equation, left, right in (("bnqd,bnkd->bnqk", (2, 4, 32, 16), (2, 4, 32, 16)), ("bij,bjd->bid", (8, 32, 32), (8, 32, 16)),
                                  ("nchw,nc->nhw", (1, 32, 28, 28), (1, 32)), ("bi,bj->bij", (16, 64), (16, 64)),
                                  ("ij,ij->", (64, 64), (64, 64)), ("abc,cd->abd", (4, 16, 64), (64, 32))):
        net = Net()
        y = net.node("Einsum", net.input("f32", *left), net.input("f32", *right), equation=equation)
        yield net.case("orders, siblings", f"Einsum {equation}", y)


def elements_of_floats():
    """Broadcasts of arithmetic that the first map has not."""
    for op in ("Add", "Mul", "Div", "Greater"):
        for left, right in (((4, 64, 196), (4, 64, 1)), ((64, 1), (1, 256)), ((1, 16, 32, 32), (1, 1, 32, 1)),
                            ((8, 50, 1, 16), (8, 1, 50, 16)), ((7, 33), (7, 33)), ((1,), (100,))):
            net = Net()
            yield net.case("broadcasts", f"{op} {left} and {right}",
                           net.node(op, net.input("f32", *left), net.input("f32", *right)))
    for op in ("Sum", "Mean", "Max", "Min"):
        net = Net()
        yield net.case("broadcasts", f"{op} of 4", net.node(op, *[net.input("f32", 64, 256) for _ in range(4)]))
    for op in ("And", "Or", "Xor"):
        net = Net()
        masks = [net.node("Greater", net.input("f32", 64, 256), net.constant("f32", 0)) for _ in range(2)]
        yield net.case("broadcasts", op, net.node(op, *masks))


def all_cases() -> list[nodes.Case]:
    return [*reductions(), *extreme_places(), *running_sums(), *rare_functions(), *integer_arithmetic(), *half_floats(),
            *spectra(), *moves(), *images(), *pools(), *orders(), *elements_of_floats()]
