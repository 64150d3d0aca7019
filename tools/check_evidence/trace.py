"""Checks the trace: every node of the file becomes a function, part of one, or nothing for a reason that is recomputed
or named; functions are where it says; hashes are those of the files."""

import collections
import hashlib
import math
import pathlib
import subprocess

import numpy as np

from .graph import INT_RANGE, NEUTRAL

KEEPS = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout", "Constant"}  # every value at its place
MOVES = NEUTRAL | {"Cast", "Constant", "Slice", "Concat", "Split", "Shape", "Gather", "Expand"}
ELEMENTWISE = {"Mul", "Add", "Sub", "Div", "Relu", "Clip", "Sigmoid", "HardSigmoid", "HardSwish", "Tanh", "PRelu",
               "LeakyRelu", "Exp", "Sqrt", "Neg", "Abs", "Pow", "Erf", "BatchNormalization", "Max", "Min", "Floor",
               "QuantizeLinear", "DequantizeLinear", "Softplus", "Softsign", "Elu", "Celu", "Selu", "Gelu", "Mish",
               "Round", "Reciprocal", "Where", "Equal", "Less", "Greater", "Cast"}
EDGES, LIMITS = {"QuantizeLinear", "DequantizeLinear"}, {"Relu", "Clip"}
JOINED = {"Table", "Table16", "Expression"}  # of elementwise nodes
ATTENTION = {"MatMul", "Mul", "Div", "Add", "Sub", "Softmax"}  # in a FusedAttention: two products, five nodes between
IN_INTEGERS = {"float_product"}  # the float rule carried out in integers (runtime/etch_integer.h)
JUDGED = {"step", "read by no output", "constant, recomputed", "moves no value"}
# What the file's operators that keep their name may become instead.
MATRICES = ("QLinearMatMul", "QGemm", "QLinearMatMul16", "QLinearProduct16", "FusedAttention")
KEPT = {"QLinearConv": ("QLinearConvAdd",), "Conv": ("ConvRelu", "QLinearConv", "QLinearConvAdd", "QLinearConv16"),
        "Gemm": MATRICES, "MatMul": MATRICES, "Add": ("QLinearAdd", "QLinearSum16"),
        "Mul": ("QLinearMul", "QLinearMul16"), "AveragePool": ("QLinearAveragePool", "QLinearAveragePool16"),
        **dict.fromkeys(("Relu", "QuantizeLinear", "Concat"), ("QLinearSum16",)),
        **dict.fromkeys(("ConvInteger", "QGemm", "QLinearMatMul", "MatMulInteger", "MaxPool", "DequantizeLinear",
                         "QLinearAdd"), ())}


def digest(data):
    return hashlib.sha256(data).hexdigest()


def inside(folder, path):
    """The path of a listed file; nothing outside of the folder."""
    if pathlib.PurePosixPath(path).is_absolute() or ".." in path.split("/"):
        raise ValueError(f"{path} leaves the folder")
    return pathlib.Path(folder, path)


def check_hashes(folder, entries, report, what):
    for entry in entries:
        try:
            data = inside(folder, entry.path).read_bytes()
            report.equal("hash", f"{what} {entry.path}", (entry.bytes, entry.sha256), (len(data), digest(data)))
        except (OSError, ValueError) as error:
            report.need(False, "hash", f"{what}: {error}")
    files = {p.relative_to(folder).as_posix() for p in pathlib.Path(folder).rglob("*") if not p.is_dir()}
    for path in files - {entry.path for entry in entries} - {"evidence.json"}:
        report.need(path.startswith("build/"), "hash", f"{what} {path} is not listed")


# ---- functions ----
def check_functions(folder, trace, name, objects, report):
    names, macs, need = set(), 0, report.need
    for index, step in enumerate(trace.steps):
        own, called = step.name, step.function
        need(own not in names, "trace", f"{own} is there twice")
        names.add(own)
        need(called in names, "trace", f"{own} has the code of {called}, which is no earlier step")
        arrays = [(c.symbol, f"{c.owner}_{c.suffix}") for c in step.constants]
        for claimed, what in [(step.symbol, called), *arrays]:
            report.equal("symbol", f"{own}: {what}", claimed, f"_ZN{len(name)}{name}5steps{len(what)}{what}E")
        need(is_at_its_lines(folder, step), "lines", f"{own}: not in these lines")
        floats = [v for v in vars(step.executions) if ("f32" in v or "float" in v) and v not in IN_INTEGERS]
        need(step.uses_floats or not floats, "floats", f"{own} uses {floats[:1]}")
        macs += step.macs * math.prod(r.trips for r in trace.regions if r.steps[0] <= index <= r.steps[1])
    report.equal("work", "multiplications of all steps", trace.macs, macs)
    if objects:
        found = defined_symbols(objects)
        for step in trace.steps:
            need(any(s.startswith(step.symbol) for s in found), "symbol", f"{step.name}: no object has it")


def is_at_its_lines(folder, step):
    first, last = step.code.lines
    lines = inside(folder, step.code.file).read_text("latin-1").split("\n")
    good = 1 <= first <= last <= len(lines) and lines[first - 1].startswith(f"void {step.function}(")
    return good and lines[last - 1] == "}" and "}" not in lines[first - 1:last - 1]


def defined_symbols(objects):
    """By readelf, which reads objects of any machine."""
    command = ["readelf", "--wide", "--symbols", *objects]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {c[7] for c in map(str.split, listed.split("\n")) if len(c) == 8 and c[6] != "UND"}


# ---- nodes ----
class Coverage:
    """Says of every node of the file what became of it."""

    def __init__(self, model, trace, report):
        self.model, self.report = model, report
        self.steps, self.fused = collections.defaultdict(list), collections.defaultdict(list)  # by node
        for records, by_node in ((trace.steps, self.steps), (trace.fusions, self.fused)):
            for record in records:
                by_node[record.node].append(record)
        ends = {model.producer[o] for o in model.outputs if o in model.producer}
        starts = {i for i, n in enumerate(model.nodes) if "Random" in n.op_type or model.inputs & set(n.input)}
        self.live, self.varying = model.reached(ends, model.before), model.reached(starts, model.after)

    def check(self):
        self.named_nodes()
        counts = collections.Counter()
        for index, node in enumerate(self.model.nodes):
            reason, where = self.reason(index, node), f"node {index} ({node.op_type})"
            if reason not in JUDGED and index not in self.model.consulted:
                self.report.unjudged(where, reason)
            self.report.need(reason, "coverage", f"{where} is in no step, and nothing says why")
            counts[reason] += 1
        return counts

    def named_nodes(self):
        """Steps and records name nodes that exist, by their operators where these are the file's."""
        nodes, need = dict(enumerate(self.model.nodes)), self.report.need
        for index, step in ((i, s) for i, steps in self.steps.items() for s in steps):
            if index == -1 and step.op_type == "graph output":
                continue
            good = index in nodes and (index in self.fused or related(nodes[index].op_type, step.op_type))
            need(good, "trace", f"{step.name}: node {index} is no {step.op_type}")
            need(step.name.startswith((f"n{index}_", f"n{index:02d}_")), "trace", f"{step.name} is not of node {index}")
        for index, records in self.fused.items():
            need(index in nodes and any(related(nodes[index].op_type, r.op_type) for r in records), "trace",
                 f"a fusion of node {index} as {records[0].op_type}")

    def reason(self, index, node):
        op, everywhere = node.op_type, len(self.model.nodes)
        if index in self.steps or index in self.fused or index not in self.live:
            return "step" if index in self.steps else "fused" if index in self.fused else "read by no output"
        if index not in self.varying:
            known = all(self.model.constant(o) is not None for o in node.output if o)
            return "constant, recomputed" if known else "constant, not recomputed"
        if op in EDGES and self.near(index, 6):
            return "quantization of a neighbour"
        if op in KEEPS:
            return "moves no value"
        if op in MOVES - {"MaxPool"}:
            return "moved by the addresses of another step"
        if op in LIMITS and self.near(index, 4):
            return "a limit of a neighbour"
        if op in ATTENTION and self.near(index, 5, ATTENTION | KEEPS, {"FusedAttention"}):
            return "part of attention"
        is_part = op in ELEMENTWISE and self.near(index, everywhere, ELEMENTWISE, JOINED)
        return "part of an expression or table" if is_part else None

    def near(self, index, reach, through=MOVES | EDGES | LIMITS, steps=None):
        """Whether nodes of `through` lead to one with a step, or a step of these operators; or to the end."""
        edge, seen = {index}, {index}
        for _ in range(reach):
            edge = {n for i in edge for n in self.model.before(i) + self.model.after(i)} - seen
            if any(i in self.fused and not steps or any(not steps or s.op_type in steps for s in self.steps.get(i, []))
                   for i in edge):
                return True
            seen |= edge
            edge = {i for i in edge if self.model.nodes[i].op_type in through}
        return not steps and any(o in self.model.outputs for o in self.model.nodes[index].output)


def related(file_op, step_op):
    """Whether a pass may have made step_op in place of the node: those that join several nodes keep the place of one.
    Loops, functions and operators that are written as others may become any."""
    return step_op in JOINED | {file_op, *KEPT.get(file_op, {step_op})}


def check_quantization(model, trace, report):
    """Scales and zero points that the trace gives for a node are among those of the file."""
    claimed = {int(bits, 16) for entry in trace.quantization for bits in entry.scale}
    unknown = np.array(sorted(claimed), np.uint32)
    for value in map(model.constant, {name for node in model.nodes for name in node.input}):
        if value is not None and value.dtype == np.float32:
            unknown = np.setdiff1d(unknown, np.ascontiguousarray(value).view(np.uint32))
    for entry in trace.quantization:
        where, (low, high) = f"node {entry.node}, {entry.role}", entry.zero_point
        others = [bits for bits in entry.scale if int(bits, 16) in unknown]
        report.need(not others, "scale", f"{where}: no tensor of the file has scale {others[:1]}")
        least, most = INT_RANGE.get(entry.dtype, (low, high))
        report.need(least <= low <= high <= most, "zero point", f"{where}: {low} to {high} of {entry.dtype}")
