"""What a convolution or product of the model is, recomputed from the file: integer weights without their zero points,
the bias in units of the accumulator, the float factor of every channel, and the results that may follow it."""

import dataclasses
from fractions import Fraction

import numpy as np

from .graph import F, INT_RANGE, NEUTRAL, CannotJudge, Quantized, attributes, rounded

INT32 = (-(1 << 31), (1 << 31) - 1)
# Inputs that are scale and zero point of x, w with its scale and zero point, scale and zero point of y, and the bias.
OPERANDS = {**dict.fromkeys(("QLinearConv", "QLinearConvTranspose"), (1, 2, 3, 4, 5, 6, 7, 8)),
            "QLinearMatMul": (1, 2, 3, 4, 5, 6, 7, None), "QGemm": (1, 2, 3, 4, 5, 7, 8, 6),
            **dict.fromkeys(("ConvInteger", "MatMulInteger"), (None, 2, 1, None, 3, None, None, None))}
OF_FLOATS = ("Conv", "ConvTranspose", "Gemm", "MatMul")


@dataclasses.dataclass
class Product:
    rows: np.ndarray  # [channels, terms] of w - zero point
    w_scale: np.ndarray
    x: Quantized
    bias: list
    results: list  # possible ones: (Quantized, low, high)
    alpha: F = F(1)
    transposed: bool = False
    taps: int = 1  # terms of each channel of x

    def intervals(self, part=slice(None)):
        """Of the accumulators over a part of the rows, without the bias: the least and the greatest of each channel."""
        a, b = (self.rows[:, part] * (end - int(self.x.zero[0])) for end in INT_RANGE[self.x.dtype])
        return np.stack([np.minimum(a, b).sum(axis=1), np.maximum(a, b).sum(axis=1)], axis=1)

    def unit(self):
        """fl(x * w) of each channel in float32; alpha first."""
        return F(self.alpha) * self.x.scale[0] * self.w_scale

    def scales(self, y):
        return self.unit() / y.scale[0]


# ---- numbers ----
def floats_of(texts):
    """Floats of their bits."""
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
    if channels % values.size:
        raise CannotJudge("scales that do not fit the channels")
    return np.tile(values.reshape(-1), channels // values.size)


def rows_of(node, w, zero):
    """[channels, terms] of the weights without their zero points."""
    a, w = attributes(node), w.astype(np.int64)
    if "ConvTranspose" in node.op_type:
        group = a.get("group", 1)
        w = w.reshape(group, len(w) // group, w.shape[1], -1).swapaxes(1, 2).reshape(group * w.shape[1], -1)
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
    value, scale = (np.array(np.broadcast_to(v.reshape(-1), unit.shape)) for v in (value, np.asarray(scale, F)))
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
    limits = [attributes(node).get(key) for key in ("min", "max")]
    for k, name in ((k, name) for k, name in enumerate(node.input[1:]) if name):
        array, found = model.constant(name), model.integers(name)
        if array is None and found is None:
            raise CannotJudge("limits of a Clip that are not constant")
        limits[k] = ((found[0] - found[1].zero).astype(F) * found[1].scale if array is None else array).item()
    return limits


def narrowed(y, low, high, pending):
    """The limits [low, high] of stored values after those of pending, which are floats that are quantized as y."""
    for limits in pending:
        least, most = (end if v is None else int(rounded(v, y.scale[0], int(y.zero[0]), y.dtype))
                       for v, end in zip(limits, (low, high)))
        low, high = max(low, least), min(high, most)
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
            low, high = narrowed(new, *((low, high) if y else INT_RANGE[new.dtype]), pending)
            y, pending = new, []
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
    x, w, wq = model.scalars(xs, xz), model.constant(w), model.scalars(ws, wz)
    for bad, why in ((w is None or wq is None, "weights that are not constant"),
                     (ws and not ys, "a result that is not quantized"),
                     (not ws and (x is None or not xz), "a zero point of x that is not in the file")):
        if bad:
            raise CannotJudge(why)
    rows = rows_of(node, w, wq.zero)
    bias = np.broadcast_to(model.constant(b).astype(np.int64).reshape(-1) if b else np.int64(0), (len(rows),))
    results = following(model, node.output[0], per_tensor(model.scalars(ys, yz), "y"))[0] if ys else []
    return Product(rows, repeated(wq.scale, len(rows)), per_tensor(x, "x"), bias, results,
                   attributes(node).get("alpha", 1.0), "ConvTranspose" in node.op_type)


def product_of(model, index, is_word=False):
    """That of a node; of 16 bits with the bias as rational numbers."""
    node = model.node(index)
    if node.op_type in OPERANDS:
        return of_integers(model, node)
    if node.op_type not in OF_FLOATS:
        raise CannotJudge(f"{node.op_type} is no product that is recomputed")
    x, found = per_tensor(model.activation(node.input[0]), "x"), model.integers(node.input[1])
    if found is None:
        raise CannotJudge("weights that are not quantized constants")
    rows = rows_of(node, found[0], found[1].zero)
    results, added = following(model, node.output[0])
    taps = int(np.prod(found[0].shape[2:]))
    product = Product(rows, repeated(found[1].scale, len(rows)), x, np.zeros(len(rows), np.int64), results,
                      attributes(node).get("alpha", 1.0), node.op_type == "ConvTranspose", taps)
    biases = [n for n in node.input[2:3] if n] + added
    if len(biases) > 1:
        raise CannotJudge("several biases")
    if biases:
        product.bias = bias_of(model, biases[0], product.unit(), is_word)
    return product
