"""Models that are computed while they are built.

Every node is run by ONNX Runtime by itself, without optimizations, as soon as it is added: shapes and values are known at
each point, so that scales fit the values, and the outputs of the whole are at hand. Where ONNX Runtime has no kernel, or
one that is not what the specification says, the node comes with a function of its own.
"""

import pathlib

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

MS = "com.microsoft"
WIDTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65]
BYTES = [np.uint8, np.int8]
LARGEST = 40_000  # elements of one tensor


def saturates():
    """Whether ONNX Runtime's products of uint8 by int8 add pairs in 16 bits that saturate, as it does on x86-64 without
    VNNI: then it is no judge of weights of more than 7 bits."""
    try:
        flags = next(line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags"))
    except (OSError, StopIteration):
        return False
    return not any(flag in flags.split() for flag in ("avx512_vnni", "avx_vnni"))


SATURATES = saturates()


class Unbuildable(Exception):
    """These choices give no model; the caller makes other ones."""


def session(model, level="off"):
    options = ort.SessionOptions()
    options.graph_optimization_level = {
        "off": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
        "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
        "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
        "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
    }[level]
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.add_session_config_entry("session.qdqisint8allowed", "1")
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def in_float32(value):
    """A result of float64 as float32 has it: the arithmetic of every float is float32 (docs/spec/float.md). For operands of
    float32, one sum, product, quotient or root that float64 rounded before is the same, unless it is subnormal."""
    if getattr(value, "dtype", None) != np.float64:
        return value
    with np.errstate(all="ignore"):
        return value.astype(np.float32).astype(np.float64)


class Builder:
    def __init__(self, rng, opset=None):
        self.r = rng
        self.opset = opset or int(rng.choice([13, 15, 17, 17, 18, 19, 21]))
        self.nodes, self.inputs, self.constants, self.values = [], {}, {}, {}
        self.outputs = []
        self.equal = []  # pairs of outputs that have to be the same
        self.exact = True  # whether all floats are results of single operations in one order
        self.loose = set()  # results of nodes whose floats are not
        self.oracles = {}  # by a node's first result: what computes it instead of ONNX Runtime
        self.qdq = False  # whether groups may be fused, which rounds in other places
        self.states = []  # pairs of an output and the input that it is for the next run
        self.notes = []
        self.count = 0
        self.domains = {}
        self.empty = False  # whether tensors without elements are wanted

    # ---- choices ----

    def pick(self, values):
        return values[int(self.r.integers(len(values)))]

    def chance(self, p):
        return bool(self.r.random() < p)

    def between(self, least, most):
        return int(self.r.integers(least, most + 1))

    # ---- tensors ----

    def name(self, hint):
        self.count += 1
        return f"{hint}{self.count}"

    def constant(self, value, hint="c"):
        value = np.asarray(value)
        if self.chance(0.3):  # shared where the same is there
            for name, other in self.constants.items():
                if other.dtype == value.dtype and other.shape == value.shape and np.array_equal(other, value):
                    return name
        name = self.name(hint)
        self.constants[name] = self.values[name] = np.array(value, order="C")
        return name

    def input(self, value, hint="x"):
        name = self.name(hint)
        self.inputs[name] = self.values[name] = np.array(value, order="C")
        return name

    def ints(self, *values):
        return self.constant(np.array(values, np.int64), "i")

    def shape(self, name):
        return list(self.values[name].shape)

    def dtype(self, name):
        return self.values[name].dtype

    def bytes(self, dtype, shape, kind=None):
        info = np.iinfo(dtype)
        least, most = (-64, 63) if SATURATES and dtype == np.int8 else (info.min, info.max)
        kind = kind or self.pick(["full", "full", "full", "ends", "narrow"])
        if kind == "ends":
            return self.r.choice([least, least + 1, most - 1, most], shape).astype(dtype)
        middle = (info.min + info.max) // 2
        if kind == "trained":  # most are small, a few at the ends
            small = np.clip(np.rint(self.r.normal(middle, 25, shape)), least, most)
            large = self.r.random(shape) < self.pick([0.0, 0.003, 0.02])
            return np.where(large, self.r.choice([least, most], shape), small).astype(dtype)
        if kind == "narrow":
            return self.r.integers(middle - 16, middle + 17, shape).astype(dtype)
        return self.r.integers(least, most, shape, endpoint=True).astype(dtype)

    def floats(self, shape, special=0.0):
        values = self.r.normal(0, self.pick([0.3, 1, 4]), shape).astype(np.float32)
        if special and self.chance(special):
            odd = np.array(
                [np.nan, np.inf, -np.inf, 0, -0.0, 1e-40, -1e-42, 3.4e38, -3.4e38, 0.5, 2.5, 127.5], np.float32
            )
            values = np.where(self.r.random(shape) < 0.15, self.r.choice(odd, shape), values).astype(np.float32)
        return values

    def zero_point(self, dtype):
        info = np.iinfo(dtype)
        middle = 0 if info.min < 0 else info.max // 2 + 1
        return dtype(self.pick([info.min, info.max, middle, middle, self.between(info.min, info.max)]))

    # ---- nodes ----

    def node(self, op, inputs, outputs=1, domain="", oracle=None, exact=True, **attributes):
        names = [self.name("t") for _ in range(outputs)]
        node = helper.make_node(op, inputs, names, domain=domain, **attributes)
        oracle = oracle or (np.where if op == "Where" else None)  # ONNX Runtime's loses the sign of a zero
        values = oracle(*[self.values.get(n) for n in inputs]) if oracle else self.run(node)
        if not isinstance(values, (list, tuple)):
            values = [values]
        if op in ("Min", "Max") and self.zeros_of_both_signs(inputs):
            raise Unbuildable("ONNX Runtime takes one zero or the other, by position")
        if op in ("ReduceMax", "ReduceMin") and np.isnan(np.asarray(self.values[inputs[0]], np.float64)).any():
            raise Unbuildable("which NaN ONNX Runtime keeps depends on the shape (docs/spec/float.md)")
        if op == "MaxPool" and self.values[inputs[0]].dtype == np.float32 and not np.isfinite(values[0]).all():
            raise Unbuildable("which NaN and whether -infinity wins depends on the rank (docs/spec/reference.md)")
        if op == "Dropout" and outputs > 1 and self.opset < 12:
            raise Unbuildable("the mask is not filled (ONNX, Dropout-7)")
        if op == "QLinearAdd" and self.sum_beyond_int32(inputs):
            raise Unbuildable("ONNX Runtime's result depends on the CPU (docs/spec/reference.md)")
        for name, value in zip(names, values):
            value = np.asarray(value)
            if (value.size == 0 and not self.empty) or value.size > LARGEST:
                raise Unbuildable(f"{op} gives {value.shape}")
            self.values[name] = value
        self.nodes.append(node)
        if domain:
            self.domains[domain] = 1
        if oracle:
            self.oracles[names[0]] = oracle
        inner = any(a.HasField("g") for a in node.attribute)  # a body may have made the whole inexact (bodies.Body)
        if not exact or inner and not self.exact:
            self.loose.update(names)
        self.exact = self.exact and exact
        return names[0] if outputs == 1 else names

    def again(self, node, values):
        """What the node gives for other values of its inputs."""
        if node.output[0] in self.oracles:
            return [np.asarray(self.oracles[node.output[0]](*[values.get(n) for n in node.input]))]
        other = Builder(self.r, self.opset)
        other.values, other.constants = values, {n: v for n, v in self.constants.items() if values.get(n) is v}
        return other.run(node)

    def zeros_of_both_signs(self, names):
        a, b = np.broadcast_arrays(*[self.values[n] for n in names])
        return a.dtype == np.float32 and bool(((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))).any())

    def sum_beyond_int32(self, names):
        a, a_scale, a_zero, c, c_scale, c_zero, y_scale = (np.asarray(self.values[n], np.float64) for n in names[:7])
        with np.errstate(all="ignore"):
            return bool(np.abs(((a - a_zero) * a_scale + (c - c_zero) * c_scale) / y_scale).max() >= 2.0**31 - 512)

    def run(self, node):
        used = [n for n in dict.fromkeys(self.names_in(node)) if n]
        graph = helper.make_graph(
            [node],
            "one",
            [self.port(n) for n in used if n not in self.constants],
            [onnx.ValueInfoProto(name=n) for n in node.output],
            [numpy_helper.from_array(self.constants[n], n) for n in used if n in self.constants],
        )
        feeds = {n: self.values[n] for n in used if n not in self.constants}
        try:
            values = session(self.wrap(graph, {node.domain: 1})).run(None, feeds)
        except Exception as error:
            raise Unbuildable(f"{node.op_type}: {str(error)[:300]}") from None
        return [in_float32(value) for value in values]

    def names_in(self, node):
        out = [n for n in node.input if n]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                inner = {n for each in attribute.g.node for n in each.output} | {i.name for i in attribute.g.input}
                inner |= {i.name for i in attribute.g.initializer}
                for each in attribute.g.node:
                    out += [n for n in self.names_in(each) if n not in inner]
                out += [o.name for o in attribute.g.output if o.name not in inner]
        return out

    def port(self, name):
        value = self.values[name]
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)

    def wrap(self, graph, domains):
        opsets = [helper.make_opsetid("", self.opset)] + [helper.make_opsetid(d, 1) for d in domains if d]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8 if self.opset < 19 else 9)

    def model(self):
        used = {n for node in self.nodes for n in self.names_in(node)} | set(self.outputs)
        graph = helper.make_graph(
            self.nodes,
            "attack",
            [self.port(n) for n in self.inputs],
            [self.port(n) for n in self.outputs],
            [numpy_helper.from_array(v, n) for n, v in self.constants.items() if n in used],
        )
        return self.wrap(graph, self.domains)

    # ---- the whole ----

    def finish(self):
        """What nothing uses is an output; some of the rest are outputs too, and inputs may be."""
        used = {n for node in self.nodes for n in self.names_in(node)}
        made = [n for node in self.nodes for n in node.output if n]
        ends = [n for n in made if n not in used and n not in self.outputs]
        for name in made:
            if name in used and name not in self.outputs and self.chance(0.08):
                self.outputs.append(name)
        self.outputs += ends
        if self.chance(0.1):
            self.outputs.append(self.node("Identity", [self.pick(self.outputs)]))
        for name in [n for n in self.inputs if n not in used]:
            del self.inputs[name]
        if not self.inputs or not self.nodes:
            raise Unbuildable("no input is used")
        if len(set(self.outputs)) != len(self.outputs):
            raise Unbuildable("an output twice")
        return self.model()
