"""Certificates of functions of one tensor: what the file has between the two tensors is computed for every byte in
float32 as its operators say, for every value of 16 bits in double precision. Exponentials and the like are known within
a bound, so values are intervals, and a result has to be what one of their ends or something between is rounded to."""

import itertools
import math

import numpy as np
from onnx import helper

from .graph import CHOOSES, F, INT_RANGE, NEUTRAL, CannotJudge, attributes, evaluated, rounded
from .products import per_tensor

# How far, relative and absolute, libraries are apart, which compute some functions each in its own way.
BOUNDS = {np.dtype(F): (2e-6, 1e-7), np.dtype(np.float64): (1e-12, 1e-15)}
APART = {"Sigmoid", "Tanh", "Exp", "Softplus", "Erf", "Elu", "Celu", "Selu", "Softsign", "Mish", "Gelu"}
# In float32 exact, and rising or falling in each operand.
RISING = {"Relu", "Sqrt", "Floor", "Ceil", "LeakyRelu", "HardSigmoid", "Clip", "Add", "Sub", "Mul", "Div", "Max", "Min",
          "Neg", "Round", "HardSwish"}
MOVES = (NEUTRAL | {"Cast"}) - {"MaxPool"}


def corners(operation, *operands):
    """Of an operation that rises or falls in each operand."""
    with np.errstate(all="ignore"):
        found = [operation(*ends) for ends in itertools.product(*operands)]
    return np.minimum.reduce(found), np.maximum.reduce(found)


# Operators that ONNX's reference does not have, or not in double precision.
ERF = np.vectorize(math.erf, otypes=[float])
OWN = {"HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1), "Erf": ERF,
       "Gelu": lambda x: x / 2 * (1 + ERF(x / math.sqrt(2)))}


def pointwise(node, operands, version):
    """An operator of floats by ONNX's reference: in float64 and widened by the bound where libraries differ."""
    op, a, real = node.op_type, attributes(node), operands[0][0].dtype
    if op == "Abs":
        return corners(lambda x, y: np.maximum(x, -y), operands[0], operands[0])
    if op == "HardSwish" and real == F:
        part = helper.make_node("HardSigmoid", node.input, node.output, alpha=1 / 6)
        return corners(np.multiply, operands[0], pointwise(part, operands, version))
    function = OWN.get(op, lambda *values: evaluated(node, values, version))
    refused = op not in APART | RISING or a.get("alpha", 1) < 0 or a.get("approximate", b"none") != b"none"
    if refused or function(*(v for v, _ in operands)) is None:
        raise CannotJudge(f"a table of {op}")
    if op == "Sqrt":
        operands = [[np.maximum(v, real.type(0)) for v in operands[0]]]
    if op in APART:
        operands = [[np.asarray(v, np.float64) for v in operands[0]]]
    low, high = corners(function, *operands)
    if op in APART:
        relative, absolute = BOUNDS[real]
        low, high = low - np.abs(low) * relative - absolute, high + np.abs(high) * relative + absolute
    return low.astype(real), high.astype(real)


FUSED = {"Add": "QLinearAdd", "Mul": "QLinearMul"}


def fused(op, a, a_q, b, b_q, y):
    """QLinearAdd or QLinearMul (docs/spec/qlinear.md sections 6.2 and 6.3)."""
    a_q, b_q, y = (per_tensor(q, "an operand of a table") for q in (a_q, b_q, y))
    if a[0].size == 1 and b[0].size > 1:
        a, a_q, b, b_q = b, b_q, a, a_q
    (sa, sb, sc), (za, zb, zc) = ([q.scale[0] for q in (a_q, b_q, y)], [int(q.zero[0]) for q in (a_q, b_q, y)])
    low, high = INT_RANGE[y.dtype]

    def of(p, q):
        if op == "QLinearMul":
            scale = ((sa * sb).astype(F) / sc).astype(F)
            v = ((((p - za) * (q - zb)).astype(F) * scale).astype(F) + F(zc)).astype(F)
        else:
            ra, rb = np.float64((sa / sc).astype(F)), np.float64((sb / sc).astype(F))
            f = F(zc - F(za * ra + np.float64(F(rb * zb))))
            v = (p * ra + np.float64((q * rb + np.float64(f)).astype(F))).astype(F)
        return np.clip(np.rint(v.astype(np.float64)), low, high)
    return corners(of, *([v.astype(np.int64) for v in ends] for ends in (a, b)))


class Function:
    """What the file computes of tensors whose (least, greatest) are known, with floats of the type `real`."""

    def __init__(self, model, real=F):
        self.model, self.of_real, self.nodes, self.known = model, real, set(), {}

    def begin(self, name, values):
        self.known[name] = (values, values)
        if self.model.op(name) in MOVES | {"Split", "Slice"}:
            q = self.model.activation(name)  # moved as integers, under the name that the floats have
            self.known[name] = self.known[name] if q is None else self.real((values, values), q)

    def values(self, name):
        """(least, greatest): integers of a quantized tensor, or float32."""
        if name not in self.known:
            constant = self.model.constant(name)
            if constant is not None:
                if constant.size != 1:
                    raise CannotJudge("a table of a function with constants of several elements")
                constant = constant.reshape(-1).astype(self.of_real if constant.dtype == F else constant.dtype)
                self.known[name] = (constant, constant)
            elif name not in self.model.producer:
                raise CannotJudge("a table of a tensor that the file does not have under its name")
            else:
                index = self.model.producer[name]
                self.known[name] = self.of_node(index, self.model.nodes[index])
                self.nodes.add(index)
        return self.known[name]

    def of_node(self, index, node):
        op, a, i, model = node.op_type, attributes(node), [*node.input, "", ""], self.model
        if op == "QuantizeLinear":
            return self.grouped(node, self.quantized(self.values(i[0]), model.quantization(index)))
        if op in FUSED.values():
            qs = [model.scalars(i[k], i[k + 1], dtype=model.dtype(i[0])) for k in (1, 4, 6)]
            return fused(op, self.values(i[0]), qs[0], self.values(i[3]), *qs[1:])
        ends = self.values(i[0])
        is_float = ends[0].dtype == self.of_real
        if op == "DequantizeLinear":
            return self.real(ends, model.quantization(index))
        if op in ("QLinearSigmoid", "QLinearLeakyRelu"):
            plain = helper.make_node(op.removeprefix("QLinear"), node.input[:1], node.output, **a)
            x = model.scalars(i[1], i[2], dtype=model.dtype(i[0]))
            ends = pointwise(plain, [self.real(ends, x)], model.version)
            return self.quantized(ends, model.scalars(i[3], i[4], dtype=model.dtype(i[0])))
        if op in MOVES and (is_float or op != "Cast"):
            return ends
        if not is_float:
            raise CannotJudge(f"a table of {op} of integers")
        return pointwise(node, [self.values(name) for name in node.input if name], model.version)

    def grouped(self, node, ends):
        """With what the integer operator gives in place of DequantizeLinear, Add or Mul, and QuantizeLinear."""
        model, made = self.model, self.model.maker(node.input[0])
        if self.of_real != F or made is None or made.op_type not in FUSED or any(
                model.op(i) != "DequantizeLinear" for i in made.input):
            return ends
        a, b = ((self.values(model.maker(i).input[0]), model.quantization(model.producer[i])) for i in made.input)
        other = fused(FUSED[made.op_type], *a, *b, model.quantization(model.producer[node.output[0]]))
        return np.minimum(ends[0], other[0]), np.maximum(ends[1], other[1])

    def real(self, ends, q):
        q = per_tensor(q, "a tensor before a table")
        real = self.of_real
        return tuple((v.astype(np.int64) - q.zero[0]).astype(real) * real(q.scale[0]) for v in ends)

    def quantized(self, ends, q):
        q = per_tensor(q, "a tensor after a table")
        return tuple(rounded(v, q.scale[0], int(q.zero[0]), q.dtype, self.of_real) for v in ends)


def target_of(model, index):
    """The quantized tensor that the step gives: the node's, or what QuantizeLinear makes of it."""
    name = model.node(index).output[0]
    while not model.op(name).startswith("QLinear") and model.op(name) != "QuantizeLinear":
        after = model.only_consumer(name)
        if after is None:
            raise CannotJudge("a table whose result is not quantized in the file")
        name = model.nodes[after].output[0]
    return name


def check(words, step, traced):
    entries, data = step.entries, words.code.constant(traced, "table")[:256]
    ends = getattr(step, "from"), step.to
    flips = [[0, 128] if end == "int8" else [0] for end in ends]  # it may keep int8 with the top bit inverted
    good = len(entries) == 256 and any(bytes(entries[i ^ x] ^ y for i in range(256)) == data
                                       for x, y in itertools.product(*flips))
    words.need(good, "constant", f"{step.step}: the table of the code is another one")
    numbers = [np.array(v, np.uint8).astype(end).astype(np.int64) for v, end in zip((range(256), entries), ends)]
    against_model(words, step, ends, ("int8", "uint8"), *numbers, F)


def check_words(words, step, traced):
    words.array(step, traced, "index", step.index, "<u2")
    words.array(step, traced, "cubics", step.cubics)
    words.literal(step, traced, f"table_words({step.bits},{step.steps},{step.even},")
    values = np.sort(np.arange(1 << 16).astype(step.type))
    results = results_of_words(step, values)
    against_model(words, step, (step.type,) * 2, ("int16", "uint16"), values.astype(np.int64), results, np.float64)


def results_of_words(step, x):
    """What table_word() of runtime/etch_word_table.h gives of all values x, from the least on."""
    bits, more = step.bits, step.steps
    cubics = np.array(step.cubics, np.int64).reshape(-1, 4)
    lasts = cubics[:, 0].astype(x.dtype).astype(np.int64)
    x = x.astype(np.int64)
    at = (np.array(step.index)[(x - x[0]) >> bits] + (x & ((1 << bits) - 1))) >> bits
    while more:
        at = at + more * (lasts[at + more - 1] < x)
        more //= 2
    upper, *factors = cubics[at].T
    along, shift, total = lasts[at] - x, (upper >> 16) & 15, (upper >> 16) & ~15
    for factor in factors:
        product = total * along
        total = factor + (product >> shift)
        if max(np.abs(product).max(), np.abs(total).max()) >= 1 << 31:
            raise ValueError("32 bits are too few for its polynomials")
    return (total + ((total >> 9) & step.even)) >> 9


def against_model(words, step, ends, allowed, values, results, real):
    """Whether the model has these results for the values; `ends` are the types of both."""
    name, model = step.step, words.model
    target = target_of(model, step.node)
    types = tuple(type_of(model, tensor) for tensor in (step.input, target))
    if not words.need(set(ends) <= set(allowed) and ends == types, "table", f"{name}: {ends}, by the model {types}"):
        return
    function = Function(model, real)
    function.begin(step.input, values)
    low, high = function.values(target)
    model.consulted |= function.nodes
    off = [f"of {values[i]} is {results[i]}, by the model {low[i]} to {high[i]}"
           for i in np.flatnonzero((results < low) | (results > high))]
    words.need(not off, "table", f"{name}: {off[0] if off else ''}; {len(off)} in all")


def type_of(model, name):
    """That of a quantized tensor, which may have the name of the floats that it stands for."""
    kind = model.dtype(name)
    while kind not in INT_RANGE and model.op(name) in CHOOSES | {"DequantizeLinear"}:
        name = model.maker(name).input[0]
        kind = model.dtype(name)
    if kind not in INT_RANGE:
        raise CannotJudge("a table of a tensor whose type is not known from the file")
    return kind
