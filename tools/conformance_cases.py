"""The cases of tools/conformance.py, by feature. Everything follows from the case's name (its seed)."""

import dataclasses
import itertools
import zlib

import numpy as np

U8, S8 = np.uint8, np.int8
NHWC = "com.ms.internal.nhwc"
LETTER = {"u": U8, "s": S8}


@dataclasses.dataclass
class Conv:
    """One QLinearConv, ConvInteger or QLinearConvTranspose with its data; arrays as the operator takes them."""

    op: str
    x: np.ndarray
    w: np.ndarray
    x_zero_point: np.ndarray
    w_zero_point: np.ndarray
    x_scale: np.ndarray = None  # None, like the rest: ConvInteger
    w_scale: np.ndarray = None
    y_scale: np.ndarray = None
    y_zero_point: np.ndarray = None
    bias: np.ndarray = None
    attributes: dict = dataclasses.field(default_factory=dict)
    domain: str = ""
    import_version: int = 1  # of the domain; 0: not imported
    opset: int = 13
    known: str = "constants"  # all but x; "x-at-run-time": x's parameters too; "run-time": nothing is constant

    def arguments(self):
        if self.op == "ConvInteger":
            names = ("x", "w", "x_zero_point", "w_zero_point")
        else:
            names = ("x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale", "y_zero_point", "bias")
        return [(name, getattr(self, name)) for name in names]

    def y_dtype(self):
        return np.dtype(np.int32) if self.op == "ConvInteger" else self.y_zero_point.dtype

    def kernel(self):
        return list(self.w.shape[2:])

    def channels_last(self):
        return self.domain == NHWC or self.attributes.get("channels_last", 0) == 1

    def spatial(self):
        return list(self.x.shape[1:-1] if self.channels_last() else self.x.shape[2:])

    def strides(self):
        return list(self.attributes.get("strides", [1] * len(self.kernel())))

    def dilations(self):
        return list(self.attributes.get("dilations", [1] * len(self.kernel())))

    def group(self):
        return self.attributes.get("group", 1)


def seeded(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def data(rng, dtype, shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def near(array, zero_point, distance):
    """The same shape with values at most `distance` from the zero point."""
    info = np.iinfo(array.dtype)
    values = zero_point.astype(int) + array.astype(int) % (2 * distance + 1) - distance
    return values.clip(info.min, info.max).astype(array.dtype)


def any_zero_point(rng, dtype, shape=()):
    """Ends of the range and the middle are as likely as all the rest."""
    info = np.iinfo(dtype)
    ends = rng.choice([info.min, info.max, info.min + 128], shape)
    return np.where(rng.random(shape) < 0.5, ends, rng.integers(info.min, info.max + 1, shape)).astype(dtype)


def set_output(conv, rng, dtype, products):
    """Scale and zero point of y that spread the outputs over the range."""
    centred_x, centred_w = (np.mean(v.astype(int) - z.mean()) for v, z in
                            ((conv.x, conv.x_zero_point), (conv.w, conv.w_zero_point)))
    mean, spread = products * centred_x * centred_w, 11000.0 * np.sqrt(products)
    conv.y_scale = np.array(np.float32(float(conv.x_scale) * 0.0125 * (abs(mean) + spread) / 100))
    info = np.iinfo(dtype)
    low, high = (0, 60) if mean > spread else (195, 255) if mean < -spread else (90, 165)
    conv.y_zero_point = np.array(info.min + rng.integers(low, high + 1), dtype)


def make(name, op="QLinearConv", types="uuu", x=(1, 3, 6, 6), m=4, kernel=(3, 3), group=1, per_channel=None, bias=None,
         **changes):
    """A random case: x as N, C, spatial; types of x, w and y."""
    rng = seeded(name)
    x_type, w_type, y_type = (LETTER[letter] for letter in (types + "u")[:3])
    attributes = changes.pop("attributes", {})
    if group != 1:
        attributes = {**attributes, "group": group}
    per_channel = per_channel if per_channel is not None else (bool(rng.integers(2)), bool(rng.integers(2)))
    shape = (x[1], m // group) if op == "QLinearConvTranspose" else (m, x[1] // group)
    products = x[1] // group * int(np.prod(kernel))
    conv = Conv(op, data(rng, x_type, x), data(rng, w_type, (*shape, *kernel)), any_zero_point(rng, x_type),
                any_zero_point(rng, w_type, (m,) if per_channel[1] else ()), attributes=attributes)
    if op != "ConvInteger":
        conv.x_scale = np.array(np.float32(rng.uniform(0.005, 0.05)))
        conv.w_scale = rng.uniform(0.005, 0.02, (m,) if per_channel[0] else ()).astype(np.float32)
        if bias if bias is not None else rng.integers(2):
            conv.bias = rng.integers(-2000 * products, 2000 * products + 1, m).astype(np.int32)
        set_output(conv, rng, y_type, products)
    for field, value in changes.items():
        setattr(conv, field, value)
    if conv.channels_last():
        conv.x = np.ascontiguousarray(np.moveaxis(conv.x, 1, -1))
    return conv


ALL_TYPES = ["".join(letters) for letters in itertools.product("us", repeat=3)]
RUNTIME_TYPES = ("uuu", "usu", "sss")  # those that ONNX Runtime has


def types_of(index):
    return RUNTIME_TYPES[index % 3]


def qlinear_shapes():
    """(feature, arguments of make) of plain QLinearConv cases that ONNX Runtime runs."""
    for k, s in itertools.product((1, 2, 3, 5), (1, 2, 3)):
        yield "strides", {"kernel": (k, k), "x": (1, 2, 7, 8), "attributes": {"strides": [s, 3 - s % 3]}}
    for pads in ([0, 0, 1, 1], [1, 0, 0, 2], [2, 1, 0, 0], [0, 3, 1, 0], [2, 2, 2, 2], [5, 0, 0, 4]):
        for s in (1, 2):
            yield "pads", {"attributes": {"pads": pads, "strides": [s, s]}}
    for d in ([2, 1], [1, 2], [2, 2], [3, 1], [3, 3]):
        for s in (1, 2):
            yield "dilations", {"x": (1, 2, 8, 9), "attributes": {"dilations": d, "pads": [1, 2, 0, 1],
                                                                  "strides": [s, s]}}
    for auto in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        for k, s in itertools.product((1, 2, 3, 4), (1, 2, 3)):
            if not (auto != "VALID" and s - k >= 3):
                yield "auto_pad", {"x": (1, 2, 7, 8), "kernel": (k, 3), "attributes": {"auto_pad": auto,
                                                                                      "strides": [s, 2]}}
    for group, c, m in ((2, 4, 4), (2, 6, 2), (3, 6, 9), (4, 4, 4), (4, 4, 8), (5, 5, 15), (16, 16, 16), (3, 3, 3)):
        for s in (1, 2):
            yield "groups", {"group": group, "x": (1, c, 6, 5), "m": m, "attributes": {"pads": [1, 1, 1, 1],
                                                                                       "strides": [s, s]}}
    for k in ((1,), (2,), (5,)):
        for s in (1, 2):
            yield "1-D", {"x": (2, 3, 9), "kernel": k, "attributes": {"pads": [1, 0], "strides": [s]}}
    for k in ((1, 2, 3), (2, 2, 2), (3, 1, 3), (1, 1, 1)):
        for s in (1, 2):
            yield "3-D", {"x": (1, 2, 4, 4, 5), "kernel": k, "attributes": {"pads": [0, 1, 1, 1, 0, 1],
                                                                           "strides": [1, s, s]}}
    for n in (2, 3, 4):
        for kernel in ((1, 1), (3, 2)):
            yield "batch", {"x": (n, 3, 5, 4), "kernel": kernel}
    for c, m, k in ((4, 16, 1), (16, 16, 1), (32, 32, 1), (8, 32, 3), (12, 20, 3), (64, 24, 1), (5, 70, 1), (17, 33, 2)):
        yield "many-channels", {"x": (1, c, 5, 5), "m": m, "kernel": (k, k), "attributes": {"pads": [0] * 4}}
    for c, k in ((16, 3), (32, 3), (48, 3), (20, 5), (7, 5), (33, 2)):
        for s in (1, 2):
            yield "depthwise", {"x": (1, c, 7, 6), "m": c, "group": c, "kernel": (k, k),
                                "attributes": {"pads": [k // 2] * 4, "strides": [s, s]}}


def qlinear_cases():
    for index, (feature, arguments) in enumerate(qlinear_shapes()):
        name = f"QLinearConv/{feature}/{index}"
        yield name, make(name, types=types_of(index), **arguments), None
    for types in ALL_TYPES:
        for index in range(4):
            name = f"QLinearConv/types/{types}-{index}"
            conv = make(name, types=types, attributes={"pads": [1, 0, 1, 1]}, x=(1, 3, 5, 4))
            yield name, conv, None if types in RUNTIME_TYPES else "types"
    for index, (auto, k) in enumerate(itertools.product(("SAME_UPPER", "SAME_LOWER"), (2, 3, 4, 5))):
        name = f"QLinearConv/auto_pad-with-dilation/{index}"
        attributes = {"auto_pad": auto, "dilations": [2, 1 + index % 3], "strides": [1 + index % 2, 2]}
        yield name, make(name, types=types_of(index), x=(1, 2, 9, 8), kernel=(k, 3),
                         attributes=attributes), "same-with-dilation"
    for index, (d, s) in enumerate((([2, 1], 1), ([2, 2], 1), ([3, 2], 2), ([1, 3], 4), ([2, 2], 7), ([3, 1], 3))):
        name = f"QLinearConv/auto_pad-VALID-with-dilation/{index}"
        attributes = {"auto_pad": "VALID", "dilations": d, "strides": [s, 1 + index % 2]}
        yield name, make(name, types=types_of(index), x=(1, 2, 10, 9), kernel=(3, 2), attributes=attributes), None
    for index, (size, k, s) in enumerate(((8, 1, 4), (10, 1, 5), (12, 2, 6), (16, 1, 6), (16, 2, 8), (21, 3, 7))):
        name = f"QLinearConv/auto_pad-with-wide-stride/{index}"
        attributes = {"auto_pad": "SAME_LOWER" if index in (1, 4) else "SAME_UPPER", "strides": [s]}
        yield name, make(name, types=types_of(index), x=(1, 2, size), kernel=(k,), attributes=attributes), "same-crops"
    shapes = {"scalar": (), "one": (1,), "all": (4,)}
    for (first, scale), (second, zero) in itertools.product(shapes.items(), repeat=2):
        for types in ("uuu", "usu"):
            name = f"QLinearConv/w_scale-{first}-w_zero_point-{second}/{types}"
            rng, conv = seeded(name + "q"), make(name, types=types, x=(1, 3, 4, 4))
            conv.w_scale = rng.uniform(0.002, 0.02, scale).astype(np.float32)
            conv.w_zero_point = any_zero_point(rng, conv.w.dtype.type, zero)
            yield name, conv, None
    yield from qlinear_number_cases()
    yield from qlinear_layout_cases()


def qlinear_number_cases():
    for index in range(8):  # sums around (n + 1/2) * 2^18, where rounding them to float decides
        name = f"QLinearConv/beyond-24-bits/{index}"
        rng, conv = seeded(name), make(name, types=types_of(index), per_channel=(False, False))
        conv.x = (rng.integers(-2, 3, conv.x.shape) + conv.x_zero_point.clip(-120, 120)).astype(conv.x.dtype)
        conv.x_zero_point = conv.x_zero_point.clip(-120, 120)
        conv.w_zero_point = np.array(1, conv.w.dtype)
        conv.w = rng.integers(0, 3, conv.w.shape).astype(conv.w.dtype)
        conv.bias = ((rng.integers(64, 127, 4) * 2 + 1) << 17).astype(np.int32)
        conv.x_scale, conv.w_scale = np.array(np.float32(1)), np.array(np.float32(1))
        conv.y_scale = np.array(np.float32(2.0**18))
        conv.y_zero_point = np.array(np.iinfo(conv.y_dtype()).min + index, conv.y_dtype())
        yield name, conv, None
    for index in range(8):
        name = f"QLinearConv/wrap-around/{index}"
        conv = make(name, types=types_of(index), per_channel=(False, True))
        edge = 2**31 - seeded(name).integers(1, 60000, 4)
        conv.bias = np.where([1, 0, 1, 0], edge, -edge).astype(np.int32)
        conv.y_scale = np.array(np.float32(float(conv.x_scale) * float(conv.w_scale) * 2.0**31 / 50))
        conv.y_zero_point = np.array(np.iinfo(conv.y_dtype()).min + 128, conv.y_dtype())
        yield name, conv, None
    for index, exponent in enumerate((-78, -60, -40, -30, -20, -14, -10, -6, -3, 0, 1, 4, 8, 20)):
        name = f"QLinearConv/multipliers/{index}"
        conv = make(name, types=types_of(index), x=(1, 2, 5, 5), per_channel=(True, False))
        conv.w_scale = conv.w_scale / conv.w_scale.max()
        if exponent >= -8:  # small sums, which such multipliers spread over the range
            conv.x, conv.w, conv.bias = near(conv.x, conv.x_zero_point, 1), near(conv.w, conv.w_zero_point, 1), None
        conv.y_scale = np.array(np.float32(float(conv.x_scale) * 2.0**-exponent))
        yield name, conv, None
    for index in range(12):
        name = f"QLinearConv/ties/{index}"
        conv = make(name, types=types_of(index), per_channel=(True, True))
        conv.x_scale, conv.w_scale = np.array(np.float32(0.5)), np.float32(2.0) ** -np.arange(4, dtype=np.float32)
        conv.y_scale = np.array(np.float32(2.0 ** (8 + index % 4)))
        yield name, conv, None
    for index in range(6):
        name = f"QLinearConv/saturating-pairs/{index}"
        conv = make(name, types="usu", x=(1, 8, 4, 4), m=8 + 4 * index, kernel=(1 + index % 3,) * 2, bias=False)
        conv.x = np.maximum(conv.x, 150).astype(U8)
        conv.w[:, 0:2], conv.w[:, 2:4], conv.w[:, 4:6] = 127, -128, 90
        conv.x_zero_point, conv.w_zero_point = np.array(3, U8), np.array(0, S8)
        set_output(conv, seeded(name), U8, int(np.prod(conv.w.shape[1:])))
        yield name, conv, "avx2-saturates"


def qlinear_layout_cases():
    for index in range(12):
        name = f"QLinearConv/channels_last/{index}"
        group = (1, 1, 2, 4)[index % 4]
        conv = make(name, types=types_of(index), x=(1 + index % 2, 4, 5, 6), m=4 * (1 + index % 3), group=group,
                    domain="com.microsoft", attributes={"channels_last": 1, "pads": [index % 2] * 4,
                                                        "strides": [1 + index % 2] * 2})
        yield name, conv, None
    for index in range(6):
        name = f"QLinearConv/nhwc-domain/{index}"
        conv = make(name, types=types_of(index), x=(1, 4, 5, 4), domain=NHWC, import_version=(1, 11, 0)[index % 3],
                    attributes={"pads": [1, 0, 0, 1]})
        yield name, conv, "no-kernel"
    for index in range(9):
        name = f"QLinearConv/at-run-time/{index}"
        known = "x-at-run-time" if index % 3 == 0 else "run-time"
        yield name, make(name, types=types_of(index), known=known, attributes={"pads": [1] * 4}), None
    for index in range(6):
        name = f"QLinearConv/kernel_shape/{index}"
        kernel = (1 + index % 3, 3)
        yield name, make(name, types=types_of(index), kernel=kernel, opset=(10, 11, 14, 17, 19, 21)[index],
                         attributes={"kernel_shape": list(kernel)}), None


def integer_cases():
    for types in ("uu", "us", "su", "ss"):
        for index in range(6):
            name = f"ConvInteger/types/{types}-{index}"
            conv = make(name, "ConvInteger", types=types, per_channel=(False, False),
                        attributes={"pads": [1, 0, 0, 1], "strides": [1 + index % 2] * 2})
            yield name, conv, None
    shapes = list(qlinear_shapes())[::3]
    for index, (feature, arguments) in enumerate(shapes):
        name = f"ConvInteger/{feature}/{index}"
        yield name, make(name, "ConvInteger", types=("uu", "us", "su", "ss")[index % 4], per_channel=(False, False),
                         **arguments), None
    for index in range(8):
        name = f"ConvInteger/no-zero-points/{index}"
        conv = make(name, "ConvInteger", types=("uu", "us")[index % 2], per_channel=(False, False))
        conv.w_zero_point = None
        if index % 4 < 2:
            conv.x_zero_point = None
        conv.attributes["pads"] = [1] * 4
        yield name, conv, None
    for index in range(12):
        name = f"ConvInteger/w_zero_point-per-channel/{index}"
        conv = make(name, "ConvInteger", types=("uu", "us", "su", "ss")[index % 4], per_channel=(False, True),
                    x=(1, 4, 5, 4), group=(1, 2, 4)[index % 3], attributes={"pads": [1] * 4})
        while np.all(conv.w_zero_point == conv.w_zero_point[0]):
            conv.w_zero_point[0] += 1
        yield name, conv, "per-channel-zero-point"
    for index in range(12):
        name = f"ConvInteger/at-run-time/{index}"
        known = "x-at-run-time" if index % 2 == 0 else "run-time"
        yield name, make(name, "ConvInteger", types=("uu", "us", "su", "ss")[index % 4], known=known,
                         per_channel=(False, False), attributes={"pads": [1] * 4}), None
    for index in range(4):
        name = f"ConvInteger/auto_pad-with-dilation/{index}"
        attributes = {"auto_pad": ("SAME_UPPER", "SAME_LOWER")[index % 2], "dilations": [2, 2]}
        yield name, make(name, "ConvInteger", per_channel=(False, False), attributes=attributes), "same-with-dilation"
    name = "ConvInteger/wrap-around/0"  # 34,000 products of 255 * 255 pass 2^31
    conv = make(name, "ConvInteger", x=(1, 1, 34001), m=1, kernel=(34000,), per_channel=(False, False))
    conv.x[:], conv.w[:], conv.x_zero_point, conv.w_zero_point = 255, 255, None, None
    yield name, conv, None


def transposed_shapes():
    for k, s in itertools.product((1, 2, 3, 4), (1, 2, 3)):
        yield "strides", {"kernel": (k, k), "attributes": {"strides": [s, 1 + s % 3]}}
    for d in ([2, 1], [2, 2], [3, 2]):
        for s in (1, 2, 3):
            yield "dilations", {"attributes": {"dilations": d, "strides": [s, s]}}
    for pads in ([1, 1, 1, 1], [0, 1, 2, 0], [2, 0, 0, 1]):
        for s in (1, 2, 3):
            yield "pads", {"attributes": {"pads": pads, "strides": [s, s]}}
    for extra, s in (([1, 0], 2), ([0, 1], 2), ([2, 1], 3), ([1, 1], 2)):
        for k in (2, 3):
            yield "output_padding", {"kernel": (k, k), "attributes": {"output_padding": extra, "strides": [s, s]}}
    for shape, s in (([7, 8], 2), ([8, 9], 2), ([10, 12], 3), ([5, 6], 1), ([9, 10], 2), ([8, 7], 2)):
        for auto in ("NOTSET", "SAME_UPPER"):
            yield "output_shape", {"x": (1, 2, 4, 4), "attributes": {"output_shape": shape, "strides": [s, s],
                                                                     "auto_pad": auto}}
    for auto in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        for k, s in ((2, 2), (3, 2), (4, 3), (3, 1), (1, 2)):
            yield "auto_pad", {"kernel": (k, 3), "attributes": {"auto_pad": auto, "strides": [s, 2]}}
    for group, c, m in ((2, 4, 4), (2, 2, 6), (3, 6, 3), (4, 4, 4), (4, 4, 8)):
        for s in (1, 2):
            yield "groups", {"group": group, "x": (1, c, 4, 3), "m": m, "per_channel": (True, True),
                             "attributes": {"strides": [s, s]}}
    for k, s in (((3,), 2), ((2,), 1), ((4,), 3)):
        yield "1-D", {"x": (2, 3, 5), "kernel": k, "attributes": {"strides": [s]}}
    for k, s in (((2, 2, 2), 2), ((1, 3, 2), 1), ((3, 1, 1), 2)):
        yield "3-D", {"x": (1, 2, 3, 2, 3), "kernel": k, "attributes": {"strides": [s] * 3}}
    for c, m in ((16, 16), (8, 33), (20, 7)):
        yield "many-channels", {"x": (1, c, 3, 3), "m": m, "kernel": (2, 2), "attributes": {"strides": [2, 2]}}


def transposed_cases():
    for index, (feature, arguments) in enumerate(transposed_shapes()):
        name = f"QLinearConvTranspose/{feature}/{index}"
        arguments = {"x": (1, 2, 4, 3), "m": 3, **arguments}
        yield name, make(name, "QLinearConvTranspose", types=ALL_TYPES[index % 8], domain=NHWC,
                         import_version=(1, 11, 13, 0)[index % 4], **arguments), "no-kernel"
    for index, types in enumerate(ALL_TYPES * 2):
        name = f"QLinearConvTranspose/types/{types}-{index // 8}"
        yield name, make(name, "QLinearConvTranspose", types=types, domain=NHWC, x=(1 + index // 8, 3, 3, 4), m=4,
                         kernel=(3, 2), attributes={"strides": [2, 2], "pads": [1, 0, 0, 1]}), "no-kernel"
    for index in range(6):
        name = f"QLinearConvTranspose/at-run-time/{index}"
        known = "x-at-run-time" if index % 3 == 0 else "run-time"
        yield name, make(name, "QLinearConvTranspose", types=types_of(index), domain=NHWC, known=known, x=(1, 2, 4, 3),
                         m=3, attributes={"strides": [2, 1]}), "no-kernel"


def all_cases():
    """(name, Conv, name of ONNX Runtime's deviation or None)."""
    yield from qlinear_cases()
    yield from integer_cases()
    yield from transposed_cases()
