"""Reads what the generated files say: arrays, places of tensors in the arena, its size, arguments that run() gives."""

import re

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
TYPES = {"bool": "<u1", "float": "<f4", "double": "<f8", "int8_t": "<u1", "uint8_t": "<u1", "int16_t": "<u2",
         "uint16_t": "<u2", "int32_t": "<u4", "uint32_t": "<u4", "int64_t": "<u8", "uint64_t": "<u8"}


def array_at(text, dtype):
    """The bytes of an initialiser: string literals with octal escapes, or numbers in braces; None: of another type."""
    if text.startswith('"'):
        return "".join(STRING.findall(text)).encode("latin-1").decode("unicode_escape").encode("latin-1") + b"\0"
    words = [w for w in NUMBER.findall(LEAST.sub(lambda m: str(int(m[1]) - 1), text)) if w[0] != "/"]
    if dtype in ("<f4", "<f8"):
        return np.array([float.fromhex(w) if "p" in w else float(w) for w in words], dtype).tobytes()
    return dtype and np.array([int(w, 0) % (1 << 8 * int(dtype[2])) for w in words], dtype).tobytes()


class Code:
    """The files of one network, and what the evidence says of them."""

    def __init__(self, folder, manifest, name, report):
        self.folder, self.report, self.need, self.equal = folder, report, report.need, report.equal
        self.arrays, self.places, self.arena, self.parameters, self.calls = {}, {}, None, None, {}
        self.copied = set()  # by reset(): array, byte of the state, bytes
        self.state, self.judged = {}, set()  # byte of each pointer into the state; arrays of the trace
        for path in (entry.path for entry in manifest.generated):
            stem = path.split("/")[-1]
            if "/etch/" not in f"/{path}" and re.fullmatch(rf"{re.escape(name)}[._](.*\.)?(h|cc|cpp)", stem):
                self.read(inside(folder, path).read_text("latin-1"), stem == f"{name}.h", stem.startswith(f"{name}."))

    def read(self, text, is_header, is_schedule):
        self.places.update((name, int(value)) for name, value in PLACE.findall(text))
        if is_header and (found := ARENA.search(text)):
            self.arena = int(found[1])
        for match in ARRAY.finditer(text):
            self.arrays[match[2]] = array_at(text[match.end():text.index(";\n", match.end())], TYPES.get(match[1]))
        run = RUN.search(text)
        self.copied.update((name, int(at), int(size)) for at, name, size in COPY.findall(text) if is_schedule)
        if is_schedule and run:
            self.state.update((name, int(at)) for name, at in POINTER.findall(run[2]))
            self.parameters = [re.findall(r"\w+", word)[-1] for word in run[1].split(",")]
            for name, arguments in CALL.findall(run[2]):
                # commas between parentheses are no ends: what is left of them is balanced
                parts = re.findall(r"(?:[^,(<>)]|<\w+>|\([^()]*\))+", re.sub(r"\s+", " ", arguments))
                self.calls.setdefault(name, []).append([p.strip() for p in parts])

    def function(self, traced):
        """A step's function and those that only it calls, without white space."""
        text = inside(self.folder, traced.code.file).read_text("latin-1")
        found = re.findall(rf"^[^\n]*\b{traced.function}(?:_\w+)?\([^;{{}}]*\{{\n.*?^\}}", text, re.M | re.S)
        return re.sub(r"\s+", "", "".join(found))

    def constant(self, traced, suffix):
        """The bytes of a step's array; none: it has no such array."""
        owners = [c.owner for c in traced.constants if c.suffix == suffix]
        return owners and self.arrays.get(f"{owners[0]}_{suffix}") or b""

    def check(self, trace, memory, accesses, certificates):
        self.check_arrays(trace, memory)
        steps = {s.name: s for s in trace.steps}
        for step in (s for s in certificates.steps if s.kind == "float" and s.step in steps):
            self.check_scales(steps[step.step], step.step, {c.scale for c in step.channels})
        self.check_places(memory)
        if self.parameters is None or trace.regions:
            self.report.unjudged("run()", "arguments within loops, or of functions that are shared")
        else:
            self.check_state(memory)
            self.check_calls(trace, memory, accesses)

    def check_arrays(self, trace, memory):
        """Constants are, byte by byte, those whose hashes the trace has."""
        initial = [(f"{i.input}_initial", i) for i in memory.initial_states]
        claimed = {(name, i.state_bytes[0], i.bytes) for name, i in initial}
        self.equal("state", "what reset() copies", claimed, self.copied)
        constants = [(f"{c.owner}_{c.suffix}", c) for step in trace.steps for c in step.constants]
        for name, array in constants + initial:
            data, size = self.arrays.get(name, b""), array.bytes
            if data is None:
                self.report.unjudged(name, "arrays of a type that is not read")
            elif self.need(name in self.arrays, "constant", f"{name} is no array of the code"):
                self.judged.add(name)
                good = len(data) >= size and digest(data[:size]) == array.sha256 and not any(data[size:])
                self.need(good, "constant", f"{name} in the code is not the array of the trace")
        for name in self.arrays.keys() - self.judged:
            self.report.unjudged(name, "arrays of the code that no step of the trace has")

    def check_scales(self, traced, name, claimed):
        """The factors in the code are those of the certificates, no other and none missing."""
        names = self.judged & {f"{c.owner}_scale" for c in traced.constants if c.suffix == "scale"}
        if traced.kind == "avgpool":
            found = re.findall(r"0x[0-9a-f.]+p[+-]?\d+", self.function(traced))
            self.need(claimed <= set(bits_of([float.fromhex(v) for v in found])), "scale",
                      f"{name}: the factor in the code is another one")
        elif not names:
            self.report.unjudged(name, "factors that are no array of the code")
        for array in names:
            words = set(bits_of(np.frombuffer(self.arrays[array], np.float32, len(self.arrays[array]) // 4)))
            self.need(claimed <= words <= claimed | {"0x00000000", "0x3f800000"}, "scale",
                      f"{name}: the factors in the code are others")

    def check_places(self, memory):
        """Tensors are where the code has them."""
        self.equal("arena", "bytes", memory.arena.bytes, memory.arena.bytes if self.arena is None else self.arena)
        for b, buffer in enumerate(memory.buffers):
            if buffer.home == "arena" and " of " in buffer.label:
                what, step = buffer.label.split(" of ", 1)
                place = self.places.get(f"{step}_{what}", buffer.offset)
                self.equal("buffer", f"place of buffer {b}", buffer.offset, place)

    # ---- run() ----
    def check_state(self, memory):
        """What is for the next inference is in the second half, in the same order; run() ends by moving it."""
        if memory.state:
            half = memory.state // 2
            moves = [["state.bytes", f"at<uint8_t>(state.bytes, {half})", str(half)]]
            self.equal("state", "what run() moves", moves, self.calls.pop("memcpy", None))
            for name, offset in self.state.items():
                if name.startswith("state"):
                    after = f"next{name[len('state'):]}"
                    self.equal("state", f"place of {after}", self.state.get(after), half + offset)

    def check_calls(self, trace, memory, accesses):
        """run() gives each step the buffers and offsets of its operands."""
        # inputs and outputs are parameters of run(); those in the state, which comes first, are pointers of its own
        rest, counts = iter(self.parameters[1:] if memory.state else self.parameters), {}
        ports = [port.identifier if port.identifier in self.state else next(rest, "")
                 for port in (*memory.inputs, *memory.outputs)]
        for traced, step in zip(trace.steps, accesses.steps):
            calls, at = self.calls.get(traced.function, []), counts.get(traced.function, 0)
            counts[traced.function] = at + 1
            if not self.need(at < len(calls), "operand", f"{traced.name}: run() does not call it"):
                continue
            for operand, text in zip(step.operands, calls[at]):
                good = self.is_place(memory, ports, memory.buffers[operand.buffer], operand.offset, text)
                self.need(good, "operand", f"{traced.name}: {operand.name} is {text}, not buffer {operand.buffer}")
            for text in calls[at][len(step.operands):]:
                self.report.unjudged(f"{traced.name}({text})", "arguments that are no operands")
        for name, calls in self.calls.items():
            self.equal("trace", f"calls of {name}", counts.get(name, 0), len(calls))

    def is_place(self, memory, ports, buffer, offset, text):
        """Whether an argument of run() is this place of the buffer."""
        if buffer.home == "arena":
            match = re.fullmatch(r"at<\w+>\(arena, (\w+)(?: ([+-]) (\d+))?\)", text)
            at = match and (self.places.get(match[1]), int((match[2] or "") + (match[3] or "0")))
            return at == (buffer.offset, offset)
        match = re.fullmatch(r"(?:at<\w+>\()?(\w+)(?:, (\d+)\))?", text)
        port = buffer.port + (len(memory.inputs) if buffer.home == "output" else 0)
        return match and ports[port:port + 1] == [match[1]] and int(match[2] or 0) == offset
