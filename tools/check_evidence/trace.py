"""Checks the trace: every node of the file becomes a function, part of one, or nothing for a reason
that is recomputed or named; functions are where it says; hashes are those of the files."""

import hashlib
import math
import os
import struct

from .graph import NEUTRAL

KEEPS = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout", "Constant"}  # every value at its place
MOVES = NEUTRAL | {"Cast", "Constant", "Slice", "Concat", "Split", "Shape", "Gather", "Expand"}
ELEMENTWISE = {"Mul", "Add", "Sub", "Div", "Relu", "Clip", "Sigmoid", "HardSigmoid", "HardSwish", "Tanh", "PRelu", "Cast",
               "LeakyRelu", "Exp", "Sqrt", "Neg", "Abs", "Pow", "Erf", "BatchNormalization", "Max", "Min", "Floor",
               "QuantizeLinear", "DequantizeLinear", "Softplus", "Elu", "Reciprocal", "Where", "Equal", "Less", "Greater"}
KEPT = {"Conv", "QLinearConv", "ConvInteger", "Gemm", "QGemm", "MatMul", "QLinearMatMul", "MatMulInteger", "MaxPool",
        "AveragePool", "QuantizeLinear", "DequantizeLinear", "Relu", "Concat", "Add", "Mul", "QLinearAdd"}
JOINED = {"Table", "Expression"}  # of elementwise nodes
OPEN = {"fused", "constant, not recomputed", "quantization of a neighbour", "moved by the addresses of another step",
        "a limit of a neighbour", "part of an expression or table"}  # judged only with a product that they belong to
REPLACED = {"QLinearConv": ("QLinearConvAdd",), "Conv": ("ConvRelu", "QLinearConv", "QLinearConvAdd",
                                                                   "QLinearConv16"),
            "BatchNormalization": ("Conv", "ConvRelu"), "Flatten": ("Reshape",),
            "DynamicQuantizeLinear": ("QuantizeLinear",), "Gemm": ("QGemm", "QLinearMatMul", "QLinearMatMul16"),
            "MatMul": ("QLinearMatMul", "QGemm", "QLinearMatMul16"),
            "Add": ("QLinearAdd", "QLinearSum16"), "Mul": ("QLinearMul",), "Relu": ("QLinearSum16",),
            "QuantizeLinear": ("QLinearSum16",), "AveragePool": ("QLinearAveragePool", "QLinearAveragePool16")}


def digest(data):
    return hashlib.sha256(data).hexdigest()


def inside(folder, path):
    """The path of a listed file; nothing outside of the folder."""
    if os.path.isabs(path) or ".." in path.split("/"):
        raise ValueError(f"{path} leaves the folder")
    return os.path.join(folder, path)


def check_hashes(folder, entries, report, what):
    listed = set()
    for entry in entries:
        listed.add(entry["path"])
        try:
            with open(inside(folder, entry["path"]), "rb") as f:
                data = f.read()
        except (OSError, ValueError) as error:
            report.wrong("hash", f"{what}: {error}")
            continue
        if len(data) != entry["bytes"] or digest(data) != entry["sha256"]:
            report.wrong("hash", f"{what} {entry['path']} is another file")
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(root, name), folder).replace(os.sep, "/")
            if path not in listed and path != "evidence.json" and not path.startswith("build/"):
                report.wrong("hash", f"{what} {path} is not listed")


# ---- functions ----
def check_functions(folder, trace, name, report):
    names = set()
    for step in trace["steps"]:
        if step["name"] in names:
            report.wrong("trace", f"{step['name']} is there twice")
        names.add(step["name"])
        called = step["function"]
        prefix = f"_ZN{len(name)}{name}5steps{len(called)}{called}E"
        if step["symbol"] != prefix:
            report.wrong("symbol", f"{step['name']}: {step['symbol']} is not {prefix}")
        for constant in step["constants"]:
            array = f"{constant['owner']}_{constant['suffix']}"
            if constant["symbol"] != f"_ZN{len(name)}{name}5steps{len(array)}{array}E":
                report.wrong("symbol", f"{step['name']}: {constant['symbol']} is not that of {array}")
        if called != step["name"] and called not in names:
            report.wrong("trace", f"{step['name']} has the code of {called}, which is no earlier step")
        check_lines(folder, step, report)
        floats = [v for v in step["executions"] if "f32" in v or "float" in v]
        if floats and not step["uses_floats"]:
            report.wrong("floats", f"{step['name']} uses {floats[0]}")
    macs = 0
    for index, step in enumerate(trace["steps"]):
        around = [r["trips"] for r in trace["regions"] if r["steps"][0] <= index <= r["steps"][1]]
        macs += step["macs"] * math.prod(around)
    if macs != trace["macs"]:
        report.wrong("work", "the multiplications of the steps are not those of the whole")


def check_lines(folder, step, report):
    code = step.get("code")
    if code is None:
        report.wrong("lines", f"{step['name']}: no place in the code")
        return
    first, last = code["lines"]
    try:
        with open(inside(folder, code["file"]), encoding="ascii", errors="replace") as f:
            lines = f.read().split("\n")
    except (OSError, ValueError) as error:
        report.wrong("lines", f"{step['name']}: {error}")
        return
    good = 1 <= first <= last <= len(lines) and lines[first - 1].startswith(f"void {step['function']}(")
    if not good or lines[last - 1] != "}" or "}" in lines[first - 1:last - 1]:
        report.wrong("lines", f"{step['name']}: {code['file']} has no {step['function']} in {first} to {last}")


def elf_symbols(data):
    """Names that the symbol tables of an ELF file define."""
    if data[:4] != b"\x7fELF":
        return set()
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    offset, = struct.unpack_from(order + ("Q" if wide else "I"), data, 40 if wide else 32)
    size, count = struct.unpack_from(order + "HH", data, 58 if wide else 46)
    header = order + ("4xI16xQQI" if wide else "4xI8xIII")  # kind, place, length, section with the names
    sections = [struct.unpack_from(header, data, offset + i * size) for i in range(count)]
    names = set()
    for _, start, length, link in [s for s in sections if s[0] == 2]:
        for at in range(start, start + length, 24 if wide else 16):
            name, section = struct.unpack_from(order + ("I2xH" if wide else "I10xH"), data, at)
            if section != 0:  # else it is used, and defined elsewhere
                begin = sections[link][1] + name
                names.add(data[begin:data.index(b"\0", begin)].decode("ascii", "replace"))
    return names


def check_symbols(objects, trace, report):
    found = set()
    for path in objects:
        with open(path, "rb") as f:
            found |= elf_symbols(f.read())
    for step in trace["steps"]:
        if not any(s.startswith(step["symbol"]) for s in found):
            report.wrong("symbol", f"{step['name']}: no object has {step['symbol']}")


# ---- nodes ----
class Coverage:
    """Says of every node of the file what became of it."""

    def __init__(self, model, trace, report):
        self.model, self.trace, self.report = model, trace, report
        self.steps, self.fused = {}, {}
        for step in trace["steps"]:
            self.steps.setdefault(step["node"], []).append(step)
        for record in trace["fusions"]:
            self.fused.setdefault(record["node"], []).append(record)

    def check(self):
        self.named_nodes()
        live = self.live_nodes()
        counts = {}
        for index, node in enumerate(self.model.nodes):
            reason = self.reason(index, node, live)
            if reason in OPEN and index not in self.model.consulted:
                self.report.unjudged(f"node {index} ({node.op_type})", reason)
            if reason is None:
                self.report.wrong("coverage", f"node {index} ({node.op_type}) is in no step, and nothing says why")
                reason = "unexplained"
            counts[reason] = counts.get(reason, 0) + 1
        return counts

    def named_nodes(self):
        """Steps and records name nodes that exist, by their operators where these are the file's."""
        nodes = self.model.nodes
        for index, steps in self.steps.items():
            for step in steps:
                if index == -1 and step["op_type"] == "graph output":
                    continue
                if not 0 <= index < len(nodes):
                    self.report.wrong("trace", f"{step['name']}: there is no node {index}")
                elif not related(nodes[index].op_type, step["op_type"]) and index not in self.fused:
                    self.report.wrong("trace", f"{step['name']}: node {index} is {nodes[index].op_type}, not "
                                      f"{step['op_type']}")
                if index >= 0 and not step["name"].startswith((f"n{index}_", f"n{index:02d}_")):
                    self.report.wrong("trace", f"{step['name']} is not named after node {index}")
        for index, records in self.fused.items():
            if not 0 <= index < len(nodes):
                self.report.wrong("trace", f"a fusion of node {index}, which is not there")
            elif not any(related(nodes[index].op_type, r["op_type"]) for r in records):
                self.report.wrong("trace", f"a fusion of node {index} as {records[0]['op_type']}")

    def live_nodes(self):
        stack, live = [self.model.producer[o] for o in self.model.outputs if o in self.model.producer], set()
        while stack:
            live.add(stack.pop())
            inputs = {n for i in live for n in self.model.nodes[i].input} & set(self.model.producer)
            stack = [i for i in {self.model.producer[n] for n in inputs} if i not in live]
        return live

    def reason(self, index, node, live):
        if index in self.steps:
            return "step"
        if index in self.fused:
            return "fused"
        if index not in live:
            return "read by no output"
        if self.model.is_constant_node(index):
            known = all(self.model.constant(o) is not None for o in node.output if o)
            return "constant, recomputed" if known else "constant, not recomputed"
        if node.op_type in ("QuantizeLinear", "DequantizeLinear") and self.near(index, 6):
            return "quantization of a neighbour"
        if node.op_type in KEEPS:
            return "moves no value"
        if node.op_type in MOVES - {"MaxPool"}:
            return "moved by the addresses of another step"
        if node.op_type in ("Relu", "Clip") and self.near(index, 4):
            return "a limit of a neighbour"
        if node.op_type in ELEMENTWISE and self.part_of_expression(index):
            return "part of an expression or table"
        return None

    def part_of_expression(self, index):
        """Whether elementwise nodes lead from here to one whose step joins such nodes."""
        stack, seen = [index], {index}
        while stack:
            i = stack.pop()
            if any(s["op_type"] in JOINED for s in self.steps.get(i, [])):
                return True
            for other in self.model.around(i):
                joins = any(s["op_type"] in JOINED for s in self.steps.get(other, []))
                if other not in seen and (joins or self.model.nodes[other].op_type in ELEMENTWISE):
                    seen.add(other)
                    stack.append(other)
        return False

    def near(self, index, reach):
        edge, seen = {index}, {index}
        for _ in range(reach):
            fresh = set()
            for i in edge:
                fresh |= set(self.model.around(i)) - seen
            if any(i in self.steps or i in self.fused for i in fresh):
                return True
            seen |= fresh
            edge = {i for i in fresh if self.model.nodes[i].op_type in MOVES | {"QuantizeLinear", "DequantizeLinear",
                                                                               "Relu", "Clip"}}
        return any(o in self.model.outputs for o in self.model.nodes[index].output)


def related(file_op, step_op):
    """Whether a pass may have made step_op in place of the node: those that join several nodes keep the place of one.
    Loops, functions and operators that are written as others may become any."""
    if file_op == step_op or step_op in JOINED or file_op not in KEPT:
        return True
    return step_op in REPLACED.get(file_op, ())


def check_quantization(model, trace, report):
    """Scales and zero points that the trace gives for a node are among those of the file."""
    known = set()
    for index, node in enumerate(model.nodes):
        for name in node.input:
            value = model.constant(name)
            if value is not None and str(value.dtype) == "float32":
                known |= {"0x%08x" % v for v in value.reshape(-1).view("uint32")[:100000]}
    for entry in trace["quantization"]:
        for bits in entry["scale"]:
            if bits not in known:
                report.wrong("scale", f"node {entry['node']}, {entry['role']}: no tensor of the file has scale {bits}")
        low, high = entry["zero_point"]
        limits = {"uint8": (0, 255), "int8": (-128, 127)}.get(entry["dtype"])
        if low > high or limits and not (limits[0] <= low and high <= limits[1]):
            report.wrong("zero point", f"node {entry['node']}, {entry['role']}: {low} to {high} of {entry['dtype']}")
