"""Checks the memory map and every access: buffers that live at the same time share no byte unless a stated rule allows
it, and every access stays inside of its buffer, its life and its direction."""

import itertools
import math
import re

import numpy as np

from .trace import digest


def size_of(port):
    return np.dtype(port.dtype.replace("bfloat", "float")).itemsize * math.prod(port.shape)


class Memory:
    def __init__(self, part, trace, report, command):
        self.part, self.trace, self.command, self.need, self.equal = part, trace, command, report.need, report.equal
        self.buffers, self.used = part.buffers, set()
        self.placed = [(b, x) for b, x in enumerate(self.buffers) if x.home == "arena"]

    def check(self, accesses, model):
        self.ports(model)
        self.arena()
        self.overlaps()
        self.sizes()
        self.initial_states(model)
        names = [s.name for s in self.trace.steps]
        if self.equal("accesses", "steps", [s.step for s in accesses.steps], names):
            for index, step in enumerate(accesses.steps):
                self.step(index, step)

    def ports(self, model):
        """Inputs and outputs as large as the model declares them, where it does."""
        graph = model.proto.graph
        declared = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in (*graph.input, *graph.output)
                    if v.type.tensor_type.HasField("shape")}
        for home, ports in (("input", self.part.inputs), ("output", self.part.outputs)):
            for p, port in enumerate(ports):
                known, size = declared.get(port.name, port.shape), size_of(port)
                good = len(known) == len(port.shape) and all(k <= 0 or k == s for k, s in zip(known, port.shape))
                self.need(good, "port", f"{port.identifier}: {port.shape}, by the model {known}")
                for b, buffer in enumerate(self.buffers):
                    self.need(buffer.home != home or buffer.port != p or buffer.bytes == size, "port",
                              f"{port.identifier}: buffer {b} has {buffer.bytes} bytes, not {size}")

    def arena(self):
        arena = self.part.arena
        most = max((sum(x.bytes for _, x in self.placed if x.steps[0] <= s <= x.steps[1])
                    for s in range(len(self.trace.steps))), default=0)
        end = max((x.offset + x.bytes for _, x in self.placed), default=0)
        power_of_two = arena.alignment > 0 and arena.alignment & (arena.alignment - 1) == 0
        self.need(end + arena.slack <= arena.bytes and arena.slack >= 0 and power_of_two, "arena",
                  f"buffers end at {end}, with {arena.slack} bytes after them, of {arena}")
        self.need(arena.most_live >= most, "arena", f"{most} bytes live at once, of {arena.most_live}")
        good = all(x.offset >= 0 and x.bytes >= 0 for _, x in self.placed)
        self.need(good, "buffer", "one begins before the arena, or has less than no bytes")

    def overlaps(self):
        rules = {frozenset((r.output, r.input)): r for r in self.part.overlaps}
        for (a, x), (b, y) in itertools.combinations(self.placed, 2):
            shared = min(x.offset + x.bytes, y.offset + y.bytes) - max(x.offset, y.offset)
            together = max(x.steps[0], y.steps[0]) <= min(x.steps[1], y.steps[1])
            self.need(not together or shared <= 0 or self.allowed(rules.get(frozenset((a, b)))), "overlap",
                      f"buffers {a} ({x.label}) and {b} ({y.label}) live at the same time")

    def allowed(self, rule):
        """Whether one is written over the other as it dies, as far as the step's rule lets it."""
        if rule is None:
            return False
        out, old = self.buffers[rule.output], self.buffers[rule.input]
        ahead = out.offset - old.offset if rule.backwards else old.offset - out.offset
        return out.steps[0] == old.steps[1] and rule.distance <= ahead

    def sizes(self):
        arrays = {i.input: i for i in self.part.initial_states}
        for array in (c for step in self.trace.steps for c in step.constants):
            name = f"{array.owner}_{array.suffix}"
            self.equal("constant", name, array.sha256, arrays.setdefault(name, array).sha256)
        for name, array in arrays.items():
            self.need(array.flash >= array.bytes, "flash", f"{name} takes less than its bytes")
        self.equal("flash", "bytes", self.part.flash, sum(array.flash for array in arrays.values()))
        stacks = [f.stack for step in self.trace.steps for f in step.assembly]
        self.equal("stack", "bytes", self.part.stack.assembly, max(stacks, default=0))

    def initial_states(self, model):
        """What reset() copies: the option's or the file's values, or else zeros, in the half that is read."""
        copied = {i.input: i for i in self.part.initial_states}
        ports = {p.identifier: p for p in self.part.inputs if p.identifier.startswith("state")}
        self.need(copied.keys() <= ports.keys(), "state", f"{sorted(copied.keys() - ports.keys())} are no states")
        for name, port in ports.items():
            zeros = bytes(size_of(port))
            option = re.search(rf"--initial-state '?{re.escape(port.name)}=([0-9a-f]{{16}})\.pb", self.command)
            expected = option[1] if option else digest(model.defaults.get(port.name, zeros))
            claimed = copied[name].sha256 if name in copied else digest(zeros)
            self.need(claimed.startswith(expected), "state", f"{name} begins otherwise than option or file say")
        for name, initial in copied.items():
            (first, end), size = initial.state_bytes, size_of(ports[name]) if name in ports else -1
            self.need(initial.bytes == end - first == size and 0 <= first <= end <= self.part.state // 2, "state",
                      f"{name} begins with {initial.bytes} bytes, at {first} to {end} of the state")

    # ---- accesses ----
    def step(self, index, step):
        self.equal("constant", step.step, step.constants, [c.bytes for c in self.trace.steps[index].constants])
        for operand in step.operands:
            b = operand.buffer
            if not self.need(0 <= b < len(self.buffers), "operand", f"{step.step}: buffer {b}"):
                return
            first, last = self.buffers[b].steps
            self.need(first <= index <= last, "life", f"{step.step}: uses buffer {b} outside of its life")
            unwritten = self.buffers[b].home == "arena" and b not in self.used and operand.access == "read"
            self.need(not unwritten or self.trace.regions, "life", f"{step.step}: buffer {b} is read unwritten")
            self.used.add(b)
        for access in step.accesses:
            for kind, text in self.wrong(step, access):
                self.need(False, kind, f"{step.step}: {access.by}: {text}")
        touched = {(a.memory, a.writes) for a in step.accesses}
        for i, operand in enumerate(step.operands):
            # what is both may be both by one pointer
            self.need((i, operand.access != "read") in touched, "direction",
                      f"{step.step}: {operand.name}: no {operand.access}")

    def wrong(self, step, access):
        """What is wrong with an access."""
        (first, last, stride, size), (begin, end), writes = access.walk, access.bytes, access.writes
        steps, rest = divmod(last - first, stride) if stride else (0, last - first)
        if (begin, end) != (first, last + size) or min(last - first, size, stride) < 0 or rest:
            yield "accesses", f"{access.bytes} is not what it walks, {access.walk}"
        if steps and not access.loops or any(n < 2 for n in access.loops):
            yield "accesses", f"walks in loops of {access.loops} trips"
        if access.by.startswith(("load", "broadcast")) and writes or access.by.startswith("store") and not writes:
            yield "direction", "writes" if writes else "reads"
        if not 0 <= access.memory < len(step.operands) + len(step.constants):
            yield "accesses", f"memory {access.memory}"
            return
        low, high, direction = self.bounds(step, access)
        if direction == ("read" if writes else "write"):
            yield "direction", f"{'writes' if writes else 'reads'} what is {direction}"
        if begin < low or end > high:
            yield "bounds", f"bytes [{begin}, {end}) of [{low}, {high})"

    def bounds(self, step, access):
        """Of the memory that it may touch, relative to the operand, and in which direction."""
        if access.memory >= len(step.operands):
            return 0, step.constants[access.memory - len(step.operands)], "read"
        operand = step.operands[access.memory]
        buffer = self.buffers[operand.buffer]
        slack = self.part.arena.slack if buffer.home == "arena" and not access.writes else 0
        return -operand.offset, buffer.bytes - operand.offset + slack, operand.access
