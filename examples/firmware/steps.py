"""What the scripts of the examples share: commands that end them where they fail, what has to be installed, tensors of test
data, and programs that ctest runs. Not a program by itself."""

import pathlib
import shutil
import subprocess
import sys

NEEDED = {"arm-none-eabi-g++": "gcc-arm-none-eabi libnewlib-arm-none-eabi", "qemu-system-arm": "qemu-system-arm",
          "cmake": "cmake", "ninja": "ninja-build"}


ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def etch() -> str:
    """The program: of a build in this clone, else the one on the path, as `pip install` puts it there."""
    built = ROOT / "build/release/bin/etch"
    return str(built) if built.exists() else shutil.which("etch") or str(built)


def all_here(needed: dict[str, str] = NEEDED) -> bool:
    """Whether the programs are; says otherwise which packages have those that are not."""
    missing = [package for program, package in needed.items() if shutil.which(program) is None]
    if missing:
        print("missing; Debian: apt-get install", *missing, file=sys.stderr)
    return not missing


def call(*command: object, quiet: bool = False) -> str:
    """Runs a command; what fails ends this program with its words and its exit code."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stdout + done.stderr)
        sys.exit(done.returncode)
    if not quiet:
        sys.stdout.write(done.stdout + done.stderr)
        sys.stdout.flush()
    return done.stdout


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def tensor_bytes(path: pathlib.Path) -> bytes:
    """The elements of a serialized TensorProto, if it holds them as bytes (raw_data) or as packed floats."""
    data = path.read_bytes()
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        length, at = varint(data, at)  # or the value of a field that is a number
        if key & 7 == 2:
            if key >> 3 in (4, 9):  # float_data, raw_data
                return data[at:at + length]
            at += length
    sys.exit(f"{path}: holds its elements neither as raw_data nor as float_data")


def run_by_ctest(folder: pathlib.Path) -> int:
    """Runs the one test of a build folder, in an emulator if toolchain.cmake named one; prints what it prints."""
    done = subprocess.run(["ctest", "--test-dir", folder, "--verbose"], capture_output=True, text=True, check=False)
    said = [line[3:] for line in done.stdout.splitlines() if line.startswith("1: ")]
    print(*said[3:], sep="\n")  # without ctest's own three lines
    return done.returncode
