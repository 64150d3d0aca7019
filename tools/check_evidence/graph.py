"""A model as the checker reads it: nodes by position, constants that it computes, quantization found along the graph."""

import numpy as np
import onnx
import onnx.shape_inference
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

F = np.float32
INT_RANGE = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767)}
# What changes no value of a quantized tensor, only where it is, or chooses among the values.
NEUTRAL = {"Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout", "MaxPool"}
REARRANGES = ("Transpose", "Reshape", "Squeeze", "Unsqueeze", "Identity")
FOLDED = (*REARRANGES, "Constant", "ConstantOfShape", "Cast", "QuantizeLinear", "DequantizeLinear")  # of constants
CHOOSES = NEUTRAL | {"Slice", "Split", "Cast", "Gather", "Relu", "Clip", "Concat", "DepthToSpace", "SpaceToDepth", "Resize",
                     "Pad"}


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def rounded(values, scale, zero, dtype, real=F):
    """QuantizeLinear: the quotient is rounded to the nearest even integer, then saturates."""
    low, high = INT_RANGE[dtype]
    q = np.rint(np.asarray(values, real) / real(scale)).astype(np.float64) + zero
    return np.clip(q, low, high).astype(np.int64)


def evaluated(node, inputs, version):
    """The first result of a node by ONNX's own reference; None where that has no such operator, or refuses it."""
    names = [name and f"x{k}" for k, name in enumerate(node.input)]  # also of one tensor twice
    plain = onnx.NodeProto(op_type=node.op_type, input=names, output=node.output[:1], attribute=node.attribute)
    if node.op_type == "DequantizeLinear":
        version = max(version, 19)  # the reference has no earlier one
    try:
        return ReferenceEvaluator(plain, {"": version}).run(None, dict(zip(filter(None, names), inputs)))[0]
    except Exception:  # of whatever a file may ask for
        return None


class CannotJudge(Exception):
    """Why the checker has no opinion."""


class Quantized:
    """How a tensor is quantized: scale and zero point as flat arrays, and the axis they belong to."""

    def __init__(self, scale, zero, dtype, axis=None):
        self.scale = np.asarray(scale, F).reshape(-1)
        self.zero = np.asarray(zero).astype(np.int64).reshape(-1)
        self.dtype, self.axis = dtype, axis

    def same(self, other):
        return self.dtype == other.dtype and all(map(np.array_equal, (self.scale, self.zero), (other.scale, other.zero)))


class Model:
    def __init__(self, proto):
        self.proto = proto
        self.graph = proto.graph
        self.nodes = list(self.graph.node)
        self.version = max((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), default=1)
        self.initializers = {t.name: t for t in self.graph.initializer}
        self.inputs = {i.name for i in self.graph.input} - set(self.initializers)
        self.outputs = [o.name for o in self.graph.output]
        self.producer, self.consumers = {}, {}
        for i, node in enumerate(self.nodes):
            self.producer.update({name: i for name in node.output if name})
            for name in filter(None, node.input):
                self.consumers.setdefault(name, []).append(i)
        self.known, self.defaults = {}, {}
        self.shapes, self.stated = None, {}  # of tensors by inference, of the results of steps by the trace
        self.consulted = set()  # nodes that a judged step was judged by

    def take_inputs(self, names):
        """Initializers with the name of an input of the network are no constants, but what it begins with."""
        for name in set(names) & set(self.initializers):
            self.defaults[name] = numpy_helper.to_array(self.initializers.pop(name)).tobytes()
            self.inputs.add(name)

    # ---- constants ----
    def constant(self, name):
        """The value of a tensor that no input reaches; None if it has one or is not computed here."""
        if name not in self.known:
            self.known[name] = None
            self.known[name] = self._constant(name)
        return self.known[name]

    def _constant(self, name):
        if name in self.initializers:
            return numpy_helper.to_array(self.initializers[name])
        node = self.maker(name)
        inputs = [self.constant(i) for i in node.input if i] if node else []
        if node is None or node.op_type not in FOLDED or any(i is None for i in inputs):
            return None
        if node.op_type != "QuantizeLinear":
            return evaluated(node, inputs, self.version)
        if len(inputs) < 2:
            return None
        x, scale, zero = (*inputs, np.zeros(1, np.uint8))[:3]  # the reference does not saturate beyond 2^31
        if scale.size != 1 or zero.size != 1 or str(zero.dtype) not in INT_RANGE:
            return None
        return rounded(x, scale.reshape(-1)[0], int(zero.reshape(-1)[0]), str(zero.dtype)).astype(zero.dtype)

    # ---- the graph ----
    def node(self, index):
        """One that a step is judged by."""
        if not 0 <= index < len(self.nodes):
            raise CannotJudge("made by the compiler for a node within a function or loop")
        self.consulted.add(index)
        return self.nodes[index]

    def maker(self, name):
        """The node that gives a tensor, or None."""
        return self.nodes[self.producer[name]] if name in self.producer else None

    def op(self, name):
        """Its operator, or nothing."""
        return self.maker(name).op_type if name in self.producer else ""

    def only_consumer(self, name):
        users = self.consumers.get(name, [])
        return users[0] if len(users) == 1 and name not in self.outputs else None

    def before(self, index):
        return [self.producer[n] for n in self.nodes[index].input if n in self.producer]

    def after(self, index):
        return [c for o in self.nodes[index].output for c in self.consumers.get(o, [])]

    def reached(self, start, following):
        """All nodes on the ways from some."""
        stack, seen = list(start), set(start)
        while stack:
            fresh = set(following(stack.pop())) - seen
            seen |= fresh
            stack += fresh
        return seen

    def live_nodes(self):
        """Those that an output of the model needs."""
        return self.reached({self.producer[o] for o in self.outputs if o in self.producer}, self.before)

    def varying_nodes(self):
        """Those that an input of the model, or chance, reaches."""
        start = {i for i, n in enumerate(self.nodes) if n.op_type.startswith("Random") or self.inputs & set(n.input)}
        return self.reached(start, self.after)

    def sizes(self, name):
        """The shape of a tensor by ONNX's inference; None where it does not know it."""
        if self.shapes is None:
            try:
                graph = onnx.shape_inference.infer_shapes(self.proto).graph
            except Exception:  # of a file that only its own operators could explain
                graph = self.graph
            values = [*graph.input, *graph.value_info, *graph.output]
            dims = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in values}
            self.shapes = {name: d for name, d in dims.items() if d and min(d) > 0}
        same = ("QuantizeLinear", "DequantizeLinear", "Relu", "Clip", "Identity")
        while name not in self.shapes and self.producer.get(name) not in self.stated and self.op(name) in same:
            name = self.maker(name).input[0]
        return self.shapes.get(name) or self.stated.get(self.producer.get(name))

    # ---- quantization along the graph ----
    def scalars(self, scale, zero, axis=None, dtype=None):
        """Quantized, of inputs of a node: without a scale it is 1; None: not constant."""
        s = self.constant(scale) if scale else F(1)
        z = self.constant(zero) if zero else np.zeros(1, dtype or np.uint8)
        return None if s is None or z is None else Quantized(s, z, str(z.dtype), axis)

    def quantization(self, index):
        """That of a QuantizeLinear or DequantizeLinear node."""
        self.consulted.add(index)
        node, dtype = self.nodes[index], None
        scale, zero = [*node.input, ""][1:3]
        if not zero and node.op_type == "DequantizeLinear":  # then the type is that of the integers
            made = self.maker(node.input[0])
            x = made.input[2] if made and made.op_type == "QuantizeLinear" and len(made.input) > 2 else node.input[0]
            dtype = None if self.constant(x) is None else self.constant(x).dtype
        return self.scalars(scale, zero, attributes(node).get("axis", 1), dtype)

    def activation(self, name):
        """How the float tensor `name` is quantized: that of the DequantizeLinear that it comes from."""
        while self.op(name) in CHOOSES:
            name = self.maker(name).input[0]
        return self.quantization(self.producer[name]) if self.op(name) == "DequantizeLinear" else None

    def integers(self, name):
        """(integers, Quantized) of a constant float tensor that is dequantized, maybe rearranged after it."""
        rules = []
        while self.op(name) in REARRANGES:
            rules.insert(0, self.maker(name))
            name = rules[0].input[0]
        if self.op(name) != "DequantizeLinear":
            return None
        x, q = self.constant(self.maker(name).input[0]), self.quantization(self.producer[name])
        if x is None or q is None:
            return None
        x = x.astype(np.int64)
        q.axis += x.ndim if q.axis < 0 else 0
        for node in rules:
            if q.scale.size > 1 and node.op_type == "Transpose":
                q.axis = list(attributes(node).get("perm") or list(range(x.ndim))[::-1]).index(q.axis)
            elif q.scale.size > 1 and node.op_type != "Identity":
                return None
            x = evaluated(node, [x, *map(self.constant, filter(None, node.input[1:]))], self.version)
        return None if x is None else (x, q)
