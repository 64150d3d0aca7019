"""Reads what the generated files say: arrays, places of tensors in the arena, its size, arguments that run() gives."""

import re
import struct

from .trace import digest, inside

ARRAY = re.compile(r"\bconst (\w+) (\w+)\[(\d+)\][^={;]*=\s*")
PLACE = re.compile(r"^inline constexpr ptrdiff_t (\w+) = (-?\d+);", re.M)
ARENA = re.compile(r"^inline constexpr size_t kArenaBytes = (\d+);", re.M)
STRING = re.compile(r'\s*(?://[^\n]*\n\s*)*"((?:[^"\\\n]|\\.)*)"')
NUMBER = re.compile(r"//[^\n]*|-?0x[0-9a-fA-F.]+p[+-]?\d+|-?0x[0-9a-fA-F]+|-?\d+(?:\.\d+)?")
ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)")
FORMATS = {"uint8_t": "B", "int8_t": "b", "int16_t": "h", "uint16_t": "H", "int32_t": "i", "uint32_t": "I", "float": "f",
           "int64_t": "q", "bool": "?", "double": "d", "uint64_t": "Q"}


def unescaped(text):
    def one(match):
        code = match.group(1)
        return bytes([int(code, 8)]) if code[:1] in b"01234567" else code
    return ESCAPE.sub(one, text.encode("latin-1"))


def array_at(text, at, kind):
    """The bytes of an initialiser: string literals, or numbers in braces."""
    parts = []
    while match := STRING.match(text, at):
        parts.append(unescaped(match.group(1)))
        at = match.end()
    if parts:
        return b"".join(parts) + b"\0"
    number = (lambda t: float.fromhex(t) if "p" in t else float(t)) if kind in "fd" else lambda t: int(t, 0)
    values = [number(t) for t in NUMBER.findall(text, at, text.index("};", at)) if not t.startswith("//")]
    if kind in "bhiq":  # -2147483647 - 1 and the like are written as hex by nobody
        bits = 8 * struct.calcsize(kind)
        values = [v - (1 << bits) if v >= 1 << (bits - 1) else v for v in values]
    return struct.pack(f"<{len(values)}{kind}", *values)


class Code:
    def __init__(self, folder, manifest, network):
        self.arrays, self.places, self.arena, self.run, self.parameters = {}, {}, None, "", []
        self.folder = folder
        name = network["name"]
        for entry in manifest["generated"]:
            path = entry["path"]
            stem = path.split("/")[-1]
            if "/etch/" in f"/{path}" or not stem.startswith(name + ".") and not stem.startswith(name + "_"):
                continue
            if not stem.endswith((".h", ".cc", ".cpp")):
                continue
            with open(inside(folder, path), encoding="latin-1") as f:
                self.read(f.read(), stem == f"{name}.h", stem.startswith(name + "."))

    def read(self, text, is_header, is_schedule):
        for match in PLACE.finditer(text):
            self.places[match.group(1)] = int(match.group(2))
        if is_header and ARENA.search(text):
            self.arena = int(ARENA.search(text).group(1))
        if is_schedule and "void run(" in text:
            self.run = text[text.index("void run("):]
            words = self.run[len("void run("):self.run.index(")")].split(",")
            self.parameters = [re.findall(r"\w+", word)[-1] for word in words]
        for match in ARRAY.finditer(text):
            kind = FORMATS.get(match.group(1))
            self.arrays[match.group(2)] = None if kind is None else array_at(text, match.end(), kind)

    def function(self, traced):
        """A step's function and those that only it calls, without white space."""
        with open(inside(self.folder, traced["code"]["file"]), encoding="latin-1") as f:
            found = re.findall(rf"^[^\n]*\b{traced['function']}(?:_\w+)?\([^;{{}}]*\{{\n.*?^\}}", f.read(), re.M | re.S)
        return re.sub(r"\s+", "", "".join(found))

    def floats(self, traced):
        """The bits of all floats in a step's function."""
        found = re.findall(r"0x[0-9a-f.]+p[+-]?\d+", self.function(traced))
        return {"0x%08x" % struct.unpack("<I", struct.pack("<f", float.fromhex(v)))[0] for v in found}


def check_arrays(code, trace, report):
    """Constants are, byte by byte, those whose hashes the trace has. Returns the names of those that were judged."""
    judged = set()
    for step in trace["steps"]:
        for constant in step["constants"]:
            name = f"{constant['owner']}_{constant['suffix']}"
            data, size = code.arrays.get(name), constant["bytes"]
            if data is None and name in code.arrays:
                report.unjudged(name, "arrays of a type that is not read")
                continue
            if data is None:
                report.wrong("constant", f"{name} is no array of the code")
                continue
            judged.add(name)
            if len(data) < size or digest(data[:size]) != constant["sha256"] or any(data[size:]):
                report.wrong("constant", f"{name} in the code is not the array of the trace")
    for name in set(code.arrays) - judged:
        report.unjudged(name, "arrays of the code that no step of the trace has")
    return judged


def check_scales(code, trace, part, judged, report):
    """The factors in the code are those of the certificates, no other and none missing."""
    steps = {s["name"]: s for s in trace["steps"]}
    for step in part["steps"]:
        constants = steps.get(step["step"], {"constants": []})["constants"]
        names = [f"{c['owner']}_scale" for c in constants if c["suffix"] == "scale"]
        if step["kind"] == "float" and steps[step["step"]]["kind"] == "avgpool":
            if not {c["scale"] for c in step["channels"]} <= code.floats(steps[step["step"]]):
                report.wrong("scale", f"{step['step']}: the factor in the code is another one")
        elif step["kind"] == "float" and not judged & set(names):
            report.unjudged(step["step"], "factors that are no array of the code")
        for name in judged & set(names) if step["kind"] == "float" else ():
            data = code.arrays[name]
            words = {"0x%08x" % w for w in struct.unpack(f"<{len(data) // 4}I", data)}
            claimed = {c["scale"] for c in step["channels"]}
            if not claimed <= words or words - claimed - {"0x00000000", "0x3f800000"}:
                report.wrong("scale", f"{step['step']}: the factors in the code are others")


def check_places(code, memory, report):
    """Tensors are where the code has them."""
    if code.arena is not None and code.arena != memory["arena"]["bytes"]:
        report.wrong("arena", f"{memory['arena']['bytes']} bytes, in the code {code.arena}")
    for b, buffer in enumerate(memory["buffers"]):
        if buffer["home"] != "arena" or " of " not in buffer["label"]:
            continue
        what, step = buffer["label"].split(" of ", 1)
        place = code.places.get(f"{step}_{what}")
        if place is not None and place != buffer["offset"]:
            report.wrong("buffer", f"buffer {b}: at {buffer['offset']}, in the code at {place}")


def arguments_of(text, name):
    """The arguments of every call of `name` in run(), as texts."""
    out = []
    for match in re.finditer(rf"(?<![\w:]){re.escape(name)}\(([^;]*)\);", text):
        parts, depth, start = [], 0, 0
        body = re.sub(r"\s+", " ", match.group(1))
        for i, c in enumerate(body):
            depth += (c in "(<") - (c in ")>")
            if c == "," and depth == 0:
                parts.append(body[start:i].strip())
                start = i + 1
        out.append(parts + [body[start:].strip()])
    return out


def is_place(code, memory, buffer, offset, text):
    """Whether an argument of run() is this place of the buffer."""
    if buffer["home"] == "arena":
        match = re.fullmatch(r"at<\w+>\(arena, (\w+)(?: ([+-]) (\d+))?\)", text)
        return match is not None and (code.places.get(match.group(1)), int((match.group(2) or "") + (match.group(3) or "0"))
                                      ) == (buffer["offset"], offset)
    match = re.fullmatch(r"(?:at<\w+>\()?(\w+)(?:, (\d+)\))?", text)
    port = buffer["port"] + (len(memory["inputs"]) if buffer["home"] == "output" else 0)
    return match is not None and code.parameters[port:port + 1] == [match.group(1)] and int(match.group(2) or 0) == offset


def check_calls(code, trace, memory, accesses, report):
    """run() gives each step the buffers and offsets of its operands."""
    if not code.run or trace["regions"]:
        report.unjudged("run()", "arguments within loops, or of functions that are shared")
        return
    seen = {}
    for traced, step in zip(trace["steps"], accesses["steps"]):
        calls = arguments_of(code.run, traced["function"])
        at = seen.setdefault(traced["function"], 0)
        seen[traced["function"]] += 1
        if at >= len(calls):
            report.wrong("operand", f"{traced['name']}: run() does not call it")
            continue
        for operand, text in zip(step["operands"], calls[at]):
            if not is_place(code, memory, memory["buffers"][operand["buffer"]], operand["offset"], text):
                report.wrong("operand", f"{traced['name']}: {operand['name']} is {text}, not buffer {operand['buffer']}")
        for text in calls[at][len(step["operands"]):]:
            report.unjudged(f"{traced['name']}({text})", "arguments that are no operands")
    for name in set(re.findall(r"^ +(\w+)\((?=[^;]*\);$)", code.run[:code.run.find("\n}\n")], re.M)) - set(seen):
        report.wrong("trace", f"run() calls {name}, which no step has")
    for name, count in seen.items():
        if len(arguments_of(code.run, name)) != count:
            report.wrong("trace", f"run() calls {name} {len(arguments_of(code.run, name))} times, the trace {count}")

