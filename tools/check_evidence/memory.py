"""Checks the memory map and every access: buffers that live at the same time share no byte unless a
stated rule allows it, and every access stays inside of its buffer, its life and its direction."""

import math

SIZES = {"float32": 4, "uint8": 1, "int8": 1, "int32": 4, "int64": 8, "uint16": 2, "int16": 2, "bool": 1, "uint32": 4,
         "float64": 8, "float16": 2, "bfloat16": 2, "uint64": 8}


class Memory:
    def __init__(self, part, trace, report):
        self.part, self.trace, self.report = part, trace, report
        self.buffers = part["buffers"]
        self.steps = len(trace["steps"])

    def wrong(self, kind, text):
        self.report.wrong(kind, text)

    def check(self, accesses):
        self.arena()
        self.overlaps()
        self.flash()
        self.stack()
        used = [[] for _ in self.buffers]
        names = [s["name"] for s in self.trace["steps"]]
        if [s["step"] for s in accesses["steps"]] != names:
            self.wrong("accesses", "the steps are not those of the trace")
            return
        for index, step in enumerate(accesses["steps"]):
            self.step(index, step, used)
        self.lives(used)

    def arena(self):
        arena = self.part["arena"]
        end = 0
        for b, buffer in enumerate(self.buffers):
            first, last = buffer["steps"]
            if not 0 <= first <= last < max(self.steps, 1):
                self.wrong("life", f"buffer {b}: steps {first} to {last} of {self.steps}")
            if buffer["bytes"] < 0:
                self.wrong("buffer", f"buffer {b}: {buffer['bytes']} bytes")
            if buffer["home"] != "arena":
                continue
            if buffer["offset"] < 0:
                self.wrong("buffer", f"buffer {b}: at {buffer['offset']}")
            end = max(end, buffer["offset"] + buffer["bytes"])
        if end + arena["slack"] > arena["bytes"]:
            self.wrong("arena", f"buffers end at {end}, with {arena['slack']} bytes after them, of {arena['bytes']}")
        if arena["slack"] < 0 or arena["alignment"] < 1 or arena["alignment"] & (arena["alignment"] - 1):
            self.wrong("arena", "slack and alignment")
        live = [0] * (self.steps + 1)
        for buffer in self.buffers:
            if buffer["home"] == "arena":
                for s in range(buffer["steps"][0], min(buffer["steps"][1] + 1, self.steps)):
                    live[s] += buffer["bytes"]
        self.most_live = max(live)
        if arena["most_live"] < self.most_live:
            self.wrong("arena", f"{self.most_live} bytes live at once, stated are {arena['most_live']}")

    def overlaps(self):
        rules = {}
        for rule in self.part["overlaps"]:
            rules[(rule["output"], rule["input"])] = rule
        placed = [(b, x) for b, x in enumerate(self.buffers) if x["home"] == "arena" and x["bytes"] > 0]
        placed.sort(key=lambda item: item[1]["offset"])
        for i, (a, x) in enumerate(placed):
            for b, y in placed[i + 1:]:
                if y["offset"] >= x["offset"] + x["bytes"]:
                    break
                if x["steps"][0] <= y["steps"][1] and y["steps"][0] <= x["steps"][1] and not self.allowed(rules, a, b):
                    self.wrong("overlap", f"buffers {a} ({x['label']}) and {b} ({y['label']}) live at the same time")

    def allowed(self, rules, a, b):
        """Whether one is written over the other as it dies, as far as the step's rule lets it."""
        rule = rules.get((a, b)) or rules.get((b, a))
        if rule is None:
            return False
        out, old = self.buffers[rule["output"]], self.buffers[rule["input"]]
        if out["steps"][0] != old["steps"][1]:
            return False
        if rule["backwards"]:
            return old["offset"] + rule["distance"] <= out["offset"]
        return out["offset"] + rule["distance"] <= old["offset"]

    def flash(self):
        arrays = {}
        for step in self.trace["steps"]:
            for constant in step["constants"]:
                key = (constant["owner"], constant["suffix"])
                if arrays.setdefault(key, constant)["sha256"] != constant["sha256"]:
                    self.wrong("constant", f"{key[0]}_{key[1]} is two different arrays")
                if constant["flash"] < constant["bytes"]:
                    self.wrong("flash", f"{key[0]}_{key[1]} takes {constant['flash']} of {constant['bytes']} bytes")
        total = sum(c["flash"] for c in arrays.values())
        if total != self.part["flash"]:
            self.wrong("flash", f"{self.part['flash']} bytes are stated, its arrays take {total}")

    def stack(self):
        most = max([0] + [f["stack"] for s in self.trace["steps"] for f in s["assembly"]])
        if self.part["stack"]["assembly"] != most:
            self.wrong("stack", f"functions in assembly use {most} bytes, not {self.part['stack']['assembly']}")

    # ---- accesses ----
    def step(self, index, step, used):
        name = step["step"]
        traced = [c["bytes"] for c in self.trace["steps"][index]["constants"]]
        if step["constants"] != traced:
            self.wrong("constant", f"{name}: sizes of constants are not those of the trace")
        touched = set()
        for operand in step["operands"]:
            b = operand["buffer"]
            if not 0 <= b < len(self.buffers):
                self.wrong("operand", f"{name}: buffer {b}")
                return
            used[b].append((index, operand["access"]))
            first, last = self.buffers[b]["steps"]
            if self.buffers[b]["home"] == "arena" and not first <= index <= last:
                self.wrong("life", f"{name}: uses buffer {b} outside of steps {first} to {last}")
        for access in step["accesses"]:
            self.access(step, access)
            touched.add((access["memory"], access["writes"]))
        for i, operand in enumerate(step["operands"]):
            writes = operand["access"] != "read"  # what is both may be both by one pointer
            if (i, writes) not in touched:
                self.wrong("direction", f"{name}: nothing {'writes' if writes else 'reads'} {operand['name']}")

    def access(self, step, access):
        name, operands, constants = step["step"], step["operands"], step["constants"]
        first, last, stride, size = access["walk"]
        where = f"{name}: {access['by']}"
        if access["bytes"] != [first, last + size] or last < first or size < 0 or stride < 0:
            self.wrong("accesses", f"{where}: {access['bytes']} is not what it walks, {access['walk']}")
        if last != first and (stride == 0 or (last - first) % stride):
            self.wrong("accesses", f"{where}: a walk from {first} to {last} by {stride}")
        if stride and (last - first) // stride + 1 > 1 and not access["loops"]:
            self.wrong("accesses", f"{where}: walks without a loop")
        if any(n < 2 for n in access["loops"]):
            self.wrong("accesses", f"{where}: a loop of less than 2 trips")
        if access["by"].startswith(("load", "broadcast")) and access["writes"] or (
                access["by"].startswith("store") and not access["writes"]):
            self.wrong("direction", f"{where}: {'writes' if access['writes'] else 'reads'}")
        memory = access["memory"]
        if not 0 <= memory < len(operands) + len(constants):
            self.wrong("accesses", f"{where}: memory {memory}")
            return
        begin, end = access["bytes"]
        if memory >= len(operands):
            if access["writes"]:
                self.wrong("direction", f"{where}: writes a constant")
            low, high = 0, constants[memory - len(operands)]
        else:
            operand = operands[memory]
            if access["writes"] and operand["access"] == "read" or not access["writes"] and operand["access"] == "write":
                self.wrong("direction", f"{where}: {operand['name']} is {operand['access']}")
            buffer = self.buffers[operand["buffer"]]
            slack = self.part["arena"]["slack"] if buffer["home"] == "arena" and not access["writes"] else 0
            low, high = -operand["offset"], buffer["bytes"] - operand["offset"] + slack
        if begin < low or end > high:
            self.wrong("bounds", f"{where}: bytes [{begin}, {end}) of [{low}, {high})")

    def lives(self, used):
        """A buffer lives from its first to its last use at least, and is written before it is read."""
        for b, uses in enumerate(used):
            buffer = self.buffers[b]
            if not uses or buffer["home"] != "arena":
                continue
            first, last = buffer["steps"]
            if first > uses[0][0] or last < uses[-1][0]:
                self.wrong("life", f"buffer {b} lives in steps {first} to {last}, is used in {uses[0][0]} to {uses[-1][0]}")
            if uses[0][1] == "read" and not self.trace["regions"]:
                self.wrong("life", f"buffer {b} is read in step {uses[0][0]} before it is written")

    def ports(self, model):
        """Inputs and outputs as large as the model declares them, where it does."""
        declared = {v.name: v for v in list(model.graph.input) + list(model.graph.output)}
        for key, home in (("inputs", "input"), ("outputs", "output")):
            for p, port in enumerate(self.part[key]):
                size = SIZES.get(port["dtype"], 1) * math.prod(port["shape"])
                for b, buffer in enumerate(self.buffers):
                    if buffer["home"] == home and buffer.get("port") == p and buffer["bytes"] != size:
                        self.wrong("port", f"{port['identifier']}: buffer {b} has {buffer['bytes']} bytes, not {size}")
                value = declared.get(port["name"])
                if value is None:
                    continue
                dims = value.type.tensor_type.shape.dim
                known = [d.dim_value if d.HasField("dim_value") else None for d in dims]
                if len(known) != len(port["shape"]) or any(k is not None and k > 0 and k != s for k, s in zip(known, port["shape"])):
                    self.wrong("port", f"{port['identifier']}: {port['shape']}, by the model {known}")
