"""A model as the checker reads it: nodes by position, constants that it computes, quantization found along the graph."""

import numpy as np
import onnx
import onnx.shape_inference
from onnx import numpy_helper

F = np.float32
INT_RANGE = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767)}
# What changes no value of a quantized tensor, only where it is, or chooses among the values.
NEUTRAL = {"Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout", "MaxPool"}


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def type_name(array):
    return str(array.dtype)


def rounded(values, scale, zero, dtype):
    """QuantizeLinear: the quotient is rounded to the nearest even integer, then saturates."""
    low, high = INT_RANGE[dtype]
    q = np.rint((np.asarray(values, F) / F(scale)).astype(F)).astype(np.float64) + zero
    return np.clip(q, low, high).astype(np.int64)


class Quantized:
    """How a tensor is quantized: scale and zero point as flat arrays, and the axis they belong to."""

    def __init__(self, scale, zero, dtype, axis=None):
        self.scale = np.asarray(scale, F).reshape(-1)
        self.zero = np.asarray(zero).astype(np.int64).reshape(-1)
        self.dtype, self.axis = dtype, axis

    def same(self, other):
        return (self.dtype == other.dtype and np.array_equal(self.scale, other.scale)
                and np.array_equal(self.zero, other.zero))


class Model:
    def __init__(self, proto):
        self.proto = proto
        self.graph = proto.graph
        self.nodes = list(self.graph.node)
        self.initializers = {t.name: t for t in self.graph.initializer}
        self.inputs = {i.name for i in self.graph.input} - set(self.initializers)
        self.outputs = [o.name for o in self.graph.output]
        self.producer, self.consumers = {}, {}
        for i, node in enumerate(self.nodes):
            for name in node.output:
                self.producer[name] = i
            for name in node.input:
                self.consumers.setdefault(name, []).append(i)
        self.known = {}
        self.shapes, self.stated = None, {}  # of tensors by inference, of the results of steps by the trace
        self.consulted = set()  # nodes that a judged step was judged by

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
        if name not in self.producer:
            return None
        node = self.nodes[self.producer[name]]
        inputs = [self.constant(i) if i else None for i in node.input]
        if any(i is None for i, n in zip(inputs, node.input) if n):
            return None
        rule = getattr(self, "_fold_" + node.op_type, None)
        try:
            return None if rule is None else rule(attributes(node), *inputs)
        except (ValueError, IndexError, KeyError, TypeError):
            return None

    def is_constant_node(self, index):
        """Whether no input of the model reaches the node, whatever it computes."""
        stack, reached = [index], set()
        while stack:
            i = stack.pop()
            reached.add(i)
            if self.nodes[i].op_type.startswith("Random") or self.inputs & set(self.nodes[i].input):
                return False
            stack += [self.producer[n] for n in self.nodes[i].input if self.producer.get(n, i) not in reached]
        return True

    def around(self, index):
        node = self.nodes[index]
        return [self.producer[n] for n in node.input if n in self.producer] + [
            c for o in node.output for c in self.consumers.get(o, [])]

    def _fold_Constant(self, a):
        if "value" in a:
            return numpy_helper.to_array(a["value"])
        for key, dtype in (("value_float", F), ("value_int", np.int64), ("value_floats", F), ("value_ints", np.int64)):
            if key in a:
                return np.asarray(a[key], dtype)
        return None

    def _fold_Identity(self, a, x):
        return x

    def _fold_Cast(self, a, x):
        return x.astype(onnx.helper.tensor_dtype_to_np_dtype(a["to"]))

    def _fold_Reshape(self, a, x, shape):
        shape = [x.shape[i] if n == 0 and not a.get("allowzero") else int(n) for i, n in enumerate(shape)]
        return x.reshape(shape)

    def _fold_Transpose(self, a, x):
        return np.transpose(x, a.get("perm"))

    def _fold_Squeeze(self, a, x, axes=None):
        axes = a.get("axes") if axes is None else axes
        return np.squeeze(x, None if axes is None else tuple(int(i) for i in axes))

    def _fold_Unsqueeze(self, a, x, axes=None):
        axes = a.get("axes") if axes is None else axes
        return np.expand_dims(x, tuple(int(i) for i in axes))

    def _fold_ConstantOfShape(self, a, shape):
        value = numpy_helper.to_array(a["value"]) if "value" in a else np.zeros(1, F)
        return np.full([int(n) for n in shape], value.reshape(-1)[0], value.dtype)

    def _fold_QuantizeLinear(self, a, x, scale, zero=None):
        zero = np.zeros(1, np.uint8) if zero is None else zero
        if scale.size != 1:
            return None
        return rounded(x, scale.reshape(-1)[0], int(zero.reshape(-1)[0]), type_name(zero)).astype(zero.dtype)

    def _fold_DequantizeLinear(self, a, x, scale, zero=None):
        zero = np.zeros(1, np.int64) if zero is None else zero.astype(np.int64)
        if "block_size" in a and a["block_size"]:
            return None
        if scale.size > 1:
            shape = [1] * x.ndim
            shape[a.get("axis", 1)] = scale.size
            scale, zero = scale.reshape(shape), zero.reshape(shape) if zero.size > 1 else zero
        return ((x.astype(np.int64) - zero).astype(F) * scale.astype(F)).astype(F).reshape(x.shape)

    def sizes(self, name):
        """The shape of a tensor by ONNX's inference; None where it does not know it."""
        if self.shapes is None:
            self.shapes = {}
            try:
                graph = onnx.shape_inference.infer_shapes(self.proto).graph
            except Exception:  # of a file that only its own operators could explain
                graph = self.graph
            for value in [*graph.input, *graph.value_info, *graph.output]:
                dims = value.type.tensor_type.shape.dim
                if dims and all(d.dim_value > 0 for d in dims):
                    self.shapes[value.name] = [d.dim_value for d in dims]
        while name not in self.shapes and name in self.producer:
            index = self.producer[name]
            if index in self.stated:
                return self.stated[index]
            if self.nodes[index].op_type not in ("QuantizeLinear", "DequantizeLinear", "Relu", "Clip", "Identity"):
                return None
            name = self.nodes[index].input[0]
        return self.shapes.get(name)

    # ---- quantization along the graph ----
    def scalars(self, scale, zero, axis=None, dtype=None):
        s = self.constant(scale)
        z = self.constant(zero) if zero else np.zeros(1, dtype or np.uint8)
        if s is None or z is None:
            return None
        return Quantized(s, z, type_name(z), axis)

    def dequantize(self, index):
        """The quantization that a DequantizeLinear node takes away."""
        self.consulted.add(index)
        node = self.nodes[index]
        zero = node.input[2] if len(node.input) > 2 and node.input[2] else None
        a = attributes(node)
        dtype = None
        if zero is None:  # then the type is that of the integers, which a QuantizeLinear has from its zero point
            made = self.nodes[self.producer[node.input[0]]] if node.input[0] in self.producer else node
            x = self.constant(made.input[2] if made.op_type == "QuantizeLinear" and len(made.input) > 2 else node.input[0])
            dtype = None if x is None else x.dtype
        return self.scalars(node.input[1], zero, a.get("axis", 1), dtype)

    def quantize(self, index):
        self.consulted.add(index)
        node = self.nodes[index]
        zero = node.input[2] if len(node.input) > 2 and node.input[2] else None
        return self.scalars(node.input[1], zero, attributes(node).get("axis", 1))

    def activation(self, name):
        """How the float tensor `name` is quantized: that of the DequantizeLinear that it comes from."""
        while name in self.producer:
            index = self.producer[name]
            node = self.nodes[index]
            if node.op_type == "DequantizeLinear":
                return self.dequantize(index)
            if node.op_type not in NEUTRAL and node.op_type not in ("Slice", "Split", "Cast", "Gather", "Relu", "Clip",
                                                                    "Concat", "DepthToSpace", "SpaceToDepth", "Resize",
                                                                    "Pad"):
                return None
            name = node.input[0]
        return None

    def integers(self, name):
        """(integers, Quantized) of a constant float tensor that is dequantized, maybe rearranged after it."""
        rules = []
        while name in self.producer:
            index = self.producer[name]
            node = self.nodes[index]
            if node.op_type == "DequantizeLinear":
                x, q = self.constant(node.input[0]), self.dequantize(index)
                if x is None or q is None:
                    return None
                x = x.astype(np.int64)
                if q.axis is not None and q.axis < 0:
                    q.axis += x.ndim
                for rule, a, rest in reversed(rules):
                    if q.scale.size > 1 and rule is self._fold_Transpose:
                        perm = a.get("perm") or list(range(x.ndim))[::-1]
                        q.axis = list(perm).index(q.axis)
                    elif q.scale.size > 1 and rule is not self._fold_Identity:
                        return None
                    x = rule(a, x, *rest)
                return x, q
            if node.op_type not in ("Transpose", "Reshape", "Squeeze", "Unsqueeze", "Identity"):
                return None
            rules.append((getattr(self, "_fold_" + node.op_type), attributes(node),
                          [self.constant(i) for i in node.input[1:]]))
            name = node.input[0]
        return None

    def only_consumer(self, name):
        users = self.consumers.get(name, [])
        return users[0] if len(users) == 1 and name not in self.outputs else None
