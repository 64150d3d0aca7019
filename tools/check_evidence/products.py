"""What a convolution or product of the model is, recomputed from the file: integer weights without
their zero points, the bias in units of the accumulator, the float factor of every channel, and the
results that may follow it (quantization and limits)."""

from fractions import Fraction

import numpy as np

from .graph import F, INT_RANGE, NEUTRAL, Quantized, attributes, rounded

INT32 = (-(1 << 31), (1 << 31) - 1)
PRODUCTS = {"Conv", "ConvTranspose", "Gemm", "MatMul", "QLinearConv", "QLinearConvTranspose", "QLinearMatMul", "QGemm",
            "ConvInteger", "MatMulInteger"}


class CannotJudge(Exception):
    """Why the checker has no opinion."""


class Product:
    """rows: [channels, terms] of w - zero point; x: Quantized or None; results: possible (Quantized, low, high)."""

    def __init__(self, rows, w_scale, x, bias, results, alpha=F(1)):
        self.rows, self.x, self.bias, self.results, self.alpha = rows, x, bias, results, alpha
        self.transposed = False
        self.w_scale = np.broadcast_to(np.asarray(w_scale, F).reshape(-1), (len(rows),))

    def x_zero_stored(self):
        return stored(int(self.x.zero[0]), self.x.dtype)

    def intervals(self):
        zero = self.x_zero_stored()
        low, high = -zero, 255 - zero
        a, b = self.rows * low, self.rows * high
        return self.bias + np.minimum(a, b).sum(axis=1), self.bias + np.maximum(a, b).sum(axis=1)

    def scales(self, y):
        """fl(fl(x * w) / y) in float32, left to right; alpha first."""
        unit = (F(self.alpha) * self.x.scale[0]).astype(F) * self.w_scale
        return (unit.astype(F) / y.scale[0]).astype(F)


def float_of(bits):
    if not (isinstance(bits, str) and len(bits) == 10 and bits.startswith("0x")):
        raise ValueError("a scale that is not eight hex digits")
    return np.array([int(bits, 16)], np.uint32).view(F)[0]


def stored(value, dtype):
    return value + 128 if dtype == "int8" else value


def per_tensor(q, what):
    if q is None:
        raise CannotJudge(f"the quantization of {what} is not known from the file")
    if q.scale.size != 1 or q.zero.size != 1:
        raise CannotJudge(f"{what} is quantized per channel")
    return q


def centred(w, zero):
    """[channels, ...] minus one zero point or one per channel, as rows."""
    return w.reshape(len(w), -1) - np.broadcast_to(zero.reshape(-1, 1), (len(w), 1))


def transposed_rows(w, group):
    c, per = w.shape[:2]
    parts = w.reshape(group, c // group, per, -1)
    return np.moveaxis(parts, 2, 1).reshape(group * per, -1)


def repeated(values, channels):
    """One value, one per channel, or one per channel of a group."""
    values = np.asarray(values).reshape(-1)
    if values.size == 1 or values.size == channels:
        return np.broadcast_to(values, (channels,))
    if channels % values.size:
        raise CannotJudge("scales that do not fit the channels")
    return np.tile(values, channels // values.size)


# ---- biases ----
def ulps(a, b):
    return np.abs(a.view(np.int32).astype(np.int64) - b.view(np.int32).astype(np.int64))


def exact_bias(model, name, channels):
    """A bias as the rational numbers that the file means."""
    found = model.integers(name)
    value = model.constant(name) if found is None else found[0]
    if value is None or found is None and value.dtype != F or found is not None and np.any(found[1].zero):
        raise CannotJudge("the bias is not constant, or has a zero point")
    scale = np.broadcast_to(F(1) if found is None else found[1].scale, (channels,))
    value = np.broadcast_to(value.reshape(-1), (channels,))
    return [Fraction(v.item()) * Fraction(float(s)) for v, s in zip(value, scale)]


def in_units(values, unit):
    q = np.rint((values.astype(F) / unit).astype(F)).astype(np.float64)
    return np.clip(q, *INT32).astype(np.int64)


def float_bias(model, name, unit):
    """A bias that the file has as float, or dequantized: integers that count in `unit`."""
    found = model.integers(name)
    if found is None:
        value = model.constant(name)
        if value is None or value.dtype != F:
            raise CannotJudge("the bias is not constant")
        return in_units(np.broadcast_to(value.reshape(-1), unit.shape).copy(), unit)
    value, q = found
    if np.any(q.zero):
        raise CannotJudge("the bias has a zero point")
    scale = np.broadcast_to(q.scale, unit.shape).astype(F)
    value = np.broadcast_to(value.reshape(-1), unit.shape)
    if np.all(ulps(np.ascontiguousarray(scale), np.ascontiguousarray(unit)) <= 4):
        return value
    return in_units((value.astype(F) * scale).astype(F), unit)


# ---- what follows ----
def limits_of(model, node):
    """(low, high) in float of Relu or Clip; None: not constant."""
    if node.op_type == "Relu":
        return 0.0, None
    a = attributes(node)
    out = []
    for i, key in ((1, "min"), (2, "max")):
        value = a.get(key)
        if len(node.input) > i and node.input[i]:
            array = model.constant(node.input[i])
            if array is None:
                found = model.integers(node.input[i])
                if found is None:
                    raise CannotJudge("limits of a Clip that are not constant")
                array = (found[0] - found[1].zero).astype(F) * found[1].scale
            value = float(array.reshape(-1)[0])
        out.append(value)
    return tuple(out)


def narrowed(y, low, high, pending):
    """The byte limits [low, high] after those of pending, which are floats that are quantized as y."""
    for least, most in pending:
        if least is not None:
            low = max(low, int(rounded(least, y.scale[0], int(y.zero[0]), y.dtype)))
        if most is not None:
            high = min(high, int(rounded(most, y.scale[0], int(y.zero[0]), y.dtype)))
    return low, max(low, high)


def following(model, name, y=None):
    """Possible results of a product whose output is `name`: (Quantized, low, high) one after the other along the only
    consumer of each tensor. With y: `name` is already quantized so. Also what is added on the way as float."""
    results, added, pending = [], [], []
    low = high = None
    if y is not None:
        low, high = INT_RANGE[y.dtype]
        results.append((y, low, high))
    while True:
        index = model.only_consumer(name)
        if index is None:
            return results, added
        node = model.nodes[index]
        op = node.op_type
        if op in ("Relu", "Clip"):
            pending.append(limits_of(model, node))
            model.consulted.add(index)
        elif op == "Add" and not results:
            other = [i for i in node.input if i != name]
            if len(other) != 1:
                return results, added
            added.append(other[0])
            model.consulted.add(index)
        elif op == "QuantizeLinear":
            new = per_tensor(model.quantize(index), "the output")
            if y is None:
                y = new
                low, high = INT_RANGE.get(y.dtype, (None, None))
                if low is None:
                    raise CannotJudge(f"an output of {y.dtype}")
            elif not new.same(y):
                return results, added
            low, high = narrowed(y, low, high, pending)
            pending = []
            results.append((y, low, high))
        elif op == "DequantizeLinear":
            if y is None or not per_tensor(model.dequantize(index), "a tensor").same(y):
                return results, added
        elif op not in NEUTRAL and op != "Cast":
            return results, added
        name = node.output[0]


# ---- the operators ----
def convolution_rows(node, w, zero):
    if node.op_type in ("ConvTranspose", "QLinearConvTranspose"):
        group = attributes(node).get("group", 1)
        rows = transposed_rows(w, group)
        return rows - repeated(zero, len(rows)).reshape(-1, 1)
    return centred(w, zero)


def direct(model, node):
    """QLinearConv and its relatives, whose parameters are inputs of the node."""
    i = node.input
    x = per_tensor(model.scalars(i[1], i[2]), "x")
    w, wq = model.constant(i[3]), model.scalars(i[4], i[5])
    y = per_tensor(model.scalars(i[6], i[7]), "y")
    if w is None or wq is None:
        raise CannotJudge("weights that are not constant")
    w = w.astype(np.int64)
    if node.op_type == "QLinearMatMul":
        if w.ndim != 2:
            raise CannotJudge("weights of several matrices")
        rows = w.T - repeated(wq.zero, w.shape[1]).reshape(-1, 1)
    else:
        rows = convolution_rows(node, w, wq.zero)
    bias = np.zeros(len(rows), np.int64)
    if len(i) > 8 and i[8] and node.op_type != "QLinearMatMul":
        bias = model.constant(i[8]).astype(np.int64)
    results, _ = following(model, node.output[0], y)
    return Product(rows, repeated(wq.scale, len(rows)), x, bias, results)


def qgemm(model, node):
    i, a = node.input, attributes(node)
    x = per_tensor(model.scalars(i[1], i[2]), "a")
    w, wq = model.constant(i[3]), model.scalars(i[4], i[5])
    if w is None or wq is None or len(i) < 9:
        raise CannotJudge("weights or output scales that are not constant")
    y = per_tensor(model.scalars(i[7], i[8]), "y")
    w = w.astype(np.int64) if a.get("transB") else w.astype(np.int64).T
    bias = np.zeros(len(w), np.int64)
    if i[6]:
        bias = np.broadcast_to(model.constant(i[6]).astype(np.int64).reshape(-1), (len(w),))
    results, _ = following(model, node.output[0], y)
    return Product(centred(w, wq.zero), repeated(wq.scale, len(w)), x, bias, results, F(a.get("alpha", 1.0)))


def integer_only(model, node):
    i = node.input
    zeros = [np.zeros(1, np.int64) if len(i) <= k or not i[k] else model.constant(i[k]) for k in (2, 3)]
    w = model.constant(i[1])
    if w is None or zeros[1] is None:
        raise CannotJudge("weights that are not constant")
    if zeros[0] is None:
        raise CannotJudge("a zero point that is known at run time only")
    if len(i) <= 2 or not i[2]:
        raise CannotJudge("the type of x is not stated beside the node")
    w, zero = w.astype(np.int64), zeros[1].astype(np.int64)
    if node.op_type != "ConvInteger" and w.ndim != 2:
        raise CannotJudge("weights of several matrices")
    rows = convolution_rows(node, w, zero) if node.op_type == "ConvInteger" else centred(w.T, repeated(zero, w.shape[1]))
    return Product(rows, F(1), Quantized(F(1), zeros[0], str(zeros[0].dtype)), np.zeros(len(rows), np.int64), [])


def between_dequantize_and_quantize(model, node, is_word=False):
    """Conv, ConvTranspose, Gemm and MatMul of dequantized tensors; of 16 bits with the bias as rational numbers."""
    a = attributes(node)
    x = per_tensor(model.activation(node.input[0]), "x")
    found = model.integers(node.input[1])
    if found is None:
        raise CannotJudge("weights that are not quantized constants")
    w, wq = found
    if node.op_type in ("Gemm", "MatMul"):
        if w.ndim != 2:
            raise CannotJudge("weights of several matrices")
        w = w if a.get("transB") else w.T
        rows = centred(w, repeated(wq.zero, len(w)))
    else:
        rows = convolution_rows(node, w, wq.zero)
    scale = repeated(wq.scale, len(rows)).astype(F)
    alpha = F(a.get("alpha", 1.0))
    unit = ((alpha * x.scale[0]).astype(F) * scale).astype(F)
    results, added = following(model, node.output[0])
    biases = ([node.input[2]] if len(node.input) > 2 and node.input[2] else []) + added
    if len(biases) > 1:
        raise CannotJudge("several biases")
    if is_word:
        bias = exact_bias(model, biases[0], len(rows)) if biases else [Fraction(0)] * len(rows)
    else:
        bias = float_bias(model, biases[0], unit) if biases else np.zeros(len(rows), np.int64)
    return Product(rows, scale, x, bias, results, alpha)


def product_of(model, index, is_word=False):
    if not 0 <= index < len(model.nodes):
        raise CannotJudge("made by the compiler for a node within a function or loop")
    node = model.nodes[index]
    model.consulted.add(index)
    if node.op_type not in PRODUCTS:
        raise CannotJudge(f"{node.op_type} is no product that is recomputed")
    if is_word:
        return between_dequantize_and_quantize(model, node, is_word=True)
    rule = direct if node.op_type.startswith("QLinear") else between_dequantize_and_quantize
    rules = {"QGemm": qgemm, "ConvInteger": integer_only, "MatMulInteger": integer_only}
    product = rules.get(node.op_type, rule)(model, node)
    product.transposed = "ConvTranspose" in node.op_type
    return product
