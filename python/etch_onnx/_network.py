"""Networks compiled to shared libraries, which ctypes calls on the memory of numpy arrays."""

from __future__ import annotations

import ctypes
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import _program
from ._program import DIFFERENT, EtchError, Model, Path

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._program import Options

_NAME = "net"  # of the functions in the library
_LIBRARY = "network.so"


def _dtype(name: str) -> np.dtype[Any]:
    if name == "bfloat16":
        return np.dtype(np.uint16)  # its bits, as in C
    if name in ("int4", "uint4"):
        raise EtchError(f"inputs and outputs of type {name} are not supported by the Python package", 2)
    return np.dtype(name)


def counted(outputs: Mapping[str, NDArray[Any]], names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The outputs that a model has, `names`, as it gives them: without the zeros after rows whose number values decide. Their
    shapes are the other outputs, in the same order, NAME_shape with a number where that name is taken."""
    shapes = [name for name in outputs if name not in names]
    found = {}
    for name in names:
        array = outputs[name]
        if shapes and re.fullmatch(re.escape(name) + r"_shape\d*", shapes[0]):
            array = array[tuple(slice(size) for size in outputs[shapes.pop(0)])]
        found[name] = array
    return found


@dataclasses.dataclass(frozen=True)
class Port:
    """An input or output of a network. shape: with the greatest size, where a size is a range; shapes: with each size, from
    the least on, if they differ."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...] = ()

    def at(self, place: int) -> Port:
        """The port with one size, by its place in the range."""
        return Port(self.name, self.dtype, self.shapes[place]) if self.shapes else self

    def accept(self, value: Any) -> NDArray[Any]:
        """`value` itself if it has the layout that the network reads; else a copy that has. TypeError and ValueError
        where its type or shape is another."""
        array = np.asarray(value)
        if array.dtype != self.dtype:
            raise TypeError(f"'{self.name}' is {array.dtype}, the network takes {self.dtype}")
        if array.shape != self.shape:
            raise ValueError(f"'{self.name}' has the shape {array.shape}, the network takes {self.shape}")
        return np.require(array, dtype=self.dtype, requirements=["C", "A"])


def _name(printed: str) -> str:
    """A name of the model from the report, which has \\xNN for each byte that is not printable ASCII."""
    raw = re.sub(rb"\\x([0-9a-f]{2})", lambda each: bytes.fromhex(each[1].decode()), printed.encode())
    return raw.decode("utf-8", "replace")


def _ports(entries: Sequence[Mapping[str, Any]]) -> tuple[Port, ...]:
    return tuple(
        Port(_name(each["name"]), _dtype(each["dtype"]), tuple(each["shape"]), tuple(map(tuple, each.get("shapes", ()))))
        for each in entries
    )


@dataclasses.dataclass
class _Workspace:
    """What one call works in."""

    memory: NDArray[np.uint8]
    arena: int
    pool: int | None = None


class Network:
    """A network that compile() has built. Calls from several threads may run at the same time: each has an arena (and a
    pool of threads, if the network has several) of its own, which are kept for later calls.

    inputs, outputs: its ports. report: report.json as a dictionary. folder: the generated C++."""

    def __init__(self, folder: pathlib.Path, library: pathlib.Path, bench: list[str], temporary: Path | None):
        if temporary is not None:
            weakref.finalize(self, shutil.rmtree, temporary, ignore_errors=True)
        self.folder = folder
        self.report: dict[str, Any] = json.loads((folder / "report.json").read_text())
        if "state" in self.report:
            raise EtchError("the Python package cannot call networks that keep a state (etch.state in the metadata)", 2)
        self.inputs = _ports(self.report["inputs"])
        self.outputs = _ports(self.report["outputs"])
        self._bench = bench
        self._lock = threading.Lock()
        self._free: list[_Workspace] = []
        self._load(library)

    def _load(self, path: pathlib.Path) -> None:
        self._library = ctypes.CDLL(str(path))  # its functions release the lock of the interpreter
        self._threads = 1
        for word, value in zip(self._bench, self._bench[1:]):
            if word == "--threads":
                self._threads = int(value)
        self._leading: list[int] = []
        if hasattr(self._library, f"{_NAME}_best_isa"):  # code of several targets in one
            self._leading = [getattr(self._library, f"{_NAME}_best_isa")()]
        pooled = hasattr(self._library, f"{_NAME}_pool_new")
        if not pooled:
            self._threads = 1
        self._function = getattr(self._library, f"{_NAME}_run_on" if pooled else f"{_NAME}_run")
        pointers = len(self.inputs) + len(self.outputs) + 1 + (1 if pooled else 0)
        self._function.argtypes = [ctypes.c_int] * len(self._leading) + [ctypes.c_void_p] * pointers
        self._function.restype = None
        if "sizes" in self.report:
            self._function.argtypes.append(ctypes.c_size_t)
            self._function.restype = ctypes.c_int
        for name, result in (("new", ctypes.c_void_p), ("hook", ctypes.c_void_p), ("delete", None)):
            if pooled:
                function = getattr(self._library, f"{_NAME}_pool_{name}")
                function.argtypes = [ctypes.c_int if name == "new" else ctypes.c_void_p]
                function.restype = result

    def _new_workspace(self) -> _Workspace:
        arena = self.report["arena"]
        memory = np.empty(max(arena["bytes"], 1) + arena["alignment"], np.uint8)
        aligned = -(-memory.ctypes.data // arena["alignment"]) * arena["alignment"]
        workspace = _Workspace(memory, aligned)
        if self._threads > 1:
            library = self._library
            pool = library.net_pool_new(self._threads)
            if not pool:
                raise EtchError(f"{self._threads} threads cannot be started", 3)
            workspace.pool = library.net_pool_hook(pool)
            weakref.finalize(workspace, library.net_pool_delete, pool)
        return workspace

    @contextmanager
    def _workspace(self) -> Iterator[_Workspace]:
        with self._lock:
            workspace = self._free.pop() if self._free else None
        workspace = workspace or self._new_workspace()
        yield workspace
        with self._lock:
            self._free.append(workspace)

    def run(self, *arrays: Any, **named: Any) -> dict[str, NDArray[Any]]:
        """One inference. Inputs are given by name, or all in the order of `inputs`; types and shapes must be those of the
        ports, with any one size where a size is a range. Contiguous arrays are read where they are. Returns new arrays, by the
        names of the outputs."""
        if arrays and (named or len(arrays) != len(self.inputs)):
            raise TypeError(f"give the {len(self.inputs)} inputs by name, or all of them in their order")
        inputs = dict(zip((port.name for port in self.inputs), arrays)) if arrays else named
        place = self._place(inputs)
        outputs = {port.name: np.empty(port.at(place).shape, port.dtype) for port in self.outputs}
        self.run_into(inputs, outputs)
        return outputs

    def run_into(self, inputs: Mapping[str, Any], outputs: Mapping[str, NDArray[Any]]) -> None:
        """The same into arrays of the caller, which must be contiguous and not overlap the inputs."""
        place = self._place(inputs)
        read = [port.at(place).accept(value) for port, value in self._match(self.inputs, inputs, "input")]
        written = [self._writable(port.at(place), value) for port, value in self._match(self.outputs, outputs, "output")]
        for i, target in enumerate(written):
            if any(np.may_share_memory(target, other) for other in read + written[:i]):
                raise ValueError(f"'{self.outputs[i].name}' overlaps another array")
        with self._workspace() as workspace:
            pointers = [array.ctypes.data for array in read + written] + [workspace.arena]
            if "sizes" in self.report:
                pointers.append(self.report["sizes"]["least"] + place)
            elif self._function.argtypes is not None and len(self._function.argtypes) > len(pointers) + len(self._leading):
                pointers.append(cast(int, workspace.pool))
            self._function(*self._leading, *pointers)

    def _place(self, inputs: Mapping[str, Any]) -> int:
        """The first size, by its place in the range, with which the inputs that are given have their shapes. 0 where all sizes
        are fixed."""
        sizes = self.report.get("sizes")
        if sizes is None:
            return 0
        given = [(port, np.shape(inputs[port.name])) for port in self.inputs if port.shapes and port.name in inputs]
        for place in range(sizes["most"] - sizes["least"] + 1):
            if all(port.at(place).shape == shape for port, shape in given):
                return place
        shapes = ", ".join(f"'{port.name}' {shape}" for port, shape in given)
        raise ValueError(f"no {sizes['symbol']} from {sizes['least']} to {sizes['most']} gives the shapes {shapes}")

    @staticmethod
    def _match(ports: Sequence[Port], given: Mapping[str, Any], what: str) -> list[tuple[Port, Any]]:
        names = [port.name for port in ports]
        missing = [name for name in names if name not in given]
        unknown = [name for name in given if name not in names]
        if missing or unknown:
            raise TypeError(f"the network has the {what}s {names}; missing: {missing}, not known: {unknown}")
        return [(port, given[port.name]) for port in ports]

    @staticmethod
    def _writable(port: Port, array: NDArray[Any]) -> NDArray[Any]:
        if not isinstance(array, np.ndarray) or port.accept(array) is not array or not array.flags.writeable:
            raise ValueError(f"'{port.name}' must be a writable contiguous array")
        return array

    def bench(self, seconds: float = 2.0) -> dict[str, Any]:
        """What `etch bench --json` measures: the median and least time of an inference in microseconds ("median_us",
        "min_us"), and the same for each of "layers"."""
        model = pathlib.Path(self._bench[0])
        if hashlib.sha256(model.read_bytes()).hexdigest() != self.report["model_sha256"]:
            raise EtchError(f"{model} has changed since it was compiled", 3)
        done = _program.run("bench", *self._bench, "--json", "--seconds", str(seconds))
        return cast("dict[str, Any]", json.loads(done.stdout))

    def __repr__(self) -> str:
        ports = ", ".join(f"{port.name}: {port.dtype}{list(port.shape)}" for port in self.inputs)
        return f"<etch_onnx.Network for {self.report['target']}, {ports}>"


def model_file(model: Model, folder: Path) -> str:
    """The path of `model`; of an onnx.ModelProto, that of a copy in `folder`."""
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model)
    path = pathlib.Path(folder) / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return str(path)


def compile(
    model: Model, target: str = "native", *, output: Path | None = None, **options: Unpack[Options]
) -> Network:
    """Compiles a model, a file or an onnx.ModelProto, and builds it with this machine's C++ compiler ($CXX, g++ or
    clang++). `output`: a folder that keeps the generated C++. EtchError says why a model is refused."""
    temporary = tempfile.mkdtemp(prefix="etch-python-")
    try:
        path = model_file(model, temporary)
        folder = pathlib.Path(output) if output is not None else pathlib.Path(temporary) / _NAME
        library = pathlib.Path(temporary) / _LIBRARY  # not in `output`: a library that is loaded must not be replaced
        words = ["--target", target, *_program.arguments(options, temporary)]
        _program.run("--quiet", "compile", path, "-o", folder, "--name", _NAME, "--library", library, *words)
        return Network(folder, library, [path, *words], temporary)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def generate(
    model: Model, output: Path, target: str = "native", *, name: str | None = None, **options: Unpack[Options]
) -> dict[str, Any]:
    """Writes the generated C++ to the folder `output`, for any target, and builds nothing. Returns report.json."""
    with tempfile.TemporaryDirectory(prefix="etch-python-") as temporary:
        words = ["--target", target, *(["--name", name] if name else []), *_program.arguments(options, temporary)]
        _program.run("--quiet", "compile", model_file(model, temporary), "-o", output, *words)
    return cast("dict[str, Any]", json.loads((pathlib.Path(output) / "report.json").read_text()))


@dataclasses.dataclass(frozen=True)
class CheckResult:
    """passed: every output is as recorded. text: what `etch check` printed, one line per output. True if passed."""

    passed: bool
    text: str

    def __bool__(self) -> bool:
        return self.passed


def check(
    model: Model, target: str = "native", *, data: Path | Sequence[Path] = (), **options: Unpack[Options]
) -> CheckResult:
    """Builds and runs a model for `target`, in an emulator if it is another machine, and compares with its test data: the
    folders `data`, by default all test_data_set_* beside the model. Of .npz and .npy files with samples, as `record` takes
    them, ONNX Runtime computes the outputs first, unless they are in the file, by their names."""
    from . import _record

    given = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    with tempfile.TemporaryDirectory(prefix="etch-python-") as temporary:
        words: list[Path] = ["--target", target, *_program.arguments(options, temporary)]
        for i, each in enumerate(given):
            folders: list[Path] = [each]
            if not options.keys() & set(_record.OTHER_NETWORK):
                folder = pathlib.Path(temporary) / f"recorded_{i}"
                folders = _record.data_sets(model, each, folder, options.get("dim"), options.get("input_shape"))
            for one in folders:
                words += ["--data", one]
        done = _program.run("check", model_file(model, temporary), *words, accept=(0, DIFFERENT))
    return CheckResult(done.returncode == 0, done.stdout)
