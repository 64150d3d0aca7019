"""Detours: any family's model with what a reader of the passes would put where a pattern just fails or just fits. Nodes read
copies, pairs of Q and DQ with equal and almost equal scales, transposes there and back; tensors get a second reader or are
outputs; nodes are there twice; constants are computed or have one element more of rank."""

import numpy as np
from onnx import helper, numpy_helper

from builder import Builder, Unbuildable

FLOAT = np.float32
# ONNX Runtime needs constants for the first; what is before the second decides whether it is fused there, which rounds elsewhere.
UNTOUCHED = ("QLinearWhere", "Softmax")
SHARE = 0.12  # of the inputs that take a detour


class Hostile(Builder):
    def __init__(self, rng, opset=None):
        super().__init__(rng, opset)
        self.inside = False  # of a detour, which takes none itself

    def node(self, op, inputs, outputs=1, domain="", oracle=None, exact=True, **attributes):
        if self.inside or oracle is not None or op in UNTOUCHED:
            return super().node(op, inputs, outputs, domain, oracle, exact, **attributes)
        ins = [self.detour(n) if n and self.chance(SHARE) else n for n in inputs]
        try:
            result = super().node(op, ins, outputs, domain, oracle, exact, **attributes)
        except Unbuildable:  # what was a constant for ONNX Runtime is none any more
            result = super().node(op, inputs, outputs, domain, oracle, exact, **attributes)
        for name in [result] if outputs == 1 else result:
            self.beside(name)
        if self.chance(0.06):
            super().node(op, ins, outputs, domain, oracle, exact, **attributes)  # the same once more
        return result

    def beside(self, name):
        """A second reader, or an output."""
        if not self.chance(0.12) or self.values[name].size == 0:
            return
        kind = self.pick(["output", "output", "copy", "shape", "quantize", "move", "reduce"])
        self.inside = True
        try:
            if kind == "output" and name not in self.outputs:
                self.outputs.append(name)
            elif kind == "copy":
                self.node("Identity", [name])
            elif kind == "shape":
                self.node("Shape", [name])
            elif kind == "quantize" and self.dtype(name) == FLOAT:
                self.quantize(name)
            elif kind == "move" and self.shape(name):
                self.node("Transpose", [name])
            elif kind == "reduce" and self.dtype(name) == FLOAT and np.isfinite(self.values[name]).all():
                self.node("ReduceMax", [name], keepdims=0)
        except Unbuildable:
            pass
        self.inside = False

    def quantize(self, name):
        self.qdq = True
        scale, zero = self.constant(FLOAT(self.pick([0.02, 0.05, 1, 2.0**-6]))), self.zero_point(
            self.pick([np.uint8, np.int8])
        )
        return self.node("QuantizeLinear", [name, scale, self.constant(zero)])

    def detour(self, name):
        value = self.values[name]
        if value.size == 0 or value.size > 20_000 or (value.size == 1 and name not in self.constants):
            return name
        self.inside = True
        try:
            name = self.computed(name) if name in self.constants else self.around(name)
        except Unbuildable:
            pass
        self.inside = False
        return name

    def computed(self, name):
        """A constant as the result of an operator."""
        value = self.constants[name]
        kind = self.pick(["identity", "constant", "reshape", "cast", "slice", "concat", "unshared"])
        if kind == "identity":
            return self.node("Identity", [name])
        if kind == "constant":
            return self.node("Constant", [], value=numpy_helper.from_array(value))
        if kind == "reshape":
            flat = self.constant(value.reshape(-1))
            return self.node("Reshape", [flat, self.ints(*value.shape)]) if value.ndim else name
        if (
            kind == "cast"
            and value.dtype in (np.uint8, np.int8, np.int32)
            and (np.abs(value.astype(np.int64)) < 2**24).all()
        ):
            return self.node(
                "Cast", [self.constant(value.astype(FLOAT))], to=helper.np_dtype_to_tensor_dtype(value.dtype)
            )
        if kind == "slice" and value.ndim:
            longer = self.constant(np.concatenate([value, value[:1]]))
            return self.node("Slice", [longer, self.ints(0), self.ints(value.shape[0]), self.ints(0)])
        if kind == "concat" and value.ndim and value.shape[0] > 1:
            return self.node("Concat", [self.constant(value[:1]), self.constant(value[1:])], axis=0)
        other = self.name("c")
        self.constants[other] = self.values[other] = value
        return other

    def around(self, name):
        """The same values by way of other operators."""
        value, shape = self.values[name], self.shape(name)
        kinds = [
            "identity",
            "cast",
            "reshape",
            "transpose",
            "slice",
            "pad",
            "concat",
            "split",
            "expand",
            "squeeze",
            "gather",
        ]
        if value.dtype == FLOAT:
            kinds += ["pair"] * 6 + ["relu", "clip", "dropout", "mul"]
        kind = self.pick(kinds)
        rank = len(shape)
        if kind == "identity":
            return self.node("Identity", [name])
        if kind == "cast":
            return self.node("Cast", [name], to=helper.np_dtype_to_tensor_dtype(value.dtype))
        if kind == "pair":
            return self.pair(name)
        if kind == "relu":
            return self.node("Relu", [name])
        if kind == "clip":
            return self.node(
                "Clip", [name] + self.pick([[], ["", ""], [self.constant(FLOAT(0))], ["", self.constant(FLOAT(6))]])
            )
        if kind == "dropout":
            extra = [self.constant(FLOAT(0.5))] if self.chance(0.5) else []
            return self.dropout(name, extra)
        if kind == "mul":
            return self.node("Mul", [name, self.constant(np.full([1] * self.pick([0, 1, rank]), 1, FLOAT))])
        if kind == "expand":
            return self.node("Expand", [name, self.ints(*self.pick([[1], shape or [1]]))]) if rank else name
        if not rank:
            return name
        axis = self.between(-rank, rank - 1)
        if kind == "reshape":
            return self.node("Reshape", [self.node("Flatten", [name], axis=axis % rank), self.ints(*shape)])
        if kind == "transpose":
            perm = [int(v) for v in self.r.permutation(rank)]
            return self.node(
                "Transpose", [self.node("Transpose", [name], perm=perm)], perm=[int(v) for v in np.argsort(perm)]
            )
        if kind == "slice":
            return self.node("Slice", [name, self.ints(0), self.ints(2**31 - 1), self.ints(axis)])
        if kind == "pad":
            return self.node("Pad", [name, self.ints(*[0] * 2 * rank)])
        if kind == "concat":
            return self.node("Concat", [name], axis=axis)
        if kind == "split" and shape[axis] > 1:
            first = self.between(1, shape[axis] - 1)
            parts = self.node("Split", [name, self.ints(first, shape[axis] - first)], 2, axis=axis)
            return self.node("Concat", parts, axis=axis)
        if kind == "squeeze":
            more = self.node("Unsqueeze", [name, self.ints(axis)])
            return self.node("Squeeze", [more, self.ints(axis)])
        if kind == "gather":
            return self.node("Gather", [name, self.constant(np.arange(shape[axis]))], axis=axis)
        return name

    def finish(self):
        self.equal = []  # pairs of Q and DQ, and limits, change values
        return super().finish()

    def dropout(self, name, extra):
        if self.chance(0.4):
            y, mask = self.node("Dropout", [name] + extra, 2)
            return y
        return self.node("Dropout", [name] + extra)

    def pair(self, name):
        """Q and DQ whose parameters are equal, or almost."""
        self.qdq = True
        value = self.values[name]
        most = float(np.abs(value[np.isfinite(value)]).max()) if np.isfinite(value).any() else 0
        first = self.pick([1, 1, 0.5]) * max(most, 1e-20) / 127
        scale = FLOAT(first if self.chance(0.7) else 2.0 ** np.ceil(np.log2(first)))
        kind = self.pick([np.uint8, np.int8])
        zero = kind(128) if kind == np.uint8 else self.zero_point(kind)
        if self.chance(0.2) and value.size and np.nanmin(value) >= 0:
            zero = kind(np.iinfo(kind).min)
        to = self.pick([scale, scale, scale, np.nextafter(scale, FLOAT(np.inf)), FLOAT(scale * 2)])
        shape = self.pick([[], [], [1]])
        names = [self.constant(np.full(shape, scale, FLOAT)), self.constant(np.full(shape, zero, kind))]
        others = [
            self.constant(np.full(shape, to, FLOAT)),
            self.constant(np.full(shape, self.pick([zero, zero, zero, kind(7)]), kind)),
        ]
        q = self.node("QuantizeLinear", [name] + names)
        if self.chance(0.3) and len(self.shape(q)) > 1:
            perm = [int(v) for v in self.r.permutation(len(self.shape(q)))]
            q = self.node(
                "Transpose", [self.node("Transpose", [q], perm=perm)], perm=[int(v) for v in np.argsort(perm)]
            )
        y = self.node("DequantizeLinear", [q] + others)
        return (
            self.node("DequantizeLinear", [self.node("QuantizeLinear", [y] + names)] + names) if self.chance(0.3) else y
        )
