"""Shapes and operators beside the common ones: batches, odd channels, recurrent layers, gathers, sorting, resizing."""

import nodes
import numpy as np
from integer_cases import static_conv
from nodes import Net


def unusual_convolutions():
    for name, batch, inputs, out, image, kernel, attributes in (
            ("1x1, batch 8", 8, 64, 64, (14, 14), (1, 1), {}),
            ("3x3, 33 to 35 channels", 1, 33, 35, (28, 28), (3, 3), {"pads": [1] * 4}),
            ("1x1, 17 to 19 channels", 1, 17, 19, (28, 28), (1, 1), {}),
            ("3x3, 5 to 7 channels", 1, 5, 7, (28, 28), (3, 3), {"pads": [1] * 4}),
            ("11x11", 1, 8, 16, (32, 32), (11, 11), {"pads": [5] * 4}),
            ("15x1", 1, 16, 16, (64, 16), (15, 1), {"pads": [7, 0, 7, 0]}),
            ("depthwise 3x3, 35 channels", 1, 35, 35, (28, 28), (3, 3), {"pads": [1] * 4, "group": 35}),
            ("depthwise 3x3, batch 4", 4, 32, 32, (14, 14), (3, 3), {"pads": [1] * 4, "group": 32}),
            ("depthwise 11x11", 1, 32, 32, (28, 28), (11, 11), {"pads": [5] * 4, "group": 32}),
            ("grouped 3", 1, 48, 48, (28, 28), (3, 3), {"pads": [1] * 4, "group": 3}),
            ("1-D k3, batch 4", 4, 32, 32, (128,), (3,), {"pads": [1] * 2}),
            ("1-D k25 stride 5, 1 channel", 1, 1, 32, (2000,), (25,), {"strides": [5]}),
            ("3-D 1x1x1", 1, 32, 32, (8, 14, 14), (1, 1, 1), {}),
            ("3-D depthwise", 1, 32, 32, (8, 14, 14), (3, 3, 3), {"pads": [1] * 6, "group": 32})):
        net = Net()
        yield net.case("QLinearConv, unusual", name,
                       static_conv(net, net.input("u8", batch, inputs, *image), out, inputs, kernel, **attributes))
        net = Net()
        y = net.node("Conv", net.input("f32", batch, inputs, *image),
                     net.weights("f32", out, inputs // attributes.get("group", 1), *kernel), **attributes)
        yield net.case("float Conv, unusual", name, y)


def transposed_convolutions():
    for name, inputs, out, image, kernel, attributes in (
            ("2x2 stride 2", 32, 16, (28, 28), (2, 2), {"strides": [2, 2]}),
            ("4x4 stride 2", 32, 16, (28, 28), (4, 4), {"strides": [2, 2], "pads": [1] * 4}),
            ("3x3 dilation 2", 16, 16, (28, 28), (3, 3), {"dilations": [2, 2]}),
            ("3x3 group 16", 16, 16, (28, 28), (3, 3), {"strides": [2, 2], "group": 16}),
            ("1-D k16 stride 8", 32, 16, (64,), (16,), {"strides": [8]})):
        for kind in ("float", "QDQ"):
            net = Net()
            x = net.input("f32", 1, inputs, *image)
            shape = (inputs, out // attributes.get("group", 1), *kernel)
            if kind == "float":
                y = net.node("ConvTranspose", x, net.weights("f32", *shape), **attributes)
            else:
                y = net.fake(net.node("ConvTranspose", net.fake(x), net.integer_weights(*shape), **attributes), 0.3)
            yield net.case(f"ConvTranspose, {kind}", name, y)


def recurrent_layers():
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for steps, width, hidden in ((1, 64, 64), (16, 64, 128), (50, 40, 32)):
            net = Net()
            y = net.node(op, net.input("f32", steps, 1, width), net.weights("f32", 1, gates * hidden, width),
                         net.weights("f32", 1, gates * hidden, hidden), hidden_size=hidden)
            yield net.case("recurrent", f"{op} {steps}x{width}, {hidden} hidden", y)


def indices(net: Net, high: int, *shape: int) -> str:
    return net.constant("s64", net.random.integers(0, high, shape))


def moves_by_index():
    def gather_rows(net):
        return net.node("Gather", net.input("f32", 2000, 64), indices(net, 2000, 512), axis=0)

    def gather_late(net):
        table = net.weights("f32", 2000, 64)
        return net.node("Gather", table, net.late("s64", net.random.integers(0, 2000, 512)), axis=0)

    def gather_columns(net):
        return net.node("Gather", net.input("f32", 512, 128), indices(net, 128, 64), axis=1)

    def gather_elements(net):
        x = net.input("f32", 256, 128)
        return net.node("GatherElements", x, net.late("s64", net.random.integers(0, 256, (64, 128))), axis=0)

    def gather_nd(net):
        x = net.input("f32", 64, 64, 32)
        return net.node("GatherND", x, net.late("s64", net.random.integers(0, 64, (256, 2))))

    def scatter_nd(net):
        x, rows = net.input("f32", 512, 64), net.late("s64", net.random.permutation(512)[:128].reshape(128, 1))
        return net.node("ScatterND", x, rows, net.input("f32", 128, 64))

    def scatter_elements(net):
        x, where = net.input("f32", 256, 64), net.late("s64", net.random.integers(0, 256, (64, 64)))
        return net.node("ScatterElements", x, where, net.input("f32", 64, 64), axis=0, reduction="add")

    def one_hot(net):
        return net.node("OneHot", net.late("s64", net.random.integers(0, 100, 256)), net.constant("s64", 100),
                        net.constant("f32", [0, 1]))

    def where(net):
        x = net.input("f32", 4, 128, 128)
        mask = net.node("Greater", net.input("f32", 1, 128, 128), net.constant("f32", 0))
        return net.node("Where", mask, x, net.constant("f32", -1e4))
    for make in (gather_rows, gather_late, gather_columns, gather_elements, gather_nd, scatter_nd, scatter_elements,
                 one_hot, where):
        net = Net()
        yield net.case("moves by index", make.__name__, make(net))


def orders_and_sums():
    for axis, shape in ((1, (64, 512)), (0, (512, 64))):
        net = Net()
        yield net.case("orders and sums", f"CumSum axis {axis} {shape}",
                       net.node("CumSum", net.input("f32", *shape), net.constant("s64", axis)))
    for count, shape in ((5, (1, 1000)), (10, (64, 256)), (100, (1, 8400))):
        net = Net()
        values = net.node("TopK", net.input("f32", *shape), net.constant("s64", [count]), outputs=2, axis=-1)
        yield net.case("orders and sums", f"TopK {count} of {shape}", *values)
    for equation, left, right in (("bhid,bhjd->bhij", (1, 4, 64, 32), (1, 4, 64, 32)),
                                  ("bij,bjk->bik", (4, 64, 64), (4, 64, 64)), ("ij,j->i", (256, 256), (256,))):
        net = Net()
        y = net.node("Einsum", net.input("f32", *left), net.input("f32", *right), equation=equation)
        yield net.case("orders and sums", f"Einsum {equation}", y)
    for op in ("ReduceSum", "ReduceMax"):
        net = Net()
        x = net.input("f32", 32, 64, 49)
        if op == "ReduceSum":
            y = net.node(op, x, net.constant("s64", [1]), keepdims=1)
        else:
            y = net.node(op, x, axes=[1], keepdims=1)
        yield net.case("orders and sums", f"{op} of the middle axis (32, 64, 49)", y)


def resizing():
    for mode in ("nearest", "linear", "cubic"):
        for scale in (2.0, 1.5, 0.5):
            net = Net()
            y = net.node("Resize", net.input("f32", 1, 16, 32, 32), "", net.constant("f32", [1, 1, scale, scale]),
                         mode=mode)
            yield net.case("float Resize", f"{mode} x {scale}", y)
    net = Net()
    y = net.node("DepthToSpace", net.input("f32", 1, 64, 32, 32), blocksize=2)
    yield net.case("float Resize", "DepthToSpace", y)


def normalizations():
    for channels, groups, size in ((64, 8, 16), (32, 32, 28)):
        net = Net()
        x = net.input("f32", 1, channels, size, size)
        flat = net.node("Reshape", x, net.constant("s64", [0, groups, -1]))
        flat = net.node("InstanceNormalization", flat, net.constant("f32", np.ones(groups)),
                        net.constant("f32", np.zeros(groups)))
        y = net.node("Reshape", flat, net.constant("s64", [1, channels, size, size]))
        y = net.node("Add", net.node("Mul", y, net.weights("f32", channels, 1, 1)), net.weights("f32", channels, 1, 1))
        yield net.case("normalizations", f"group of {groups}, {channels}x{size}x{size}", y)
    net = Net()
    x = net.input("f32", 128, 256)
    mean = net.node("ReduceMean", net.node("Mul", x, x), axes=[-1], keepdims=1)
    root = net.node("Sqrt", net.node("Add", mean, net.constant("f32", 1e-5)))
    y = net.node("Mul", net.node("Div", x, root), net.weights("f32", 256))
    yield net.case("normalizations", "RMS (128, 256)", y)
    net = Net()
    x = net.input("f32", 1, 64, 28, 28)
    y = net.node("BatchNormalization", x, *[net.constant("f32", np.abs(net.values("f32", 64)) + 0.1) for _ in range(4)])
    yield net.case("normalizations", "batch 64x28x28", y)
    net = Net()
    y = net.node("LpNormalization", net.input("f32", 1, 64, 28, 28), axis=1)
    yield net.case("normalizations", "Lp 1x64x28x28", y)
    for axis, shape in ((1, (1, 21, 64, 64)), (-1, (1024, 8)), (-1, (4, 1, 64))):
        net = Net()
        yield net.case("normalizations", f"Softmax axis {axis} {shape}", net.node("Softmax", net.input("f32", *shape),
                                                                               axis=axis))


def decoding():
    """One token of a decoder with its cache."""
    for heads, past, size in ((4, 127, 64), (8, 511, 64), (1, 63, 32)):
        net = Net()
        q = net.input("f32", 1, heads, 1, size)
        keys = net.node("Concat", net.input("f32", 1, heads, past, size), net.input("f32", 1, heads, 1, size), axis=2)
        values = net.node("Concat", net.input("f32", 1, heads, past, size), net.input("f32", 1, heads, 1, size), axis=2)
        scores = net.node("MatMul", q, net.node("Transpose", keys, perm=[0, 1, 3, 2]))
        y = net.node("MatMul", net.node("Softmax", net.node("Mul", scores, net.constant("f32", size**-0.5)), axis=-1),
                     values)
        yield net.case("decoding", f"attention, {heads} heads of {size}, {past} in the cache", y, keys, values)
    for rows, depth, cols in ((1, 512, 2048), (1, 2048, 512), (1, 384, 8000), (4, 512, 512)):
        net = Net()
        yield net.case("decoding", f"dynamic dense {rows}x{depth}x{cols}",
                       net.dynamic(net.input("f32", rows, depth), net.weights("s8", depth, cols)))


def all_cases() -> list[nodes.Case]:
    return [*unusual_convolutions(), *transposed_convolutions(), *recurrent_layers(), *moves_by_index(),
            *orders_and_sums(), *resizing(), *normalizations(), *decoding()]
