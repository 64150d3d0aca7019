"""What a convolution or product of the model is, recomputed from the file: integer weights without
their zero points, the bias in units of the accumulator, the float factor of every channel, and the
results that may follow it (quantization and limits)."""

from fractions import Fraction

import numpy as np

from .graph import F, INT_RANGE, NEUTRAL, attributes, rounded

INT32 = (-(1 << 31), (1 << 31) - 1)
# Inputs that are scale and zero point of x, w with its scale and zero point, scale and zero point of y, and the bias.
OPERANDS = {**dict.fromkeys(("QLinearConv", "QLinearConvTranspose"), (1, 2, 3, 4, 5, 6, 7, 8)),
            "QLinearMatMul": (1, 2, 3, 4, 5, 6, 7, None), "QGemm": (1, 2, 3, 4, 5, 7, 8, 6),
            **dict.fromkeys(("ConvInteger", "MatMulInteger"), (None, 2, 1, None, 3, None, None, None))}
OF_FLOATS = ("Conv", "ConvTranspose", "Gemm", "MatMul")


class CannotJudge(Exception):
    """Why the checker has no opinion."""


class Product:
    """rows: [channels, terms] of w - zero point; x: Quantized; results: possible (Quantized, low, high); taps: terms of each
    channel of x."""

    def __init__(self, rows, w_scale, x, bias, results, alpha=F(1), transposed=False, taps=1):
        self.rows, self.x, self.bias, self.results, self.alpha = rows, x, bias, results, alpha
        self.transposed, self.taps = transposed, taps
        self.w_scale = np.broadcast_to(np.asarray(w_scale, F).reshape(-1), (len(rows),))

    def intervals(self, part=slice(None)):
        """Of the accumulators over a part of the rows, without the bias: for each channel the least and the greatest."""
        a, b = (self.rows[:, part] * (end - int(self.x.zero[0])) for end in INT_RANGE[self.x.dtype])
        return np.stack([np.minimum(a, b).sum(axis=1), np.maximum(a, b).sum(axis=1)], axis=1)

    def scales(self, y):
        """fl(fl(x * w) / y) in float32, left to right; alpha first."""
        unit = (F(self.alpha) * self.x.scale[0]).astype(F) * self.w_scale
        return (unit.astype(F) / y.scale[0]).astype(F)


def floats_of(texts):
    """Floats of their bits."""
    if any(not isinstance(t, str) or len(t) != 10 or t[:2] != "0x" for t in texts):
        raise ValueError("a scale that is not eight hex digits")
    return np.array([int(t, 16) for t in texts], np.uint32).view(F)


def bits_of(floats):
    return ["0x%08x" % v for v in np.atleast_1d(np.asarray(floats, F)).view(np.uint32)]


def stored(value, dtype):
    return value + 128 if dtype == "int8" else value


def per_tensor(q, what):
    if q is None:
        raise CannotJudge(f"the quantization of {what} is not known from the file")
    if q.scale.size != 1 or q.zero.size != 1:
        raise CannotJudge(f"{what} is quantized per channel")
    return q


def repeated(values, channels):
    """One value, one per channel, or one per channel of a group."""
    values = np.asarray(values).reshape(-1)
    if values.size == 1 or values.size == channels:
        return np.broadcast_to(values, (channels,))
    if channels % values.size:
        raise CannotJudge("scales that do not fit the channels")
    return np.tile(values, channels // values.size)


def rows_of(node, w, zero):
    """[channels, terms] of the weights without their zero points."""
    a, w = attributes(node), w.astype(np.int64)
    if "ConvTranspose" in node.op_type:
        group = a.get("group", 1)
        w = np.moveaxis(w.reshape(group, len(w) // group, w.shape[1], -1), 2, 1).reshape(group * w.shape[1], -1)
    elif "Conv" not in node.op_type:
        if w.ndim != 2:
            raise CannotJudge("weights of several matrices")
        w = w if a.get("transB") else w.T
    return w.reshape(len(w), -1) - repeated(zero, len(w)).reshape(-1, 1)


def bias_of(model, name, unit, is_word):
    """A bias that the file has as float, or dequantized: integers that count in `unit`, or as the rational numbers that
    the file means."""
    found = model.integers(name)
    value, scale = (model.constant(name), F(1)) if found is None else (found[0], found[1].scale)
    if value is None or (value.dtype != F if found is None else np.any(found[1].zero)):
        raise CannotJudge("the bias is not constant, or has a zero point")
    value, scale = (np.ascontiguousarray(np.broadcast_to(v.reshape(-1), unit.shape)) for v in (value, np.asarray(scale, F)))
    if is_word:
        return [Fraction(v.item()) * Fraction(float(s)) for v, s in zip(value, scale)]
    if found is not None and np.all(np.abs(scale.view(np.int32).astype(np.int64) - unit.view(np.int32)) <= 4):
        return value
    q = np.rint(((value.astype(F) * scale).astype(F) / unit).astype(F)).astype(np.float64)
    return np.clip(q, *INT32).astype(np.int64)


# ---- what follows ----
def limits_of(model, node):
    """(low, high) in float of Relu or Clip; None: no limit."""
    if node.op_type == "Relu":
        return 0.0, None
    out = []
    for name, value in zip([*node.input[1:], "", ""], (attributes(node).get(k) for k in ("min", "max"))):
        array, found = (model.constant(name), model.integers(name)) if name else (None, None)
        if array is None and found is not None:
            array = (found[0] - found[1].zero).astype(F) * found[1].scale
        if name and array is None:
            raise CannotJudge("limits of a Clip that are not constant")
        out.append(float(array.reshape(-1)[0]) if name else value)
    return out


def narrowed(y, low, high, pending):
    """The limits [low, high] of stored values after those of pending, which are floats that are quantized as y."""
    for limits in pending:
        least, most = (None if v is None else int(rounded(v, y.scale[0], int(y.zero[0]), y.dtype)) for v in limits)
        low, high = low if least is None else max(low, least), high if most is None else min(high, most)
    return low, max(low, high)


def following(model, name, y=None):
    """Possible results of a product whose output is `name`: (Quantized, low, high) one after the other along the only
    consumer of each tensor. With y: `name` is already quantized so. Also what is added on the way as float."""
    low, high = INT_RANGE[y.dtype] if y else (None, None)
    results, added, pending = [(y, low, high)] if y else [], [], []
    while (index := model.only_consumer(name)) is not None:
        node = model.nodes[index]
        op = node.op_type
        if op in ("Relu", "Clip"):
            pending.append(limits_of(model, node))
            model.consulted.add(index)
        elif op == "Add" and not results:
            other = [i for i in node.input if i != name]
            if len(other) != 1:
                break
            added += other
            model.consulted.add(index)
        elif op == "QuantizeLinear":
            new = per_tensor(model.quantization(index), "the output")
            if new.dtype not in INT_RANGE:
                raise CannotJudge(f"an output of {new.dtype}")
            if y and not new.same(y):
                break
            y, (low, high) = new, (low, high) if y else INT_RANGE[new.dtype]
            low, high = narrowed(y, low, high, pending)
            pending = []
            results.append((y, low, high))
        elif op == "DequantizeLinear":
            if y is None or not per_tensor(model.quantization(index), "a tensor").same(y):
                break
        elif op not in NEUTRAL and op != "Cast":
            break
        name = node.output[0]
    return results, added


# ---- the operators ----
def of_integers(model, node):
    """An operator that has scales and zero points as inputs, or zero points alone."""
    xs, xz, w, ws, wz, ys, yz, b = (node.input[k] if k is not None and k < len(node.input) else ""
                                    for k in OPERANDS[node.op_type])
    only, x, w, wq = not ws, model.scalars(xs, xz), model.constant(w), model.scalars(ws, wz)
    if w is None or wq is None:
        raise CannotJudge("weights that are not constant")
    if only and (x is None or not xz):
        raise CannotJudge("a zero point of x that is not in the file")
    if not only and not ys:
        raise CannotJudge("a result that is not quantized")
    rows = rows_of(node, w, wq.zero)
    bias = np.broadcast_to(model.constant(b).astype(np.int64).reshape(-1), (len(rows),)) if b else np.zeros(len(rows), np.int64)
    results = [] if only else following(model, node.output[0], per_tensor(model.scalars(ys, yz), "y"))[0]
    return Product(rows, repeated(wq.scale, len(rows)), per_tensor(x, "x"), bias, results,
                   F(attributes(node).get("alpha", 1.0)), "ConvTranspose" in node.op_type)


def product_of(model, index, is_word=False):
    """That of a node; of 16 bits with the bias as rational numbers."""
    if not 0 <= index < len(model.nodes):
        raise CannotJudge("made by the compiler for a node within a function or loop")
    node = model.nodes[index]
    model.consulted.add(index)
    if node.op_type in OPERANDS:
        return of_integers(model, node)
    if node.op_type not in OF_FLOATS:
        raise CannotJudge(f"{node.op_type} is no product that is recomputed")
    x, found = per_tensor(model.activation(node.input[0]), "x"), model.integers(node.input[1])
    if found is None:
        raise CannotJudge("weights that are not quantized constants")
    rows = rows_of(node, found[0], found[1].zero)
    scale, alpha = repeated(found[1].scale, len(rows)).astype(F), F(attributes(node).get("alpha", 1.0))
    unit = ((alpha * x.scale[0]).astype(F) * scale).astype(F)
    results, added = following(model, node.output[0])
    biases = [n for n in node.input[2:3] if n] + added
    if len(biases) > 1:
        raise CannotJudge("several biases")
    bias = bias_of(model, biases[0], unit, is_word) if biases else np.zeros(len(rows), np.int64)
    return Product(rows, scale, x, bias, results, alpha, node.op_type == "ConvTranspose", int(np.prod(found[0].shape[2:])))
