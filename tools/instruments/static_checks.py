"""What objects of generated code tell without being run: which functions they need, whether they have variables, how much
stack a call can use."""

import re

from models import run

# What compilers call of their own accord for copies of structs and for loops that fill or move memory.
NEEDED = {"memcpy", "memset", "memmove"}
# Arithmetic that a processor lacks, of libgcc: "__mulsf3", "__fixdfsi", "__floatundisf"; and by the names of Arm's
# run-time ABI: "__aeabi_fmul", "__aeabi_cdcmple", "__aeabi_f2uiz", "__aeabi_ul2d", "__aeabi_uidivmod", "__aeabi_llsl".
# Not what else that ABI has: unwinding, atexit, thread pointers, errno.
ARITHMETIC = re.compile(r"__(\w+([sd]f[23]|[sd]i[23]|[sd]f[sd]i|[sd]i[sd]f)"
                        r"|aeabi_([fd](add|r?sub|mul|div|neg|cmp(eq|lt|le|ge|gt|un))|c[fd]r?cmp(eq|le)"
                        r"|[fd]2(f|d|h|h_alt|u?[il]z)|h2f(_alt)?|u?[il]2[fd]"
                        r"|u?idiv(mod)?|u?ldivmod|[il]div0|lmul|l(lsl|lsr|asr)|u?lcmp))$")
ALLOWED_SECTIONS = re.compile(r"\.(text|rodata|eh_frame|comment|note|symtab|strtab|shstrtab|rel|debug|stack_sizes|ARM\."
                              r"|llvm_addrsig|gnu\.|group|bss$|data$|data\.rel\.ro)")
LIBRARY_STACK = 128  # as compiler/host/stack_use.h


def symbols(objects, nm="nm", arithmetic=False, weights=False):
    """Complaints about undefined and writable symbols."""
    out = []
    for path in objects:
        for line in run([nm, "--format=posix", path]).stdout.split("\n"):
            words = line.split()
            if len(words) < 2:
                continue
            name, kind = words[:2]
            if kind in "bBdDcC":
                out.append(f"{name} is a variable ({kind})")
            if kind != "U" or name in NEEDED or (arithmetic and ARITHMETIC.match(name)):
                continue
            if weights and name.endswith("_weights"):
                continue
            out.append(f"{name} is needed")
    return sorted(set(out))


def sections(objects, objdump="objdump"):
    """Sections that hold what can change, thread-local or start-up data, of more than 0 bytes."""
    out = []
    for path in objects:
        for line in run([objdump, "-h", path]).stdout.split("\n"):
            match = re.match(r"\s*\d+ (\S+)\s+([0-9a-f]+) ", line)
            if not match or int(match.group(2), 16) == 0:
                continue
            name = match.group(1)
            if re.match(r"\.(data(?!\.rel\.ro)|bss|tdata|tbss|init|fini|ctors|dtors|preinit)", name):
                out.append(f"section {name} has {int(match.group(2), 16)} bytes")
            elif not ALLOWED_SECTIONS.match(name):
                out.append(f"unknown section {name}")
    return sorted(set(out))


def frames_of_assembly(text):
    """Bytes that functions written in assembly push: {name: bytes}."""
    out = {}
    for match in re.finditer(r"^ETCH_NAKED \w+ (\w+)\(.*?^}", text, re.S | re.M):
        total = 0
        for line in match.group(0).split("\n"):
            pushed = re.search(r'"(v?)push\s*\{([^}]*)\}', line)
            taken = re.search(r'"sub(?:\.w)? sp, (?:sp, )?#(\d+)', line)
            if taken:
                total += int(taken.group(1))
            for item in pushed.group(2).split(",") if pushed else []:
                ends = [int(n) for n in re.findall(r"[rds](\d+)", item)]
                count = ends[1] - ends[0] + 1 if len(ends) == 2 else 1
                total += count * (8 if pushed.group(1) else 4)
        out[match.group(1)] = total
    return out


class CallGraph:
    """From the .ci files of gcc's -fcallgraph-info=su."""

    def __init__(self):
        self.frames, self.calls, self.complaints, self.known = {}, {}, [], {}

    def add(self, path):
        for line in path.read_text().split("\n"):
            quoted = re.findall(r'"([^"]*)"', line)
            if line.startswith("edge:"):
                self.calls.setdefault(quoted[0], set()).add(quoted[1])
            elif line.startswith("node:") and "ellipse" not in line:
                frame = re.search(r"(\d+) bytes \(([\w,]+)\)", quoted[1])
                # "dynamic,bounded" has a bound, and it is in the number.
                if not frame or frame.group(2) not in ("static", "dynamic,bounded"):
                    self.complaints.append(f"{quoted[0]}: no frame of fixed size: {quoted[1]}")
                self.frames[quoted[0]] = int(frame.group(1)) if frame else 0

    def set_frame(self, name, size):
        for symbol in self.frames:
            if f"{len(name)}{name}" in symbol:
                self.frames[symbol] = size

    def deepest(self, symbol, path=()):
        if symbol in path:
            self.complaints.append(f"recursion: {' -> '.join([*path, symbol])}")
            return 0
        if symbol == "__indirect_call":
            self.complaints.append(f"a call through a pointer in {path[-1]}")
            return 0
        if symbol not in self.frames:
            return LIBRARY_STACK
        if symbol not in self.known:
            below = [self.deepest(each, (*path, symbol)) for each in self.calls.get(symbol, ())]
            self.known[symbol] = self.frames[symbol] + max(below, default=0)
        return self.known[symbol]


def stack(batch, objects):
    """({model: bytes of the deepest path}, complaints)."""
    graph = CallGraph()
    for path in objects:
        graph.add(path.with_suffix(".ci"))
    for model in batch.models:
        for file in model.files:
            for name, size in frames_of_assembly((batch.code / file).read_text()).items():
                graph.set_frame(name, size)
    depth = {}
    for model in batch.models:
        root = f"{model.name}_run"
        if root not in graph.frames:
            graph.complaints.append(f"{root} is not in the call graph")
        depth[model.name] = graph.deepest(root)
    return depth, sorted(set(graph.complaints))
