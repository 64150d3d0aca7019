"""Timing on a shared machine: batches of calls between two runs of reference loops (gate.cc), and what counts of them.

Full speed is what the loops reached while a row was measured (the fastest hundredth, so that no single lucky reading
decides). It is found anew for each row because a processor's clock wanders by some percent in minutes, and must not be
far from the best of the whole run, so that a row whose every sample was taken at half speed is not believed.
"""

import contextlib
import ctypes
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import statistics
import subprocess
import tempfile

BATCH_NS = 40e3  # calls are repeated until they take this long
TOLERANCE = 1.05  # a reference loop up to this much slower than the fastest of its row ran at full speed
WANDERING = 1.12  # a row's full speed may be this much slower than that of the fastest row
FASTEST_SHARE = 0.01
ENOUGH = 20  # clean samples; with fewer a figure is marked
LEAST_PER_ROUND = 3


class Sample(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("dot", "busy", "batch", "dot_after", "busy_after", "switches")]


class Foreign(ctypes.Structure):
    """A C function of another library with its arguments; see gate.cc."""

    _fields_ = [("function", ctypes.c_void_p), ("arguments", ctypes.c_void_p * 3), ("status", ctypes.c_ssize_t)]


@dataclasses.dataclass
class Callee:
    """What is timed: a C function with one pointer. `keep` holds what the pointer needs, `foreign` what may fail."""

    function: int
    argument: int | None
    keep: object = None
    foreign: Foreign | None = None


@dataclasses.dataclass
class Measured:
    """One sample: nanoseconds per call and of the slower of the loops around it, and how often the process was put
    aside.
    """

    per_call: float
    dot: float
    busy: float
    switches: float


def cpu_flags() -> set[str]:
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("flags"):
            return set(line.split(":", 1)[1].split())
    return set()


def loop_of(flags: set[str]) -> tuple[str, list[str]]:
    """The fastest dot product of this CPU as a name and as options of gate.cc."""
    if {"avx512f", "avx512_vnni"} <= flags:
        return "vpdpbusd zmm, 24 accumulators", ["-DETCH_ZMM", "-mavx512f"]
    if "avx_vnni" in flags:
        return "vpdpbusd ymm, 12 accumulators", ["-DETCH_YMM"]
    return "no VNNI: pmaddwd, for the clock only", []


class Speed:
    """What one reference loop took, and what of that is full speed."""

    def __init__(self):
        self.times: list[float] = []
        self.best_ns = float("inf")  # of the fastest row
        self.full_ns = float("inf")

    def settle(self) -> None:
        row_ns = sorted(self.times)[int(FASTEST_SHARE * len(self.times))]
        self.best_ns = min(self.best_ns, row_ns)
        self.full_ns = min(row_ns, WANDERING * self.best_ns)

    def is_full(self, time: float) -> bool:
        return time <= TOLERANCE * self.full_ns


class Gate:
    def __init__(self, folder: pathlib.Path):
        source = pathlib.Path(__file__).with_name("gate.cc")
        self.loop, options = loop_of(cpu_flags())
        key = hashlib.sha256(source.read_bytes() + " ".join(options).encode()).hexdigest()[:16]
        library = folder / f"gate_{key}.so"
        if not library.exists():
            folder.mkdir(parents=True, exist_ok=True)
            command = ["g++", "-O2", "-shared", "-fPIC", "-pthread", *options, str(source), "-o", str(library)]
            subprocess.run(command, check=True)
        self.library = ctypes.CDLL(str(library))
        self.library.gate_macs.restype = ctypes.c_double
        self.dot, self.busy = Speed(), Speed()
        self.begin_row()

    def begin_row(self) -> None:
        """Full speed is what is reached from now on; the calling thread keeps to one core meanwhile."""
        cores = os.sched_getaffinity(0)
        pin([max(cores)])
        dot, busy = ctypes.c_double(), ctypes.c_double()
        self.dot.times, self.busy.times = [], []
        for _ in range(1000):
            self.library.gate_reference(ctypes.byref(dot), ctypes.byref(busy))
            self.dot.times.append(dot.value)
            self.busy.times.append(busy.value)
        self.settle()
        pin(cores)

    def use_cores(self, threads: int) -> None:
        """Binds the calling thread to as many cores, one or two, and lets the references watch them all."""
        cores = cores_for(threads)
        pin(cores)
        self.library.gate_help_on(ctypes.c_int(cores[0] if threads > 1 else -1))

    def settle(self) -> None:
        self.dot.settle()
        self.busy.settle()

    @property
    def peak_gmacs(self) -> float:
        """Multiply-accumulates per nanosecond of one core at this row's full speed; 0 without VNNI."""
        return self.library.gate_macs() / self.dot.full_ns

    def foreign(self, function: int, *arguments, status_bits: int = 64) -> Callee:
        """A function of up to three pointers that returns 0 when all went well."""
        slots = (ctypes.c_void_p * 3)(*[getattr(one, "value", one) for one in arguments])
        foreign = Foreign(function, slots, 0)
        adapter = self.library.gate_foreign if status_bits == 64 else self.library.gate_foreign_int
        address = ctypes.cast(adapter, ctypes.c_void_p).value
        return Callee(address, ctypes.addressof(foreign), arguments, foreign)

    def series(self, callee: Callee, calls: int, count: int) -> list[Measured]:
        samples = (Sample * count)()
        self.library.gate_series(ctypes.c_void_p(callee.function), ctypes.c_void_p(callee.argument),
                                 ctypes.c_int64(calls), ctypes.c_int64(count), samples)
        if callee.foreign is not None and callee.foreign.status != 0:
            raise RuntimeError("a timed call failed")
        self.dot.times += [one.dot_after for one in samples]
        self.busy.times += [one.busy_after for one in samples]
        return [Measured(one.batch / calls, max(one.dot, one.dot_after), max(one.busy, one.busy_after), one.switches)
                for one in samples]

    def is_clean(self, sample: Measured) -> bool:
        return self.dot.is_full(sample.dot) and self.busy.is_full(sample.busy) and sample.switches == 0

    def sample(self, callee: Callee, seconds: float) -> list[Measured]:
        """About `seconds` of samples after a warm-up; up to three times that where few of them are clean."""
        first = min(one.per_call for one in self.series(callee, 1, 3))
        calls = max(1, int(BATCH_NS / first))
        self.series(callee, calls, max(1, int(2e6 / (first * calls))))
        per_sample = first * calls + self.dot.full_ns + self.busy.full_ns
        count = max(LEAST_PER_ROUND, int(seconds * 1e9 / per_sample))
        samples = self.series(callee, calls, count)
        for _ in range(2):
            self.settle()
            if sum(map(self.is_clean, samples)) >= min(ENOUGH, count // 2 + 1):
                break
            samples += self.series(callee, calls, count)
        return samples


@dataclasses.dataclass
class Figure:
    """Microseconds per call: the median of the rounds' medians, the least and the greatest of them; and how many
    samples were clean. Without any clean sample all of them count.
    """

    median: float
    least: float
    most: float
    clean: int
    samples: int

    @property
    def doubtful(self) -> bool:
        return self.clean < ENOUGH

    def minus(self, other: "Figure", divisor: int) -> "Figure":
        """What one of `divisor` additional things costs, given the figure without them."""
        def part(mine, theirs):
            return max(0.0, mine - theirs) / divisor
        return Figure(part(self.median, other.median), part(self.least, other.least), part(self.most, other.most),
                      min(self.clean, other.clean), min(self.samples, other.samples))


def figure_of(rounds: list[list[Measured]], is_clean) -> Figure:
    clean = [[one.per_call / 1e3 for one in samples if is_clean(one)] for samples in rounds]
    total = sum(map(len, clean))
    medians = [statistics.median(times) for times in clean if len(times) >= LEAST_PER_ROUND]
    if not medians and total > 0:
        medians = [statistics.median([time for times in clean for time in times])]
    if not medians:
        medians = [statistics.median([one.per_call / 1e3 for one in samples]) for samples in rounds]
    return Figure(statistics.median(medians), min(medians), max(medians), total, sum(map(len, rounds)))


def pin(cores: list[int]) -> None:
    """Binds the calling thread, not those that libraries have started."""
    os.sched_setaffinity(0, cores)


def spread() -> None:
    """Binds the calling thread to the last core and every other thread of the process to the first: on a loaded machine
    two threads that work together would often be given the same one.
    """
    first, last = all_cores()[0], all_cores()[-1]
    for task in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(task.name), [first])
    pin([last])


def cores_for(threads: int) -> list[int]:
    """The last cores: interrupts tend to be served by the first."""
    return all_cores()[-threads:]


@contextlib.contextmanager
def alone():
    """Keeps other runs of this tool on this machine from measuring at the same time, on the same core."""
    path = pathlib.Path(tempfile.gettempdir()) / "etch-bench-x86.lock"
    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def undisturbed(wanted: bool):
    """Lets nothing else have the calling thread's core, where the user wants and may do that."""
    if wanted:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def all_cores() -> list[int]:
    return sorted(ALLOWED_CORES)


ALLOWED_CORES = os.sched_getaffinity(0)
