"""Reads what the generated files themselves say, as far as the evidence repeats it: arrays, the places
of tensors in the arena, the size of the arena, and the arguments that run() gives to each step."""

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


def number(text, kind):
    if kind == "f" or kind == "d":
        return float.fromhex(text) if "p" in text else float(text)
    return int(text, 0)


def array_at(text, at, kind):
    """The bytes of an initialiser: string literals, or numbers in braces."""
    out = b""
    match = STRING.match(text, at)
    if match:
        while match:
            out += unescaped(match.group(1))
            match = STRING.match(text, match.end())
        return out + b"\0"
    end = text.index("};", at)
    values = [number(t, kind) for t in NUMBER.findall(text, at, end) if not t.startswith("//")]
    if kind in "bhiq":  # -2147483647 - 1 and the like are written as hex by nobody
        bits = 8 * struct.calcsize(kind)
        values = [v - (1 << bits) if v >= 1 << (bits - 1) else v for v in values]
    return struct.pack(f"<{len(values)}{kind}", *values)


class Code:
    def __init__(self, folder, manifest, network):
        self.arrays, self.places, self.arena, self.run = {}, {}, None, ""
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
        for match in ARRAY.finditer(text):
            kind = FORMATS.get(match.group(1))
            if kind is not None:
                self.arrays[match.group(2)] = array_at(text, match.end(), kind)


def check_arrays(code, trace, report):
    """Constants are, byte by byte, those whose hashes the trace has. Returns how many could be read."""
    count = 0
    for step in trace["steps"]:
        for constant in step["constants"]:
            name = f"{constant['owner']}_{constant['suffix']}"
            data = code.arrays.get(name)
            if data is None:
                continue
            count += 1
            size = constant["bytes"]
            if len(data) < size or digest(data[:size]) != constant["sha256"] or any(data[size:]):
                report.wrong("constant", f"{name} in the code is not the array of the trace")
    if code.arrays and not count and any(s["constants"] for s in trace["steps"]):
        report.wrong("constant", "no array of the trace is in the code")
    return count


def check_scales(code, trace, part, report):
    """The factors in the code are those of the certificates, no other and none missing."""
    steps = {s["name"]: s for s in trace["steps"]}
    for step in part["steps"]:
        for constant in steps.get(step["step"], {"constants": []})["constants"]:
            data = code.arrays.get(f"{constant['owner']}_{constant['suffix']}")
            if constant["suffix"] != "scale" or data is None or step["kind"] != "float":
                continue
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


def check_calls(code, trace, memory, accesses, report):
    """run() gives each step the buffers and offsets of its operands."""
    if not code.run or trace["regions"]:
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
            buffer = memory["buffers"][operand["buffer"]]
            match = re.fullmatch(r"at<\w+>\(arena, (\w+)(?: ([+-]) (\d+))?\)", text)
            if buffer["home"] != "arena" or match is None:
                if buffer["home"] == "arena" or match is not None:
                    report.wrong("operand", f"{traced['name']}: {operand['name']} is {text}")
                continue
            offset = int(match.group(3) or 0) * (-1 if match.group(2) == "-" else 1)
            if code.places.get(match.group(1)) != buffer["offset"] or offset != operand["offset"]:
                report.wrong("operand", f"{traced['name']}: {operand['name']} is {text}, not buffer {operand['buffer']}")
    for name, count in seen.items():
        if len(arguments_of(code.run, name)) != count:
            report.wrong("trace", f"run() calls {name} {len(arguments_of(code.run, name))} times, the trace {count}")

