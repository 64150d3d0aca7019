"""Etch: compiles a model, builds what it writes as a shared library with a driver, and hands out what is to be timed.

`whole` is run() as a user calls it. `layer` is the same without the steps that only carry a single layer's input and
output between the model's layout and the arena's: in a network they are not there. The refill of the halo is, and for a
network's first layer so is the copy of the image.
"""

import concurrent.futures
import ctypes
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import time

import gate
import numpy as np

ETCH = pathlib.Path(__file__).resolve().parents[2] / "build/release/bin/etch"
CARRYING = {"copy", "output"}  # kinds of steps that are not part of a layer
DTYPES = {"uint8": np.uint8, "int8": np.int8, "int32": np.int32, "int64": np.int64, "bool": np.bool_,
          "float16": np.float16, "float32": np.float32}


def best_target() -> str:
    """What `etch targets` calls native."""
    listing = subprocess.run([str(ETCH), "targets"], check=True, capture_output=True, text=True).stdout
    return next(line.split()[0] for line in listing.splitlines() if "<- native" in line)


def version() -> str:
    return subprocess.run([str(ETCH), "--version"], check=True, capture_output=True, text=True).stdout.strip()


def statements_of(schedule: str) -> list[tuple[str, str]]:
    """The statements in the body of run(): the name of the step that one calls, and its text."""
    body = schedule.split("__builtin_trap();", 1)[1].split("\n}\n", 1)[0]
    body = re.sub(r"//[^\n]*", "", body)
    calls = [" ".join(one.split()) for one in body.split(";")]
    return [((re.search(r"share_of_(\w+)", call) or re.match(r"(\w+)", call)).group(1), call + ";")
            for call in calls if call]


def driver_text(schedule: str, report: dict, request: "Request") -> str:
    """With several threads the driver includes the schedule, for what divides a step among them is not in a header."""
    threads = request.threads
    inputs, outputs = report["inputs"], report["outputs"]
    names = [one["parameter"] for one in inputs + outputs]
    declarations = []
    for i, name in enumerate(names):
        alias = (inputs + outputs)[i]["identifier"].capitalize()
        const = "const " if i < len(inputs) else ""
        declarations.append(f"  {const}net::{alias}* {name} = static_cast<{const}net::{alias}*>(slots[{i}]);")
    declarations.append(f"  void* arena = slots[{len(names)}];")
    kinds = {step["name"]: step["kind"] for step in report["steps"]}
    carrying = CARRYING - ({"copy"} if request.keep_copy else set())
    statements = statements_of(schedule) if request.is_layer else []
    layer = [text for name, text in statements if kinds.get(name) not in carrying]
    unused = [f"  (void){name};" for name in [*names, "arena"]]
    arguments, includes, pool = [*names, "arena"], ['#include "net.h"', '#include "net_steps.h"'], []
    if threads > 1:
        arguments.append("threads")
        includes = ['#include "net.cc"', '#include "etch/etch_thread_pool.h"']
        pool = ["static etch::ThreadPool pool(net::kShares);"]
        declarations.append("  const EtchThreads* threads = pool.hook();")
    head = ["void** const slots = static_cast<void**>(pointer);", *declarations]
    return "\n".join([
        *includes, *pool,
        '#define EXPORTED extern "C" __attribute__((visibility("default")))',
        "EXPORTED void whole(void* pointer) {", *head, f"  net::run({', '.join(arguments)});", "}",
        "EXPORTED void layer(void* pointer) {", *head, *unused, "  using namespace net;",
        "  using namespace net::steps;",
        *["  " + line for line in layer], "}",
        "EXPORTED unsigned long arena_bytes() { return net::kArenaBytes; }", ""])


@dataclasses.dataclass
class Facts:
    """What building a network costs and yields."""

    generate_s: float = 0
    build_s: float = 0  # wall clock, two compilers at a time
    build_cpu_s: float = 0
    text_bytes: int = 0
    arena_bytes: int = 0
    flash_bytes: int = 0


def text_bytes_of(objects: list[pathlib.Path]) -> int:
    listing = subprocess.run(["size", "-A", *map(str, objects)], check=True, capture_output=True, text=True).stdout
    sections = (line.split() for line in listing.splitlines())
    return sum(int(parts[1]) for parts in sections if len(parts) == 3 and parts[0].startswith(".text"))


def compile_all(sources: list[pathlib.Path], compiler: str, flags: list[str], level: str = "-O2") -> list[pathlib.Path]:
    def compile_one(source: pathlib.Path) -> pathlib.Path:
        output = source.with_suffix(".o")
        files = ["-I", str(source.parent), "-c", str(source), "-o", str(output)]
        subprocess.run([compiler, "-std=c++17", level, *flags, *files], check=True)
        return output
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(compile_one, sources))


def flags_of(folder: pathlib.Path) -> list[str]:
    text = (folder / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"set\(ETCH_ISA_FLAGS([^)]*)\)", text)
    return (found.group(1).split() if found else []) + ["-fno-exceptions", "-fno-rtti"]


@dataclasses.dataclass
class Request:
    """What to build. `shapes`: NAME=N,N,... of inputs; `keep_copy`: the copy of the input is part of a single layer;
    `is_layer`: there is a `layer` to time, run() has no loops or branches; `etch`: the program, which another build may be.
    """

    model: bytes
    target: str
    compiler: str = "g++"
    shapes: tuple[str, ...] = ()
    keep_copy: bool = True
    is_layer: bool = True
    threads: int = 1
    options: tuple[str, ...] = ()  # more arguments of `etch compile`
    level: str = "-O2"
    etch: pathlib.Path = ETCH


def generate(request: Request, folder: pathlib.Path) -> float:
    """Runs `etch compile` into a new folder and returns how many seconds it took."""
    (folder.parent / "model.onnx").write_bytes(request.model)
    command = [str(request.etch), "compile", str(folder.parent / "model.onnx"), "-o", str(folder), "--name", "net",
               "--target", request.target]
    for shape in request.shapes:
        command += ["--input-shape", shape]
    if request.threads > 1:
        command += ["--threads", str(request.threads)]
    command += request.options
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError("etch compile: " + (done.stderr.strip().splitlines() or ["failed"])[0])
    return time.perf_counter() - begin


def build(request: Request, folder: pathlib.Path) -> tuple[pathlib.Path, dict]:
    """Compiles and builds in a folder below `folder` named after what it is made from; returns it and its report.json.
    What was built before is used again.
    """
    staging = folder / f"staging-{os.getpid()}"  # another run may build at the same time
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    generate_s = generate(request, staging / "net")
    report = json.loads((staging / "net/report.json").read_text(encoding="utf-8"))
    driver = driver_text((staging / "net/net.cc").read_text(encoding="utf-8"), report, request)
    version_text = subprocess.run([request.compiler, "--version"], check=True, capture_output=True, text=True).stdout
    key = hashlib.sha256((version_text + driver + request.level.removeprefix("-O2")).encode())
    for path in sorted((staging / "net").rglob("*")):
        if path.suffix in (".cc", ".h"):
            key.update(path.read_bytes())
    final = folder / key.hexdigest()[:24]
    if not (final / "facts.json").exists():
        facts = build_library(staging / "net", driver, request.compiler, request.level)
        facts.generate_s = generate_s
        facts.arena_bytes, facts.flash_bytes = report["arena"]["bytes"], report["flash_bytes"]
        (staging / "facts.json").write_text(json.dumps(dataclasses.asdict(facts)), encoding="utf-8")
        shutil.rmtree(final, ignore_errors=True)
        staging.rename(final)
    shutil.rmtree(staging, ignore_errors=True)
    return final, report


def build_library(source: pathlib.Path, driver: str, compiler: str, level: str) -> Facts:
    # Hidden names are reached as in a program, not through tables of a library.
    (source / "hidden.h").write_text("#pragma GCC visibility push(hidden)\n", encoding="utf-8")
    isa = flags_of(source)
    library_flags = ["-fPIC", "-include", str(source / "hidden.h")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    objects = compile_all(sorted(source.glob("*.cc")), compiler, isa + library_flags, level)
    facts = Facts(build_s=time.perf_counter() - begin, text_bytes=text_bytes_of(objects))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    facts.build_cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    (source / "driver.cc").write_text(driver, encoding="utf-8")
    objects += compile_all([source / "driver.cc"], compiler, isa + library_flags, level)
    if '#include "net.cc"' in driver:
        objects.remove(source / "net.o")
    subprocess.run([compiler, "-shared", "-pthread", *map(str, objects), "-o", str(source.parent / "net.so")], check=True)
    return facts


class Network:
    def __init__(self, request: Request, feeds: list[np.ndarray], folder: pathlib.Path):
        self.load(build(request, folder)[0], feeds)

    @classmethod
    def built(cls, place: pathlib.Path, feeds: list[np.ndarray]) -> "Network":
        """What build() has left in `place`, without asking the compilers again."""
        network = cls.__new__(cls)
        network.load(place, feeds)
        return network

    def load(self, place: pathlib.Path, feeds: list[np.ndarray]) -> None:
        self.place = place
        self.report = json.loads((place / "net/report.json").read_text(encoding="utf-8"))
        self.facts = Facts(**json.loads((self.place / "facts.json").read_text(encoding="utf-8")))
        self.library = ctypes.CDLL(str(self.place / "net.so"))
        self.library.arena_bytes.restype = ctypes.c_ulong
        self.inputs = [self.port(one) for one in self.report["inputs"]]
        self.outputs = [self.port(one) for one in self.report["outputs"]]
        self.set_inputs(feeds)
        self.storage = np.zeros(self.library.arena_bytes() + 4096, np.uint8)
        arena = (self.storage.ctypes.data + 4095) // 4096 * 4096
        pointers = [one.ctypes.data for one in self.inputs + self.outputs] + [arena]
        self.slots = (ctypes.c_void_p * len(pointers))(*pointers)

    def set_inputs(self, feeds: list[np.ndarray]) -> None:
        for port, feed in zip(self.inputs, feeds, strict=True):
            port[...] = feed.reshape(port.shape)

    def port(self, port: dict) -> np.ndarray:
        """Memory that starts a page, as large buffers of the other runtimes do at least by cache lines."""
        dtype = np.dtype(DTYPES[port["dtype"]])
        count = int(np.prod(port["shape"], dtype=np.int64))
        storage = np.zeros(count * dtype.itemsize + 4096, np.uint8)
        offset = -storage.ctypes.data % 4096
        return storage[offset:offset + count * dtype.itemsize].view(dtype).reshape(port["shape"])

    def callee(self, function: str) -> gate.Callee:
        address = ctypes.cast(getattr(self.library, function), ctypes.c_void_p).value
        return gate.Callee(address, ctypes.addressof(self.slots), self)

    def run(self) -> list[np.ndarray]:
        self.library.whole(ctypes.byref(self.slots))
        return self.outputs
