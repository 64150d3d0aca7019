"""Checks the memory map and every access: buffers that live at the same time share no byte unless a
stated rule allows it, and every access stays inside of its buffer, its life and its direction."""

import itertools
import math
import re

import numpy as np

from .trace import digest


def size_of(port):
    return np.dtype(port["dtype"].replace("bfloat", "float")).itemsize * math.prod(port["shape"])


class Memory:
    def __init__(self, part, trace, report, command):
        self.part, self.trace, self.command, self.need, self.equal = part, trace, command, report.need, report.equal
        self.buffers = part["buffers"]
        self.placed = [(b, x) for b, x in enumerate(self.buffers) if x["home"] == "arena"]

    def check(self, accesses, model):
        self.ports(model)
        self.arena()
        self.overlaps()
        self.sizes()
        self.initial_states(model)
        names = [s["name"] for s in self.trace["steps"]]
        if self.equal("accesses", "steps", [s["step"] for s in accesses["steps"]], names):
            used = [[] for _ in self.buffers]
            for index, step in enumerate(accesses["steps"]):
                self.step(index, step, used)
            self.lives(used)

    def arena(self):
        arena, steps = self.part["arena"], len(self.trace["steps"])
        live = [0] * (steps + 1)
        for b, buffer in enumerate(self.buffers):
            first, last = buffer["steps"]
            unused = buffer["home"] == "input" and first == last == -1  # no step reads it
            self.need(unused or 0 <= first <= last < max(steps, 1), "life", f"buffer {b}: steps {first} to {last} of {steps}")
            self.need(buffer["bytes"] >= 0 and (buffer["home"] != "arena" or buffer["offset"] >= 0), "buffer",
                      f"buffer {b}: {buffer['bytes']} bytes at {buffer.get('offset')}")
            for s in range(first, min(last + 1, steps)) if buffer["home"] == "arena" else ():
                live[s] += buffer["bytes"]
        end = max((x["offset"] + x["bytes"] for _, x in self.placed), default=0)
        power_of_two = arena["alignment"] > 0 and arena["alignment"] & (arena["alignment"] - 1) == 0
        self.need(end + arena["slack"] <= arena["bytes"] and arena["slack"] >= 0 and power_of_two, "arena",
                  f"buffers end at {end}, with {arena['slack']} bytes after them, of {arena}")
        self.need(arena["most_live"] >= max(live), "arena", f"{max(live)} bytes live at once, of {arena['most_live']}")

    def overlaps(self):
        rules = {frozenset((r["output"], r["input"])): r for r in self.part["overlaps"]}
        for (a, x), (b, y) in itertools.combinations(self.placed, 2):
            shared = min(v["offset"] + v["bytes"] for v in (x, y)) - max(x["offset"], y["offset"])
            together = max(x["steps"][0], y["steps"][0]) <= min(x["steps"][1], y["steps"][1])
            self.need(not together or shared <= 0 or self.allowed(rules.get(frozenset((a, b)))), "overlap",
                      f"buffers {a} ({x['label']}) and {b} ({y['label']}) live at the same time")

    def allowed(self, rule):
        """Whether one is written over the other as it dies, as far as the step's rule lets it."""
        if rule is None:
            return False
        out, old = self.buffers[rule["output"]], self.buffers[rule["input"]]
        ahead = out["offset"] - old["offset"] if rule["backwards"] else old["offset"] - out["offset"]
        return out["steps"][0] == old["steps"][1] and rule["distance"] <= ahead

    def sizes(self):
        arrays = {}
        for constant in (c for step in self.trace["steps"] for c in step["constants"]):
            name = f"{constant['owner']}_{constant['suffix']}"
            self.need(arrays.setdefault(name, constant)["sha256"] == constant["sha256"], "constant",
                      f"{name} is two different arrays")
        arrays.update((i["input"], i) for i in self.part["initial_states"])
        for name, array in arrays.items():
            self.need(array["flash"] >= array["bytes"], "flash", f"{name} takes less than its bytes")
        self.equal("flash", "bytes", self.part["flash"], sum(array["flash"] for array in arrays.values()))
        stacks = [f["stack"] for step in self.trace["steps"] for f in step["assembly"]]
        self.equal("stack", "bytes", self.part["stack"]["assembly"], max(stacks, default=0))

    def initial_states(self, model):
        """What reset() copies: the option's or the file's values, or else zeros, in the half of the state that is read."""
        copied = {i["input"]: i for i in self.part["initial_states"]}
        ports = {p["identifier"]: (p, size_of(p)) for p in self.part["inputs"] if p["identifier"].startswith("state")}
        self.need(copied.keys() <= ports.keys(), "state", f"{sorted(copied.keys() - ports.keys())} are no states")
        for name, (port, size) in ports.items():
            option = re.search(rf"--initial-state '?{re.escape(port['name'])}=([0-9a-f]{{16}})\.pb", self.command)
            expected = option[1] if option else digest(model.defaults.get(port["name"], bytes(size)))
            claimed = copied[name]["sha256"] if name in copied else digest(bytes(size))
            self.need(claimed.startswith(expected), "state", f"{name} does not begin with what the option or the file says")
        for name, initial in copied.items():
            first, end = initial["state_bytes"]
            fits = initial["bytes"] == end - first == ports.get(name, (0, -1))[1]
            self.need(fits and 0 <= first <= end <= self.part["state"] // 2, "state",
                      f"{name} begins with {initial['bytes']} bytes, at {first} to {end} of the state")

    # ---- accesses ----
    def step(self, index, step, used):
        name, operands = step["step"], step["operands"]
        self.equal("constant", name, step["constants"], [c["bytes"] for c in self.trace["steps"][index]["constants"]])
        for operand in operands:
            b = operand["buffer"]
            if not self.need(0 <= b < len(self.buffers), "operand", f"{name}: buffer {b}"):
                return
            used[b].append((index, operand["access"]))
            first, last = self.buffers[b]["steps"]
            self.need(self.buffers[b]["home"] != "arena" or first <= index <= last, "life",
                      f"{name}: uses buffer {b} outside of steps {first} to {last}")
        for access in step["accesses"]:
            for kind, text in self.access(step, access):
                self.need(False, kind, f"{name}: {access['by']}: {text}")
        touched = {(a["memory"], a["writes"]) for a in step["accesses"]}
        for i, operand in enumerate(operands):
            writes = operand["access"] != "read"  # what is both may be both by one pointer
            self.need((i, writes) in touched, "direction",
                      f"{name}: nothing {'writes' if writes else 'reads'} {operand['name']}")

    def access(self, step, access):
        """What is wrong with one."""
        (first, last, stride, size), (begin, end), writes = access["walk"], access["bytes"], access["writes"]
        steps, rest = divmod(last - first, stride) if stride else (0, last - first)
        if (begin, end) != (first, last + size) or min(last - first, size, stride) < 0 or rest:
            yield "accesses", f"{access['bytes']} is not what it walks, {access['walk']}"
        if steps and not access["loops"] or any(n < 2 for n in access["loops"]):
            yield "accesses", f"walks in loops of {access['loops']} trips"
        if access["by"].startswith(("load", "broadcast")) and writes or access["by"].startswith("store") and not writes:
            yield "direction", "writes" if writes else "reads"
        operands, m = step["operands"], access["memory"]
        if not 0 <= m < len(operands) + len(step["constants"]):
            yield "accesses", f"memory {m}"
            return
        if m >= len(operands):
            direction, low, high = "read", 0, step["constants"][m - len(operands)]
        else:
            direction, low, buffer = operands[m]["access"], -operands[m]["offset"], self.buffers[operands[m]["buffer"]]
            slack = self.part["arena"]["slack"] if buffer["home"] == "arena" and not writes else 0
            high = low + buffer["bytes"] + slack
        if direction == ("read" if writes else "write"):
            yield "direction", f"{'writes' if writes else 'reads'} what is {direction}"
        if begin < low or end > high:
            yield "bounds", f"bytes [{begin}, {end}) of [{low}, {high})"

    def lives(self, used):
        """A buffer lives from its first to its last use at least, and is written before it is read."""
        for b, buffer in self.placed:
            if used[b]:
                (first, access), last = used[b][0], used[b][-1][0]
                self.need(buffer["steps"][0] <= first and last <= buffer["steps"][1], "life",
                          f"buffer {b} lives in steps {buffer['steps']}, is used in {first} to {last}")
                self.need(access != "read" or self.trace["regions"], "life",
                          f"buffer {b} is read in step {first} before it is written")

    def ports(self, model):
        """Inputs and outputs as large as the model declares them, where it does."""
        declared = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
                    for v in [*model.graph.input, *model.graph.output] if v.type.tensor_type.HasField("shape")}
        for home, p, port in ((home, *item) for home in ("input", "output") for item in enumerate(self.part[home + "s"])):
            where, shape, known = port["identifier"], port["shape"], declared.get(port["name"], port["shape"])
            self.need(len(known) == len(shape) and all(k <= 0 or k == s for k, s in zip(known, shape)), "port",
                      f"{where}: {shape}, by the model {known}")
            size = size_of(port)
            for b, buffer in enumerate(self.buffers):
                self.need((buffer["home"], buffer.get("port")) != (home, p) or buffer["bytes"] == size, "port",
                          f"{where}: buffer {b} has {buffer['bytes']} bytes, not {size}")
