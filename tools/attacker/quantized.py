"""Quantized layers in four spellings: QOperator, QDQ, dynamic quantization and floats.

A Q is a tensor with its scale and zero point. In the form "float" and "dynamic" the tensor has floats and no scale.
"""

import dataclasses

import numpy as np

from onnx import helper

from builder import BYTES, MS, Unbuildable


@dataclasses.dataclass
class Q:
    name: str
    scale: np.float32 = None
    zero: object = None


def shifted(value, to):
    """The same distance from the zero point, as the other type of 8 bits."""
    return (
        np.asarray(value).astype(np.int32)
        - (128 if np.asarray(value).dtype == np.uint8 else 0)
        + (128 if to == np.uint8 else 0)
    ).astype(to)


class Layers:
    def __init__(self, b, form, dtype=None):
        self.b, self.form = b, form
        self.dtype = dtype or b.pick(BYTES)
        self.wide = dtype in (np.int16, np.uint16)
        b.qdq = b.qdq or form == "qdq"
        self.integers = form in ("qoperator", "qdq")
        self.odd_scales = 0.12

    # ---- ends ----

    def start(self, shape):
        b = self.b
        if not self.integers:
            return Q(b.input(b.floats(shape)))
        if b.chance(0.6):
            return Q(b.input(b.bytes(self.dtype, shape)), self.scale(0.02), b.zero_point(self.dtype))
        x = b.input(b.floats(shape))
        return self.quantized(x)

    def scale(self, typical):
        b = self.b
        if b.chance(self.odd_scales):
            kind = b.pick(["power", "tiny", "large", "near"])
            if kind == "power":
                return np.float32(2.0 ** np.round(np.log2(typical)))
            if kind == "near":
                return np.nextafter(np.float32(2.0 ** np.round(np.log2(typical))), np.float32(b.pick([0, 9])))
            return np.float32(typical * (1e-3 if kind == "tiny" else 1e3))
        return np.float32(typical * b.r.uniform(0.6, 1.6))

    def fitting(self, values):
        """Scale and zero point of these floats."""
        b = self.b
        values = values[np.isfinite(values)]
        low, high = (min(0.0, float(values.min())), max(0.0, float(values.max()))) if values.size else (0.0, 1.0)
        info = np.iinfo(self.dtype)
        if self.wide or (self.dtype == np.int8 and b.chance(0.4)):
            scale, zero = max(-low, high) / info.max, 0
        else:
            scale = (high - low) / (info.max - info.min)
            zero = info.min - low / scale if scale > 1e-30 else 0
        scale = self.scale(scale) if scale > 1e-30 else np.float32(1)
        if b.chance(0.15):
            zero = int(b.zero_point(self.dtype)) if not self.wide else 0
        return scale, self.dtype(np.clip(round(zero), info.min, info.max))

    def parameters(self, q):
        return [self.b.constant(np.float32(q.scale), "s"), self.b.constant(np.asarray(q.zero), "z")]

    def all_of(self, q):
        return [q.name] + self.parameters(q)

    def quantized(self, name, like=None):
        q = Q(name, *(self.fitting(self.b.values[name]) if like is None else (like.scale, like.zero)))
        return Q(self.b.node("QuantizeLinear", [name] + self.parameters(q)), q.scale, q.zero)

    def real(self, q):
        if not self.integers:
            return q.name
        return self.b.node("DequantizeLinear", self.all_of(q))

    def dequantized(self, q):
        """Its floats, as an array."""
        return (self.b.values[q.name].astype(np.float64) - int(q.zero)) * float(q.scale)

    def shape(self, q):
        return self.b.shape(q.name)

    def through_floats(self, op, qs, extra=(), keep=False, exact=True, **attributes):
        b = self.b
        # These are fused to operators that round elsewhere.
        b.qdq = b.qdq or (
            self.integers and op in ("Add", "Mul", "AveragePool", "GlobalAveragePool", "MatMul", "Softmax")
        )
        y = b.node(op, [self.real(q) for q in qs] + list(extra), exact=exact, **attributes)
        if not self.integers:
            return Q(y)
        return self.quantized(y, qs[0] if keep else None)

    # ---- weights ----

    def weights(self, shape, axis, channels):
        b = self.b
        kind = b.pick(BYTES) if self.dtype == np.uint8 else np.int8
        w = b.bytes(kind, shape, b.pick(["full", "full", "ends", "narrow", "trained", "trained"]))
        per_channel = b.chance(0.5)
        scale = np.float32(b.r.uniform(0.2, 1.8, channels if per_channel else []) / 127)
        if b.chance(0.05) and per_channel:
            scale[b.between(0, channels - 1)] = np.float32(1e-12)  # a dead channel
        mixed = per_channel and b.chance(0.3) and self.form == "qoperator"
        zero = (
            np.array([b.zero_point(kind) for _ in range(channels)], kind)
            if mixed
            else np.full(scale.shape, b.zero_point(kind) if kind == np.uint8 or b.chance(0.2) else 0, kind)
        )
        if b.chance(0.1):  # channels of zeros
            at = [slice(None)] * len(shape)
            at[axis] = slice(0, max(1, shape[axis] // 2))
            w[tuple(at)] = zero.flat[0]
        return w, scale, zero

    def bias(self, x_scale, scales, channels, spread):
        unit = np.broadcast_to(np.float32(x_scale) * scales, channels).astype(np.float32)
        values = np.rint(self.b.r.normal(0, 1, channels) * spread / np.maximum(unit, 1e-30))
        return np.clip(values, -(2**30), 2**30).astype(np.int32), unit

    # ---- convolution ----

    def geometry(self, sizes, hostile=0.25):
        b = self.b
        k, s, d, begin, end = [], [], [], [], []
        odd = b.chance(hostile)
        for size in sizes:
            kernel = b.pick([1, 1, 2, 3, 3, 3, 4, 5] + ([size, size + 1, size + 3, 7, 9] if odd else []))
            dilation = b.pick([1, 1, 1, 2, 3]) if kernel > 1 else 1
            reach = (kernel - 1) * dilation + 1
            least = max(0, reach - size)
            pads = [b.between(0, reach - 1), b.between(0, reach - 1)]
            if odd and b.chance(0.3):
                pads[b.between(0, 1)] += b.between(1, 4)  # larger than the kernel
            if b.chance(0.25):
                pads = [0, 0]
            if sum(pads) < least:
                pads[b.between(0, 1)] += least - sum(pads)
            k.append(kernel)
            d.append(dilation)
            s.append(b.pick([1, 1, 1, 2, 2, 3] + ([kernel + 1, 4] if odd else [])))
            begin.append(pads[0])
            end.append(pads[1])
        return {"kernel_shape": k, "strides": s, "dilations": d, "pads": begin + end}

    def conv(self, x, out, group=1, same=False, plain=False, geometry=None):
        b = self.b
        n, channels, *sizes = self.shape(x)
        if plain:
            attributes = {"kernel_shape": [1] * len(sizes)}
        elif same:
            k = [b.pick([1, 3, 3, 5]) for _ in sizes]
            attributes = {"kernel_shape": k, "pads": [v // 2 for v in k] * 2}
        else:
            attributes = geometry or self.geometry(sizes)
            if (
                b.chance(0.15)
                and all(d == 1 for d in attributes["dilations"])
                and all(s - k < 3 for s, k in zip(attributes["strides"], attributes["kernel_shape"]))
            ):
                del attributes["pads"], attributes["dilations"]
                attributes["auto_pad"] = b.pick(["SAME_UPPER", "SAME_LOWER"])
        attributes["group"] = group
        shape = [out, channels // group] + attributes["kernel_shape"]
        if np.prod(shape) > 30_000:
            raise Unbuildable("too many weights")
        if self.form == "qoperator":
            return self.qlinear_conv(x, shape, attributes)
        if self.form == "qdq":
            return self.qdq_conv(x, shape, attributes)
        if self.form == "dynamic":
            return self.dynamic_conv(x, shape, attributes)
        w = b.constant(b.floats(shape) / np.float32(np.sqrt(np.prod(shape[1:]))))
        bias = [b.constant(b.floats([out]))] if b.chance(0.6) else []
        return Q(b.node("Conv", [x.name, w] + bias, exact=False, **attributes))

    def guessed(self, x, scales, taps):
        """Scale and zero point of the result of a product, by its number of terms."""
        spread = (
            float(np.std(self.dequantized(x)) + 1e-3 * float(x.scale)) * float(np.median(scales)) * 73 * np.sqrt(taps)
        )
        dtype = self.dtype
        return self.scale(max(spread, 1e-20) / 45), self.b.zero_point(dtype), spread

    def qlinear_conv(self, x, shape, attributes):
        b = self.b
        w, scales, zeros = self.weights(shape, 0, shape[0])
        scale, zero, spread = self.guessed(x, scales, np.prod(shape[1:]))
        bias = [b.constant(self.bias(x.scale, scales, shape[0], spread)[0])] if b.chance(0.6) else []
        q = Q("", scale, zero)
        inputs = self.all_of(x) + [b.constant(w), b.constant(scales), b.constant(zeros)] + self.parameters(q) + bias
        mixes = {(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)}
        here = (self.dtype, w.dtype.type)
        oracle = None if here in mixes else lambda *v: self.conv_in_bytes(v, attributes)
        return Q(b.node("QLinearConv", inputs, oracle=oracle, **attributes), scale, zero)

    def conv_in_bytes(self, values, attributes):
        """A mix of types that ONNX Runtime lacks, as uint8: clamps and sums stay the same."""

        to = [np.uint8 if i in (0, 2, 3, 5, 7) else None for i in range(len(values))]
        inner = type(self.b)(self.b.r, self.b.opset)
        names = [inner.constant(shifted(v, np.uint8) if t and v.dtype == np.int8 else v) for v, t in zip(values, to)]
        y = inner.run(helper.make_node("QLinearConv", names, ["y"], **attributes))[0]
        return shifted(y, np.int8) if values[7].dtype == np.int8 else y

    def qdq_weights(self, w, scales, zeros, axis):
        b = self.b
        extra = {"axis": axis} if scales.ndim else {}
        return b.node("DequantizeLinear", [b.constant(w), b.constant(scales), b.constant(zeros)], **extra)

    def qdq_conv(self, x, shape, attributes, op="Conv"):
        b = self.b
        axis = 0 if op == "Conv" else 1
        channels = shape[axis]
        w, scales, zeros = self.weights(shape, axis, channels)
        inputs = [self.real(x), self.qdq_weights(w, scales, zeros, axis)]
        group = attributes.get("group", 1)
        if b.chance(0.6) and (op == "Conv" or not scales.ndim):
            out = channels if op == "Conv" else channels * group
            values, unit = self.bias(x.scale, scales, out, 0.3)
            if b.chance(0.85):
                unit = unit if scales.ndim else np.float32(unit.flat[0])
                inputs.append(
                    b.node(
                        "DequantizeLinear",
                        [b.constant(values), b.constant(unit)],
                        **({"axis": 0} if scales.ndim else {}),
                    )
                )
            else:
                inputs.append(b.constant(b.floats([out])))
        y = b.node(op, inputs, exact=False, **attributes)
        if b.chance(0.3):
            y = (
                b.node("Relu", [y])
                if b.chance(0.6)
                else b.node("Clip", [y, b.constant(np.float32(0)), b.constant(np.float32(6))])
            )
        return self.quantized(y)

    def dynamic_conv(self, x, shape, attributes):
        b = self.b
        w, scales, zeros = self.weights(shape, 0, shape[0])
        q, s, z = b.node("DynamicQuantizeLinear", [x.name], 3)
        zero = b.constant(np.asarray(zeros.flat[0]))
        y = b.node("ConvInteger", [q, b.constant(w), z, zero], **attributes)
        spread = scales.reshape([-1] + [1] * (len(shape) - 2)) if scales.ndim else scales
        return self.rescaled(y, s, spread, [shape[0]] + [1] * (len(shape) - 2))

    def rescaled(self, y, s, spread, bias_shape):
        b = self.b
        if b.chance(0.5):
            y = b.node("Cast", [y], to=1)
            y = b.node("Mul", [y, b.node("Mul", [s, b.constant(spread)])])
        else:
            y = b.node("Mul", [b.node("Mul", [b.node("Cast", [y], to=1), s]), b.constant(spread)])
        if b.chance(0.6):
            y = b.node("Add", [y, b.constant(b.floats(bias_shape))])
        return Q(y)

    def dense(self, x, out):
        """On the last axis."""
        b = self.b
        depth = self.shape(x)[-1]
        if self.form == "float":
            return Q(
                b.node("MatMul", [x.name, b.constant(b.floats([depth, out]) / np.float32(np.sqrt(depth)))], exact=False)
            )
        w, scales, zeros = self.weights([depth, out], 1, out)
        if self.form == "dynamic":
            q, s, z = b.node("DynamicQuantizeLinear", [x.name], 3)
            return self.rescaled(
                b.node("MatMulInteger", [q, b.constant(w), z, b.constant(np.asarray(zeros.flat[0]))]), s, scales, [out]
            )
        if self.form == "qdq":
            y = b.node("MatMul", [self.real(x), self.qdq_weights(w, scales, zeros, 1)], exact=False)
            return self.quantized(y)
        scale, zero, _ = self.guessed(x, scales, depth)
        q = Q("", scale, zero)
        if (self.dtype, w.dtype.type) == (np.int8, np.uint8):
            raise Unbuildable("no kernel")
        name = b.node(
            "QLinearMatMul",
            self.all_of(x) + [b.constant(w), b.constant(scales), b.constant(zeros)] + self.parameters(q),
        )
        return Q(name, scale, zero)

    # ---- the rest ----

    def binary(self, op, x, y):
        if self.form == "qoperator" and op in ("Add", "Mul") and self.b.chance(0.8):
            a, c = self.dequantized(x), self.dequantized(y)
            scale, zero = self.fitting((a + c if op == "Add" else a * c).astype(np.float32))
            q = Q("", scale, zero)
            name = self.b.node("QLinear" + op, self.all_of(x) + self.all_of(y) + self.parameters(q), domain=MS)
            return Q(name, scale, zero)
        return self.through_floats(op, [x, y])

    def activation(self, x, op=None):
        b = self.b
        op = op or b.pick(["Relu", "Clip", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Elu"])
        if op == "HardSwish" and b.opset < 14:
            op = "HardSigmoid"
        if self.form == "qoperator" and op in ("Sigmoid", "LeakyRelu") and b.chance(0.7):
            q = Q(
                "",
                *(
                    self.fitting(self.dequantized(x).astype(np.float32))
                    if op == "LeakyRelu"
                    else (self.scale(1 / 250), b.zero_point(self.dtype))
                ),
            )
            extra = {"alpha": b.pick([0.01, 0.2, -0.5, 1.5])} if op == "LeakyRelu" else {}
            return Q(b.node("QLinear" + op, self.all_of(x) + self.parameters(q), domain=MS, **extra), q.scale, q.zero)
        exact = op in ("Relu", "Clip", "LeakyRelu")
        if op == "Clip":
            low, high = b.pick([(0, 6), (-1, 1), (0, 1)])
            return self.through_floats(op, [x], [b.constant(np.float32(low)), b.constant(np.float32(high))])
        extra = {"alpha": b.pick([0.01, 0.1, -0.5])} if op == "LeakyRelu" else {}
        return self.through_floats(op, [x], exact=exact, **extra)

    def concat(self, xs, axis=1):
        b = self.b
        if self.form == "qoperator" and b.chance(0.7):
            q = Q("", *self.fitting(np.concatenate([self.dequantized(x).ravel() for x in xs]).astype(np.float32)))
            inputs = self.parameters(q) + sum((self.all_of(x) for x in xs), [])
            return Q(b.node("QLinearConcat", inputs, domain=MS, axis=axis), q.scale, q.zero)
        return self.through_floats("Concat", xs, axis=axis)

    def pool(self, x, op=None):
        b = self.b
        sizes = self.shape(x)[2:]
        op = op or b.pick(["MaxPool", "AveragePool", "GlobalAveragePool"])
        attributes = {}
        if op != "GlobalAveragePool":
            k = [min(b.pick([1, 2, 2, 3, 5]), s) for s in sizes]
            attributes = {"kernel_shape": k, "strides": [b.pick([1, 2, 2, 3]) for _ in k]}
            if b.chance(0.4):
                attributes["pads"] = [b.between(0, v - 1) for v in k + k]
            if b.chance(0.3):
                attributes["ceil_mode"] = 1
            if op == "AveragePool" and b.chance(0.4) and not attributes.get("ceil_mode"):
                attributes["count_include_pad"] = 1
        if op == "MaxPool" and self.integers and not self.wide and b.chance(0.6):
            return Q(b.node(op, [x.name], **attributes), x.scale, x.zero)
        if self.form == "qoperator" and op != "MaxPool" and b.chance(0.6):
            q = Q("", *self.fitting(self.dequantized(x).astype(np.float32)))
            if op == "GlobalAveragePool":
                attributes["channels_last"] = 0
            try:
                return Q(
                    b.node("QLinear" + op, self.all_of(x) + self.parameters(q), domain=MS, **attributes),
                    q.scale,
                    q.zero,
                )
            except Unbuildable:
                attributes.pop("channels_last", None)
        return self.through_floats(op, [x], keep=op == "MaxPool", exact=op == "MaxPool", **attributes)

    def move(self, op, x, extra=(), **attributes):
        """An operator that only moves elements."""
        if self.integers and (self.form == "qoperator" or self.b.chance(0.2)) and not (self.wide and op == "Resize"):
            return Q(self.b.node(op, [x.name] + list(extra), **attributes), x.scale, x.zero)
        return self.through_floats(op, [x], extra, keep=self.b.chance(0.85), **attributes)
