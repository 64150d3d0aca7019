"""Reads what the generated files say: arrays, places of tensors in the arena, its size, arguments that run() gives."""

import re
import struct

import numpy as np

from .products import bits_of
from .trace import digest, inside

ARRAY = re.compile(r"\bconst (\w+) (\w+)\[\d+\][^={;]*=\s*")
PLACE = re.compile(r"^inline constexpr ptrdiff_t (\w+) = (-?\d+);", re.M)
ARENA = re.compile(r"^inline constexpr size_t kArenaBytes = (\d+);", re.M)
RUN = re.compile(r"void run\(([^)]*)\)(.*?)^\}", re.M | re.S)
CALL = re.compile(r"^ +(\w+)\(([^;]*)\);$", re.M)
COPY = re.compile(r"memcpy\(state\.bytes \+ (\d+),\s*steps::(\w+),\s*(\d+)\)")
POINTER = re.compile(r"(\w+) =\s+at<\w+>\(state\.bytes,\s*(\d+)\);")
STRING = re.compile(r'//[^\n]*|"((?:[^"\\\n]|\\.)*)"')
LEAST = re.compile(r"\((-\d+) - 1\)")  # of a type whose least value has no literal
NUMBER = re.compile(r"//[^\n]*|-?0x[0-9a-fA-F.]+p[+-]?\d+|-?0x[0-9a-fA-F]+|-?\d+(?:\.\d+)?")
SIZES = {"uint8_t": 1, "int8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4, "int64_t": 8, "uint64_t": 8,
         "bool": 1, "float": "<f", "double": "<d"}


def array_at(text, size):
    """The bytes of an initialiser: string literals with octal escapes, or numbers in braces; None: of another type."""
    if '"' in text[:1]:
        return b"".join(s.encode("latin-1").decode("unicode_escape").encode("latin-1") for s in STRING.findall(text)) + b"\0"
    numbers = [t for t in NUMBER.findall(LEAST.sub(lambda m: str(int(m[1]) - 1), text)) if t[0] != "/"]
    if isinstance(size, str):
        return b"".join(struct.pack(size, float.fromhex(t) if "p" in t else float(t)) for t in numbers)
    return size and b"".join((int(t, 0) % (1 << 8 * size)).to_bytes(size, "little") for t in numbers)


class Code:
    def __init__(self, folder, manifest, network):
        self.arrays, self.places, self.arena, self.parameters, self.calls = {}, {}, None, None, {}
        self.copied = set()  # by reset(): array, byte of the state, bytes
        self.state = {}  # byte of each pointer into it
        self.folder, name = folder, network["name"]
        for path in (entry["path"] for entry in manifest["generated"]):
            stem = path.split("/")[-1]
            own = stem.startswith((name + ".", name + "_")) and "/etch/" not in f"/{path}"
            if own and stem.endswith((".h", ".cc", ".cpp")):
                self.read(inside(folder, path).read_text("latin-1"), stem == f"{name}.h", stem.startswith(name + "."))

    def read(self, text, is_header, is_schedule):
        self.places.update((name, int(value)) for name, value in PLACE.findall(text))
        if is_header and ARENA.search(text):
            self.arena = int(ARENA.search(text)[1])
        self.copied.update((name, int(at), int(size)) for at, name, size in COPY.findall(text) if is_schedule)
        if is_schedule and (run := RUN.search(text)):
            self.state.update((name, int(at)) for name, at in POINTER.findall(run[2]))
            self.parameters = [re.findall(r"\w+", word)[-1] for word in run[1].split(",")]
            for name, arguments in CALL.findall(run[2]):
                # commas between parentheses are no ends: what is left of them is balanced
                parts = re.findall(r"(?:[^,(<>)]|<\w+>|\([^()]*\))+", re.sub(r"\s+", " ", arguments))
                self.calls.setdefault(name, []).append([p.strip() for p in parts])
        for match in ARRAY.finditer(text):
            self.arrays[match[2]] = array_at(text[match.end():text.index(";\n", match.end())], SIZES.get(match[1]))

    def function(self, traced):
        """A step's function and those that only it calls, without white space."""
        text = inside(self.folder, traced["code"]["file"]).read_text("latin-1")
        found = re.findall(rf"^[^\n]*\b{traced['function']}(?:_\w+)?\([^;{{}}]*\{{\n.*?^\}}", text, re.M | re.S)
        return re.sub(r"\s+", "", "".join(found))

    def constant(self, traced, suffix):
        """The bytes of a step's array; None: it has none."""
        owners = [c["owner"] for c in traced["constants"] if c["suffix"] == suffix]
        return self.arrays.get(f"{owners[0]}_{suffix}") if owners else None

    def is_place(self, memory, buffer, offset, text):
        """Whether an argument of run() is this place of the buffer."""
        if buffer["home"] == "arena":
            match = re.fullmatch(r"at<\w+>\(arena, (\w+)(?: ([+-]) (\d+))?\)", text)
            at = match and (self.places.get(match[1]), int((match[2] or "") + (match[3] or "0")))
            return at == (buffer["offset"], offset)
        match = re.fullmatch(r"(?:at<\w+>\()?(\w+)(?:, (\d+)\))?", text)
        port = buffer["port"] + (len(memory["inputs"]) if buffer["home"] == "output" else 0)
        return match and self.pointers(memory)[port:port + 1] == [match[1]] and int(match[2] or 0) == offset

    def pointers(self, memory):
        """What run() calls inputs and outputs: its parameters, and of those in the state, which comes first, own pointers."""
        rest = iter(self.parameters[1:] if memory["state"] else self.parameters)
        names = [port["identifier"] for port in (*memory["inputs"], *memory["outputs"])]
        return [name if memory["state"] and re.fullmatch(r"(?:state|next)\d+", name) else next(rest, "") for name in names]


def check_arrays(code, trace, memory, report):
    """Constants are, byte by byte, those whose hashes the trace has. Returns the names of those that were judged."""
    judged = set()
    constants = [(f"{c['owner']}_{c['suffix']}", c) for step in trace["steps"] for c in step["constants"]]
    initial = {f"{i['input']}_initial": i for i in memory["initial_states"]}
    claimed = {(name, i["state_bytes"][0], i["bytes"]) for name, i in initial.items()}
    report.equal("state", "what reset() copies", claimed, code.copied)
    for name, constant in (*constants, *initial.items()):
        size = constant["bytes"]
        data = code.arrays.get(name)
        if data is None and name in code.arrays:
            report.unjudged(name, "arrays of a type that is not read")
        elif report.need(data is not None, "constant", f"{name} is no array of the code"):
            judged.add(name)
            report.need(len(data) >= size and digest(data[:size]) == constant["sha256"] and not any(data[size:]), "constant",
                        f"{name} in the code is not the array of the trace")
    for name in set(code.arrays) - judged:
        report.unjudged(name, "arrays of the code that no step of the trace has")
    return judged


def check_scales(code, steps, part, judged, report):
    """The factors in the code are those of the certificates, no other and none missing."""
    for step in (s for s in part["steps"] if s["kind"] == "float" and s["step"] in steps):
        traced, name, claimed = steps[step["step"]], step["step"], {c["scale"] for c in step["channels"]}
        names = judged & {f"{c['owner']}_scale" for c in traced["constants"] if c["suffix"] == "scale"}
        if traced["kind"] == "avgpool":
            found = re.findall(r"0x[0-9a-f.]+p[+-]?\d+", code.function(traced))
            report.need(claimed <= set(bits_of([float.fromhex(v) for v in found])), "scale",
                        f"{name}: the factor in the code is another one")
        elif not names:
            report.unjudged(name, "factors that are no array of the code")
        for array in names:
            words = set(bits_of(np.frombuffer(code.arrays[array], np.float32, len(code.arrays[array]) // 4)))
            report.need(claimed <= words <= claimed | {"0x00000000", "0x3f800000"}, "scale",
                        f"{name}: the factors in the code are others")


def check_places(code, memory, report):
    """Tensors are where the code has them."""
    report.need(code.arena in (None, memory["arena"]["bytes"]), "arena",
                f"{memory['arena']['bytes']} bytes, in the code {code.arena}")
    for b, buffer in enumerate(memory["buffers"]):
        if buffer["home"] == "arena" and " of " in buffer["label"]:
            what, step = buffer["label"].split(" of ", 1)
            place = code.places.get(f"{step}_{what}", buffer["offset"])
            report.equal("buffer", f"place of buffer {b}", buffer["offset"], place)


def check_state(code, memory, report):
    """What is for the next inference is in the second half, at the place of what it follows; run() ends by moving it."""
    if memory["state"]:
        half = memory["state"] // 2
        moves = [["state.bytes", f"at<uint8_t>(state.bytes, {half})", str(half)]]
        report.equal("state", "what run() moves", moves, code.calls.pop("memcpy", None))
        for name, offset in code.state.items():
            follows = "next" + name[len("state"):]
            report.need(not name.startswith("state") or code.state.get(follows) == half + offset, "state",
                        f"{name} is at {offset}, {follows} at {code.state.get(follows)} of 2 * {half}")


def check_calls(code, trace, memory, accesses, report):
    """run() gives each step the buffers and offsets of its operands."""
    if code.parameters is None or trace["regions"]:
        report.unjudged("run()", "arguments within loops, or of functions that are shared")
        return
    check_state(code, memory, report)
    counts = {}
    for traced, step in zip(trace["steps"], accesses["steps"]):
        function = traced["function"]
        at = counts[function] = counts.get(function, -1) + 1
        if not report.need(at < len(code.calls.get(function, [])), "operand", f"{traced['name']}: run() does not call it"):
            continue
        call, operands = code.calls[function][at], step["operands"]
        for operand, text in zip(operands, call):
            report.need(code.is_place(memory, memory["buffers"][operand["buffer"]], operand["offset"], text), "operand",
                        f"{traced['name']}: {operand['name']} is {text}, not buffer {operand['buffer']}")
        for text in call[len(operands):]:
            report.unjudged(f"{traced['name']}({text})", "arguments that are no operands")
    for name, calls in code.calls.items():
        report.equal("trace", f"calls of {name}", counts.get(name, -1) + 1, len(calls))
