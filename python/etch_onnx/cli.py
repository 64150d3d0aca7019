"""The command etch of the package: quantize, record and debug here, everything else by the program etch."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from . import _program  # and no module that imports numpy: most calls only start the program
from ._program import EtchError, printable

if TYPE_CHECKING:
    from . import _debug

_USAGE = 1
_INTERRUPTED = 130  # as shells have it of Ctrl-C


class _Parser(argparse.ArgumentParser):
    """Exit codes and messages as the program's."""

    def error(self, message: str) -> None:  # type: ignore[override]
        print(f"etch: {message}; try {self.prog} --help", file=sys.stderr)
        raise SystemExit(_USAGE)


def _sizes(words: Sequence[str]) -> dict[str, int]:
    sizes = {}
    for word in words:
        name, _, value = word.partition("=")
        if not name or not value.isdigit():
            raise EtchError(f"--dim {word}: NAME=N is needed", _USAGE)
        sizes[name] = int(value)
    return sizes


def _add_quantize(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser("quantize", help="make an int8 network from a float one")
    parser.add_argument("model", metavar="FLOAT.onnx", help="the float network")
    parser.add_argument("--calibration", metavar="DIR|FILE.npz", required=True, help="inputs as the network will see them: "
                        "a folder of .npy files (one input), of .npz files with one array per input or of test data, or "
                        "one .npz file whose arrays have the samples along the first axis")  # fmt: skip
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="folder for model.onnx, test_data_set_* and "
                        "comparison.json")  # fmt: skip
    parser.add_argument("--activations", choices=["int8", "uint8"], default="int8", help="default: int8")
    parser.add_argument("--format", choices=["qdq", "qoperator"], default="qdq", help="default: qdq")
    parser.add_argument("--per-tensor", action="store_true", help="one scale per weight tensor, not per channel")
    parser.add_argument("--method", choices=["minmax", "entropy", "percentile", "distribution"], default="minmax",
                        help="how ranges follow from the samples; default: minmax")  # fmt: skip
    parser.add_argument("--exclude", metavar="NODE", action="append", default=[], help="leave this node in float")
    parser.add_argument("--data-sets", metavar="N", type=int, default=3, help="samples that become test data; default: 3")
    parser.add_argument("--samples", metavar="N", type=int, help="calibrate with the first N samples only")
    parser.set_defaults(run=_run_quantize)


def _run_quantize(options: argparse.Namespace) -> int:
    from . import _quantize

    done = _quantize.quantize(
        options.model, options.output, options.calibration, activations=options.activations,
        qoperator=options.format == "qoperator", per_tensor=options.per_tensor, method=options.method,
        exclude=options.exclude, data_sets=options.data_sets, samples=options.samples,
    )  # fmt: skip
    print(f"{done.model}: quantized with {done.samples} samples, {len(done.data_sets)} recorded beside it")
    for each in done.comparison:
        print(f"  {each}")
    if done.refusal is not None:
        print(f"etch refuses it:\n{done.refusal}", file=sys.stderr)
        return _program.REFUSED
    if done.float_macs:
        why = f"ONNX Runtime's quantizer has no form of {' and '.join(done.recurrent)}" if done.recurrent else ""
        print(f"  {done.float_macs} of {done.macs} multiplications stay float: {why or '`etch inspect` says why'}")
    print(f"next: etch check {shlex.quote(str(done.model))}")
    return 0


def _add_record(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser("record", help="make test data with ONNX Runtime")
    parser.add_argument("model", metavar="MODEL.onnx", help="the network")
    parser.add_argument("--inputs", metavar="DIR|FILE|random", default="random", help="samples as for `etch quantize`, a "
                        ".npy file with the samples along the first axis, or random ones; default: random")  # fmt: skip
    parser.add_argument("-o", "--output", metavar="DIR", help="default: the folder of the model")
    parser.add_argument("--count", metavar="N", type=int, help="at most N samples; N random ones")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="of random inputs; default: 0")
    parser.add_argument("--dim", metavar="NAME=N", action="append", default=[], help="a symbolic size of the inputs; of random ones "
                        "default: 1")  # fmt: skip
    parser.set_defaults(run=_run_record)


def _run_record(options: argparse.Namespace) -> int:
    from . import _record

    folders = _record.record(
        options.model, options.inputs, output=options.output, count=options.count, seed=options.seed,
        dim=_sizes(options.dim),
    )  # fmt: skip
    for folder in folders:
        print(folder)
    return 0


def _add_debug(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser("debug", help="compare every tensor with another network's")
    parser.add_argument("model", metavar="MODEL.onnx", help="the network, run in generated code")
    parser.add_argument("--against", metavar="OTHER.onnx", required=True, help="the float network it was made from, or the "
                        "same one; run in ONNX Runtime")  # fmt: skip
    parser.add_argument("--data", metavar="DIR|FILE.npz", required=True, help="samples as for `etch quantize`")
    parser.add_argument("-t", "--target", default="native", help="what code is generated for; default: native")
    parser.add_argument("--samples", metavar="N", type=int, help="at most N samples")
    parser.add_argument("--least", metavar="DB", type=float, default=20.0, help="name the first tensor whose signal to noise "
                        "ratio is less; default: 20")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print a JSON object")
    parser.add_argument("--report", metavar="FILE.html", help="also write the network's report.html with all of it as a "
                        "section")  # fmt: skip
    parser.set_defaults(run=_run_debug)


def _first(found: list[_debug.TensorDifference], what: Callable[[_debug.TensorDifference], bool]) -> str | None:
    return next((each.tensor for each in found if what(each)), None)


def _run_debug(options: argparse.Namespace) -> int:
    from . import _debug
    from ._compare import decibel, finite

    found = _debug.debug(
        options.model, options.against, options.data, target=options.target, samples=options.samples
    )
    different = _first(found, lambda each: each.departs)
    poor = _first(found, lambda each: each.sqnr_db < options.least)
    summary = [f"first that differs: {printable(different or 'none')}",
               f"first below {options.least:g} dB: {printable(poor or 'none')}"]  # fmt: skip
    lowest = min(found, key=lambda each: each.sqnr_db, default=None)
    if lowest is not None and lowest.departs:
        summary.append(f"lowest: {decibel(lowest.sqnr_db)} of {printable(lowest.tensor)}")
    integer = next((each for each in found if each.first is not None), None)
    element = None if integer is None else integer.first
    if integer is not None and element is not None:
        summary.append(f"first integer that differs: {printable(integer.tensor)}{list(element.index)} of sample {element.sample} is "
                       f"{element.value}, the other has {element.expected}")  # fmt: skip
    if options.report:
        _write_report(options, found, summary)
    if options.json:
        tensors = [{**dataclasses.asdict(each), "sqnr_db": finite(each.sqnr_db)} for each in found]
        print(json.dumps({"tensors": tensors, "first_different": different, "first_below_least": poor}, indent=2))
        return 0
    print(f"{'SQNR':>10} {'cosine':>9} {'largest':>10} {'different':>10} {'saturated':>10}  tensor")
    for each in found:
        saturated = "" if each.saturated is None else f"{100 * each.saturated:.2f} %"
        share = f"{100 * each.different / max(each.elements, 1):.1f} %"
        print(f"{decibel(each.sqnr_db):>10} {each.cosine:>9.6f} {each.worst:>10.4g} {share:>10} {saturated:>10}  "
              f"{printable(each.tensor)} ({printable(each.op)})")  # fmt: skip
    print(*summary, sep="\n")
    if element is not None and element.by_hand:
        print(element.by_hand)
    return 0


def _write_report(options: argparse.Namespace, found: list[_debug.TensorDifference], summary: list[str]) -> None:
    from . import _accuracy, _debug, _network, _reference
    from ._samples import Samples

    model, name = _reference.load(options.model), pathlib.Path(options.model).stem
    shapes = _debug.shapes_of(Samples(options.data, _reference.shapes(model), _reference.types(model)))
    with tempfile.TemporaryDirectory(prefix="etch-python-") as folder:
        _network.generate(model, folder, options.target, name=name if name.isidentifier() else None, input_shape=shapes)
        page = (pathlib.Path(folder) / "report.html").read_text(encoding="utf-8")
    text = _accuracy.section(found, pathlib.Path(options.against).name, summary)
    pathlib.Path(options.report).write_text(_accuracy.with_section(page, text), encoding="utf-8")


def _named(words: Sequence[str], option: str) -> list[tuple[str, str]]:
    """What an option of NAME=VALUE says among words of the program: --dim n=4 and --dim=n=4."""
    values = [word.removeprefix(option + "=") for word in words if word.startswith(option + "=")]
    values += [after for word, after in zip(words, words[1:]) if word == option]
    return [(name, value) for name, _, value in (each.rpartition("=") for each in values)]


def _check(words: Sequence[str]) -> int:
    """`etch check` of the program; of samples without outputs ONNX Runtime computes these first, if it is installed."""
    from . import _record

    executable = _program.program()
    model = next((word for word in words[1:] if word.endswith(".onnx")), None)
    if {"--" + name.replace("_", "-") for name in _record.OTHER_NETWORK} & {word.split("=")[0] for word in words}:
        model = None
    dims = {name: int(size) for name, size in _named(words, "--dim") if size.isdigit() and not name.endswith("<")}
    shapes = {name: [int(size) for size in sizes.split(",") if size.isdigit()] for name, sizes in _named(words, "--input-shape")}
    with tempfile.TemporaryDirectory(prefix="etch-python-") as folder:
        given: list[str] = []
        for word in words:  # --data X and --data=X
            after = given[-1:] == ["--data"]
            data = word if after else word.removeprefix("--data=")
            if model is None or not (after or data != word):
                given.append(word)
                continue
            folders = _record.data_sets(model, data, pathlib.Path(folder) / str(len(given)), dims, shapes)
            given += [str(each) for k, each in enumerate(folders) for each in (["--data"] if k or not after else []) + [each]]
        if given == list(words):
            os.execv(executable, [executable, *words])
        return subprocess.run([executable, *given], check=False).returncode


def _parser() -> _Parser:
    parser = _Parser(prog="etch", description="Commands of the Python package; `etch --help` lists the program's.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (_add_quantize, _add_record, _add_debug):
        add(commands)
    return parser


def _shown(text: str) -> str:
    """Libraries say names of the model as they are, with what would steer a terminal."""
    return "".join(c if c == "\n" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; the program etch replaces this process."""
    words = sys.argv[1:] if words is None else list(words)
    try:
        if words[:1] == ["check"] and any(word.split("=")[0] == "--data" for word in words):
            return _check(words)
        if not words or words[0] not in ("quantize", "record", "debug"):
            executable = _program.program()
            os.execv(executable, [executable, *words])
        options = _parser().parse_args(words)
        return int(options.run(options))
    except EtchError as error:
        print(f"etch: {_shown(str(error))}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"etch: {error.filename or error}: {error.strerror}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
