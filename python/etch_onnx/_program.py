"""The program etch: where it is, running it, and its options as keyword arguments."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Union

if TYPE_CHECKING:
    import onnx

Path = Union[str, "os.PathLike[str]"]
Model = Union[Path, "onnx.ModelProto"]

# Exit codes of the program.
REFUSED = 2
DIFFERENT = 4


def printable(name: str) -> str:
    """A name of a model as the program prints it: ASCII on one line, other bytes as \\xNN, cut off after 60 characters."""
    out = ""
    for byte in name.encode("utf-8", "surrogateescape"):
        if len(out) >= 60:
            return out + "..."
        out += chr(byte) if 0x20 <= byte < 0x7F and byte != 0x5C else f"\\x{byte:02x}"
    return out


class EtchError(RuntimeError):
    """The program etch has failed. exit_code: 1 usage, 2 model refused, 3 a file or a tool, 70 a defect of Etch."""

    def __init__(self, message: str, exit_code: int):
        super().__init__(message)
        self.exit_code = exit_code


class Options(TypedDict, total=False):
    """Options of `etch compile` as keyword arguments: --split-rows 64 is split_rows=64, a flag is True, an option that is
    given several times a list, and NAME=VALUE a dictionary. A size that each call may choose is a range: --dim '8<=seq<=128' is
    dim={"seq": range(8, 129)}."""

    dim: Mapping[str, int | range]
    input_shape: Mapping[str, Sequence[int]]
    constant: Mapping[str, Any]  # a path or a numpy array, as for initial_state
    cut: str | Sequence[str]
    quantize_input: Mapping[str, str]
    external_data: Path
    limit: Mapping[str, int]
    qdq: str
    float_products: str
    requantize: str
    strict_integer: bool
    split_rows: int
    state: Mapping[str, str]
    initial_state: Mapping[str, Any]
    threads: int
    optimize: str
    arena_limit: int | str
    flash_limit: int | str
    unroll: str | Sequence[str]
    tuning: Path
    single_file: bool
    weights: str
    weights_section: str
    package: str
    evidence: Path


def program() -> str:
    """The path of the program etch: $ETCH_PROGRAM, or the one in this package."""
    chosen = os.environ.get("ETCH_PROGRAM")
    if chosen:
        if shutil.which(chosen) is None:
            raise EtchError(f"ETCH_PROGRAM names {chosen!r}, which is no program", 3)
        return chosen
    packaged = pathlib.Path(__file__).parent / "_native" / "bin" / "etch"
    if packaged.exists():
        return str(packaged)
    raise EtchError(f"{packaged} is missing: install the package, or set ETCH_PROGRAM to the program etch", 3)


def version() -> str:
    """What `etch --version` prints: "etch 0.1.0"."""
    return run("--version").stdout.strip()


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(str(each) for each in value)
    return str(value)


def _entry(name: str, value: Any, folder: Path | None) -> str:
    """NAME=VALUE; of a range its bounds, of a numpy array a file in the folder."""
    if hasattr(value, "__array_interface__"):
        import numpy as np  # who has an array has imported it

        handle, path = tempfile.mkstemp(".npy", dir=folder)
        with open(handle, "wb") as file:
            np.save(file, value)
        return f"{name}={path}"
    if not isinstance(value, range):
        return f"{name}={_text(value)}"
    if len(value) == 0 or value.step != 1:
        raise ValueError(f"'{name}': {value} must have sizes one after the other")
    return f"{value[0]}<={name}<={value[-1]}"


def arguments(options: Mapping[str, Any], folder: Path | None = None) -> list[str]:
    """Keyword arguments as words of the command line, which name files in the folder for arrays."""
    words: list[str] = []
    for key, value in options.items():
        if key not in Options.__annotations__:
            known = ", ".join(Options.__annotations__)
            raise TypeError(f"there is no option {key!r}; there are {known}")
        option = "--" + key.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, Mapping):
            words += [word for name, each in value.items() for word in (option, _entry(name, each, folder))]
        elif isinstance(value, (list, tuple)):
            words += [word for each in value for word in (option, str(each))]
        else:
            words += [option, str(value)]
    return words


def run(*words: Path, accept: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
    """Runs the program; EtchError with what it printed to stderr unless its exit code is one of `accept`."""
    command = [program(), *(os.fspath(word) for word in words)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise EtchError(f"{command[0]} cannot be run: {error.strerror}", 3) from error
    if done.returncode in accept:
        return done
    raise EtchError(done.stderr.strip() or f"etch ended with {done.returncode}", done.returncode)


def extra(package: str, error: ImportError) -> EtchError:
    """What to say where an optional package is missing."""
    return EtchError(f"{package} is needed: pip install 'etch-onnx[quantize]' ({error})", 3)
