"""Certificates of tables of 256 bytes: the function that the file has between the two tensors is computed for every byte,
in float32 as its operators say. Exponentials and the like are known within a bound, so values are intervals, and an
entry has to be what one of their ends or something between them is rounded to."""

import math

import numpy as np

from .graph import F, INT_RANGE, NEUTRAL, attributes, rounded
from .products import CannotJudge, per_tensor

RELATIVE, ABSOLUTE = 2e-6, 1e-7  # of functions that every library computes in its own way
MOVES = (NEUTRAL | {"Cast"}) - {"MaxPool"}


def near(low, high, function):
    """A rising function in float64, widened by the bound."""
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = (function(np.asarray(v, np.float64)) for v in (low, high))
        return ((a - np.abs(a) * RELATIVE - ABSOLUTE).astype(F), (b + np.abs(b) * RELATIVE + ABSOLUTE).astype(F))


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def corners(operation, a, b):
    with np.errstate(all="ignore"):
        all_of = [operation(x, y).astype(F) for x in a for y in b]
    return np.minimum.reduce(all_of), np.maximum.reduce(all_of)


RISING = {"Sigmoid": sigmoid, "QLinearSigmoid": sigmoid, "Tanh": np.tanh, "Exp": np.exp,
          "Softplus": lambda v: np.log1p(np.exp(v)), "Erf": np.vectorize(math.erf)}
EXACT = {"Relu": lambda v, a: np.maximum(v, F(0)), "Sqrt": lambda v, a: np.sqrt(np.maximum(v, F(0))),
         "Floor": lambda v, a: np.floor(v), "Ceil": lambda v, a: np.ceil(v),
         "LeakyRelu": lambda v, a: np.where(v < 0, F(a.get("alpha", 0.01)) * v, v).astype(F),
         "HardSigmoid": lambda v, a: np.clip((F(a.get("alpha", 0.2)) * v).astype(F) + F(a.get("beta", 0.5)), F(0), F(1))}
TWO = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Max": np.maximum, "Min": np.minimum}

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
    found = [of(p.astype(np.int64), q.astype(np.int64)) for p in a for q in b]
    return np.minimum.reduce(found), np.maximum.reduce(found)


class Function:
    """What the file computes between `input`, whose elements are all bytes of a type, and another tensor."""

    def __init__(self, model, name, dtype):
        every = np.arange(256)
        self.model, self.nodes = model, set()
        values = np.where(every > 127, every - 256, every) if dtype == "int8" else every
        self.known = {name: (values, values)}
        if name in model.producer and model.nodes[model.producer[name]].op_type in MOVES | {"Split", "Slice"}:
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
        op, a = node.op_type, attributes(node)
        if op == "QuantizeLinear":
            return self.grouped(node, self.quantized(self.values(node.input[0]), self.model.quantize(index)))
        if op in FUSED.values():
            i = node.input
            a, b = (self.model.scalars(i[k], i[k + 1]) for k in (1, 4))
            return fused(op, self.values(i[0]), a, self.values(i[3]), b, self.model.scalars(i[6], i[7]))
        low, high = self.values(node.input[0])
        if op == "DequantizeLinear":
            return self.real((low, high), self.model.dequantize(index))
        if op in ("QLinearSigmoid", "QLinearLeakyRelu"):
            i = [*node.input, "", ""]
            ends = self.real((low, high), self.model.scalars(i[1], i[2]))
            ends = near(*ends, RISING[op]) if op in RISING else tuple(EXACT["LeakyRelu"](v, a) for v in ends)
            return self.quantized(ends, self.model.scalars(i[3], i[4]))
        if op in MOVES and low.dtype == F or op in MOVES - {"Cast"}:
            return low, high
        if low.dtype != F:
            raise CannotJudge(f"a table of {op} of integers")
        if op in RISING:
            return near(low, high, RISING[op])
        if op in EXACT and a.get("alpha", 1) >= 0:
            return EXACT[op](low, a), EXACT[op](high, a)
        if op == "HardSwish":
            return self.hard_swish(low, high)
        if op == "Clip":
            limits = [self.values(i)[0].astype(F) if i else None for i in [*node.input[1:], "", ""][:2]]
            limits = [F(a[k]) if k in a else v for k, v in zip(("min", "max"), limits)]
            return tuple(np.clip(v, *limits) if any(w is not None for w in limits) else v for v in (low, high))
        if op in TWO and len(node.input) == 2:
            return corners(TWO[op], (low, high), self.values(node.input[1]))
        raise CannotJudge(f"a table of {op}")

    def grouped(self, node, ends):
        """With what the integer operator gives that takes the place of DequantizeLinear, Add or Mul, and QuantizeLinear."""
        made = self.model.nodes[self.model.producer[node.input[0]]] if node.input[0] in self.model.producer else node
        ends_of = [self.model.producer.get(i) for i in made.input]
        if made.op_type not in FUSED or None in ends_of or any(
                self.model.nodes[i].op_type != "DequantizeLinear" for i in ends_of):
            return ends
        x = [v for i in ends_of for v in (self.values(self.model.nodes[i].input[0]), self.model.dequantize(i))]
        other = fused(FUSED[made.op_type], *x, self.model.quantize(self.model.producer[node.output[0]]))
        return np.minimum(ends[0], other[0]), np.maximum(ends[1], other[1])

    def hard_swish(self, low, high):
        part = [np.clip((F(1 / 6) * v).astype(F) + F(0.5), F(0), F(1)).astype(F) for v in (low, high)]
        return corners(np.multiply, (low, high), part)

    def real(self, ends, q):
        q = per_tensor(q, "a tensor before a table")
        return tuple(((v.astype(np.int64) - q.zero[0]).astype(F) * q.scale[0]).astype(F) for v in ends)

    def quantized(self, ends, q):
        q = per_tensor(q, "a tensor after a table")
        return tuple(rounded(v, q.scale[0], int(q.zero[0]), q.dtype) for v in ends)


def target_of(model, index):
    """The 8-bit tensor that the step gives: the node's, or what QuantizeLinear makes of it."""
    name = model.nodes[index].output[0]
    while True:
        node = model.nodes[model.producer[name]]
        if node.op_type == "QuantizeLinear" or node.op_type.startswith("QLinear"):
            return name
        after = model.only_consumer(name)
        if after is None:
            raise CannotJudge("a table whose result is not quantized in the file")
        name = model.nodes[after].output[0]


def type_of(model, name):
    """That of the quantized tensor `name`, which QuantizeLinear or an operator of quantized tensors makes; None: not known."""
    index = model.producer.get(name)
    node = None if index is None else model.nodes[index]
    if node is not None and node.op_type == "QuantizeLinear":
        q = model.quantize(index) if len(node.input) > 2 and node.input[2] else None
    elif node is not None and node.op_type in ENDS:
        i = [*node.input, "", ""]
        q = model.scalars(i[ENDS[node.op_type]], i[ENDS[node.op_type] + 1])
    else:
        q = None
    return None if q is None else q.dtype


def check(model, step, traced, report, code):
    name, entries = step["step"], step["entries"]
    in_code(step, traced, report, code)
    if not 0 <= step["node"] < len(model.nodes):
        raise CannotJudge("made by the compiler for a node within a function or loop")
    target = target_of(model, step["node"])
    for end, tensor in (("from", step["input"]), ("to", target)):
        if step[end] not in ("int8", "uint8") or step[end] != (type_of(model, tensor) or step[end]):
            report.wrong("table", f"{name}: {end} {step[end]}, by the model {type_of(model, tensor) or 'a type of 8 bits'}")
            return
    function = Function(model, step["input"], step["from"])
    low, high = function.values(target)
    model.consulted |= function.nodes
    signed = np.asarray([e - 256 if step["to"] == "int8" and e > 127 else e for e in entries])
    off = np.flatnonzero((signed < low) | (signed > high))
    if len(off):
        i = int(off[0])
        report.wrong("table", f"{name}: entry {i} is {signed[i]}, by the model {low[i]} to {high[i]}; {len(off)} in all")


def in_code(step, traced, report, code):
    """The code's table, which may keep int8 with the top bit inverted."""
    owners = [c["owner"] for c in traced["constants"] if c["suffix"] == "table"]
    data = code.arrays.get(f"{owners[0]}_table") if owners else None
    flips = [[0, 128] if step[k] == "int8" else [0] for k in ("from", "to")]
    if len(step["entries"]) != 256 or data is None or not any(
            bytes(step["entries"][i ^ x] ^ y for i in range(256)) == data[:256] for x in flips[0] for y in flips[1]):
        report.wrong("constant", f"{step['step']}: the table of the code is another one")
