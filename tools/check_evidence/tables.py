"""Certificates of tables of 256 bytes: the function that the file has between the two tensors is computed for every byte,
in float32 as its operators say. Exponentials and the like are known within a bound, so values are intervals, and an
entry has to be what one of their ends or something between them is rounded to."""

import itertools

import numpy as np
from onnx import helper

from .graph import F, INT_RANGE, NEUTRAL, attributes, evaluated, rounded
from .products import CannotJudge, per_tensor

RELATIVE, ABSOLUTE = 2e-6, 1e-7  # of functions that every library computes in its own way
APART = {"Sigmoid", "Tanh", "Exp", "Softplus", "Erf"}
# In float32 exact, and rising or falling in each operand.
RISING = {"Relu", "Sqrt", "Floor", "Ceil", "LeakyRelu", "HardSigmoid", "Clip", "Add", "Sub", "Mul", "Div", "Max", "Min"}
MOVES = (NEUTRAL | {"Cast"}) - {"MaxPool"}


def corners(operation, *operands):
    """Of an operation that rises or falls in each operand."""
    with np.errstate(all="ignore"):
        found = [operation(*ends) for ends in itertools.product(*operands)]
    return np.minimum.reduce(found), np.maximum.reduce(found)


def pointwise(node, operands, version):
    """An operator of floats by ONNX's reference: in float64 and widened by the bound where libraries differ."""
    op, a = node.op_type, attributes(node)
    if op == "HardSwish":
        part = helper.make_node("HardSigmoid", node.input, node.output, alpha=1 / 6)
        return corners(np.multiply, operands[0], pointwise(part, operands, version))
    if op not in APART | RISING or a.get("alpha", 1) < 0 or evaluated(node, [v for v, _ in operands], version) is None:
        raise CannotJudge(f"a table of {op}")
    if op == "Sqrt":
        operands = [[np.maximum(v, F(0)) for v in operands[0]]]
    if op in APART:
        operands = [[np.asarray(v, np.float64) for v in operands[0]]]
    low, high = corners(lambda *values: evaluated(node, values, version), *operands)
    if op in APART:
        low, high = low - np.abs(low) * RELATIVE - ABSOLUTE, high + np.abs(high) * RELATIVE + ABSOLUTE
    return low.astype(F), high.astype(F)


# Which inputs are the scale and zero point of the result.
ENDS = {"QLinearSigmoid": 3, "QLinearLeakyRelu": 3, "QLinearAdd": 6, "QLinearMul": 6, "QLinearConv": 6, "QLinearMatMul": 6}
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
    """What the file computes between `input`, whose elements are all bytes of a type, and another tensor."""

    def __init__(self, model, name, dtype):
        every = np.arange(256)
        self.model, self.nodes = model, set()
        values = np.where(every > 127, every - 256, every) if dtype == "int8" else every
        self.known = {name: (values, values)}
        if model.op(name) in MOVES | {"Split", "Slice"}:
            q = model.activation(name)  # moved as integers, under the name that the floats have
            self.known[name] = self.known[name] if q is None else self.real((values, values), q)

    def values(self, name):
        """(least, greatest): integers of a quantized tensor, or float32."""
        if name not in self.known:
            constant = self.model.constant(name)
            if constant is not None:
                if constant.size != 1:
                    raise CannotJudge("a table of a function with constants of several elements")
                self.known[name] = (constant.reshape(-1), constant.reshape(-1))
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
            qs = [model.scalars(i[k], i[k + 1]) for k in (1, 4, 6)]
            return fused(op, self.values(i[0]), qs[0], self.values(i[3]), *qs[1:])
        ends = self.values(i[0])
        is_float = ends[0].dtype == F
        if op == "DequantizeLinear":
            return self.real(ends, model.quantization(index))
        if op in ("QLinearSigmoid", "QLinearLeakyRelu"):
            plain = helper.make_node(op.removeprefix("QLinear"), node.input[:1], node.output, **a)
            ends = pointwise(plain, [self.real(ends, model.scalars(i[1], i[2]))], model.version)
            return self.quantized(ends, model.scalars(i[3], i[4]))
        if op in MOVES and (is_float or op != "Cast"):
            return ends
        if not is_float:
            raise CannotJudge(f"a table of {op} of integers")
        return pointwise(node, [self.values(name) for name in node.input if name], model.version)

    def grouped(self, node, ends):
        """With what the integer operator gives that takes the place of DequantizeLinear, Add or Mul, and QuantizeLinear."""
        model, made = self.model, self.model.maker(node.input[0])
        if made is None or made.op_type not in FUSED or any(model.op(i) != "DequantizeLinear" for i in made.input):
            return ends
        x = [v for i in made.input for v in (self.values(model.maker(i).input[0]), model.quantization(model.producer[i]))]
        other = fused(FUSED[made.op_type], *x, model.quantization(model.producer[node.output[0]]))
        return np.minimum(ends[0], other[0]), np.maximum(ends[1], other[1])

    def real(self, ends, q):
        q = per_tensor(q, "a tensor before a table")
        return tuple(((v.astype(np.int64) - q.zero[0]).astype(F) * q.scale[0]).astype(F) for v in ends)

    def quantized(self, ends, q):
        q = per_tensor(q, "a tensor after a table")
        return tuple(rounded(v, q.scale[0], int(q.zero[0]), q.dtype) for v in ends)


def target_of(model, index):
    """The 8-bit tensor that the step gives: the node's, or what QuantizeLinear makes of it."""
    name = model.nodes[index].output[0]
    while not model.op(name).startswith("QLinear") and model.op(name) != "QuantizeLinear":
        after = model.only_consumer(name)
        if after is None:
            raise CannotJudge("a table whose result is not quantized in the file")
        name = model.nodes[after].output[0]
    return name


def type_of(model, name):
    """That of the quantized tensor `name`, which QuantizeLinear or an operator of quantized tensors makes; None: not known."""
    node = model.maker(name)
    at = 1 if model.op(name) == "QuantizeLinear" else ENDS.get(model.op(name))
    q = None if at is None else model.scalars(*[*node.input, "", ""][at:at + 2])
    return None if q is None or at == 1 and not [*node.input, ""][2] else q.dtype


def check(model, step, traced, report, code):
    name, entries = step["step"], step["entries"]
    owners = [c["owner"] for c in traced["constants"] if c["suffix"] == "table"]
    data = code.arrays.get(f"{owners[0]}_table") if owners else None
    flips = [[0, 128] if step[k] == "int8" else [0] for k in ("from", "to")]  # it may keep int8 with the top bit inverted
    report.need(len(entries) == 256 and data is not None and any(
        bytes(entries[i ^ x] ^ y for i in range(256)) == data[:256] for x in flips[0] for y in flips[1]), "constant",
                f"{name}: the table of the code is another one")
    if not 0 <= step["node"] < len(model.nodes):
        raise CannotJudge("made by the compiler for a node within a function or loop")
    target = target_of(model, step["node"])
    for end, tensor in (("from", step["input"]), ("to", target)):
        if not report.need(step[end] in ("int8", "uint8") and step[end] == (type_of(model, tensor) or step[end]), "table",
                           f"{name}: {end} {step[end]}, by the model {type_of(model, tensor) or 'a type of 8 bits'}"):
            return
    function = Function(model, step["input"], step["from"])
    low, high = function.values(target)
    model.consulted |= function.nodes
    signed = np.asarray([e - 256 if step["to"] == "int8" and e > 127 else e for e in entries])
    off = [f"entry {i} is {signed[i]}, by the model {low[i]} to {high[i]}"
           for i in np.flatnonzero((signed < low) | (signed > high))]
    report.need(not off, "table", f"{name}: {off[0] if off else ''}; {len(off)} in all")
