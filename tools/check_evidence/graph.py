"""A model as the checker reads it: nodes by position, constants that it computes, quantization along the graph."""

import collections
import functools

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

F = np.float32
INT_RANGE = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767)}
# What changes no value of a quantized tensor, only where it is, or chooses among the values.
NEUTRAL = {"Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout", "MaxPool"}
REARRANGES = ("Transpose", "Reshape", "Squeeze", "Unsqueeze", "Identity")
FOLDED = (*REARRANGES, "Constant", "ConstantOfShape", "Cast", "QuantizeLinear", "DequantizeLinear")  # of constants
CHOOSES = NEUTRAL | {"Slice", "Split", "Cast", "Gather", "Relu", "Clip", "Concat", "DepthToSpace", "SpaceToDepth",
                     "Resize", "Pad"}
SAME_SHAPE = ("QuantizeLinear", "DequantizeLinear", "Relu", "Clip", "Identity")
# Which inputs are the scale and zero point of the result.
ENDS = {"QLinearSigmoid": 3, "QLinearLeakyRelu": 3, "QLinearAdd": 6, "QLinearMul": 6, "QLinearConv": 6,
        "QLinearMatMul": 6, "QuantizeLinear": 1,
        **dict.fromkeys(("QLinearAveragePool", "QLinearGlobalAveragePool", "QLinearReduceMean", "QLinearSoftmax"), 3)}


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def rounded(values, scale, zero, dtype, real=F):
    """QuantizeLinear: the quotient is rounded to the nearest even integer, then saturates."""
    q = np.rint(np.asarray(values, real) / real(scale)).astype(np.float64) + zero
    return np.clip(q, *INT_RANGE[dtype]).astype(np.int64)


def evaluated(node, inputs, version):
    """The first result of a node by ONNX's own reference; None where that has no such operator, or refuses it."""
    names = [name and f"x{k}" for k, name in enumerate(node.input)]  # also of one tensor twice
    plain = NodeProto(op_type=node.op_type, input=names, output=node.output[:1], attribute=node.attribute)
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
        equal = np.array_equal(self.scale, other.scale) and np.array_equal(self.zero, other.zero)
        return equal and self.dtype == other.dtype


class Model:
    def __init__(self, proto):
        self.proto, self.nodes = proto, list(proto.graph.node)
        self.version = max((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), default=1)
        self.initializers = {t.name: t for t in proto.graph.initializer}
        self.inputs = {i.name for i in proto.graph.input} - set(self.initializers)
        self.outputs = [o.name for o in proto.graph.output]
        self.producer = {name: i for i, node in enumerate(self.nodes) for name in node.output if name}
        self.consumers = collections.defaultdict(list)
        for i, node in enumerate(self.nodes):
            for name in filter(None, node.input):
                self.consumers[name].append(i)
        self.defaults, self.stated = {}, {}  # what inputs begin with; shapes of the results of steps by the trace
        self.consulted = set()  # nodes that a judged step was judged by

    def take_inputs(self, names, trace):
        """Initializers with the name of an input of the network are no constants, but what it begins with."""
        self.stated = {s.node: s.output_shape for s in trace.steps if s.output_shape}
        for name in names & set(self.initializers):
            self.defaults[name] = numpy_helper.to_array(self.initializers.pop(name)).tobytes()
            self.inputs.add(name)

    # ---- constants ----
    @functools.cache
    def constant(self, name):
        """The value of a tensor that no input reaches; None if it has one or is not computed here."""
        if name in self.initializers:
            return numpy_helper.to_array(self.initializers[name])
        node = self.maker(name)
        inputs = [self.constant(i) for i in node.input if i] if node else []
        if node is None or node.op_type not in FOLDED or any(i is None for i in inputs):
            return None
        if node.op_type != "QuantizeLinear":
            return evaluated(node, inputs, self.version)
        q = self.scalars(*[*node.input, "", ""][1:3], dtype=type_without_zero(node))
        if q.scale.size != 1 or q.zero.size != 1 or q.dtype not in INT_RANGE:
            return None
        return rounded(inputs[0], q.scale[0], int(q.zero[0]), q.dtype).astype(q.dtype)  # also beyond 2^31

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

    # ---- types ----
    @functools.cached_property
    def inferred(self):
        """Types of tensors by ONNX's inference; those that the file states where only its own operators would do."""
        try:
            graph = shape_inference.infer_shapes(self.proto).graph
        except Exception:  # of whatever a file may have
            graph = self.proto.graph
        return {v.name: v.type.tensor_type for v in (*graph.input, *graph.value_info, *graph.output)}

    def sizes(self, name):
        """The shape of a tensor by inference, or by the trace where that does not know it; None: not known."""
        dims = [d.dim_value for d in self.inferred[name].shape.dim] if name in self.inferred else []
        if dims and min(dims) > 0:
            return dims
        stated = self.stated.get(self.producer.get(name))
        return self.sizes(self.maker(name).input[0]) if stated is None and self.op(name) in SAME_SHAPE else stated

    def dtype(self, name):
        """The type of a tensor: a constant's, that of its zero point, or by inference; None: not known."""
        if (value := self.constant(name)) is not None:
            return str(value.dtype)
        if self.op(name) in ENDS:
            node, at = self.maker(name), ENDS[self.op(name)] + 1
            zero = [*node.input, ""][at] if at <= len(node.input) else ""
            if not zero and node.op_type == "QuantizeLinear":
                return type_without_zero(node)
            return self.dtype(zero or node.input[0])
        kind = self.inferred[name].elem_type if name in self.inferred else 0
        return str(helper.tensor_dtype_to_np_dtype(kind)) if kind else None

    # ---- quantization along the graph ----
    def scalars(self, scale, zero, axis=None, dtype="uint8"):
        """Quantized, of inputs of a node: without a scale it is 1; None: not constant."""
        s, z = (self.constant(scale) if scale else F(1)), (self.constant(zero) if zero else 0)
        dtype = str(z.dtype) if zero and z is not None else dtype
        return None if s is None or z is None or dtype is None else Quantized(s, z, dtype, axis)

    def quantization(self, index):
        """That of a QuantizeLinear or DequantizeLinear node; without a zero point the type is that of the integers."""
        self.consulted.add(index)
        node = self.nodes[index]
        scale, zero = [*node.input, ""][1:3]
        integers = node.output[0] if node.op_type == "QuantizeLinear" else node.input[0]
        return self.scalars(scale, zero, attributes(node).get("axis", 1), self.dtype(integers) if not zero else None)

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


def type_without_zero(node):
    """That of what a QuantizeLinear node without a zero point gives."""
    return str(helper.tensor_dtype_to_np_dtype(attributes(node).get("output_dtype") or TensorProto.UINT8))
