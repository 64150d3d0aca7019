"""Checks the evidence that `etch compile --evidence DIR` writes against the model and the generated folder. Shares no
code with the compiler; needs onnx and numpy. See docs/evidence.md."""

import argparse
import json
import pathlib
import struct
import sys
from types import SimpleNamespace

import onnx
from google.protobuf.message import DecodeError

from . import trace
from .code import Code
from .graph import Model
from .memory import Memory
from .requantization import Requantization

PARTS = ("trace", "requantization", "memory", "accesses")
MALFORMED = (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, struct.error,
             DecodeError)


class Report:
    """Findings, and what the checker has no opinion on."""

    def __init__(self):
        self.findings, self.open, self.done = [], {}, 0  # open: names by the reason

    def need(self, good, kind, text):
        """What has to hold; returns whether it does."""
        if not good:
            self.findings.append((kind, text))
        return bool(good)

    def equal(self, kind, what, claimed, real):
        """That a claim is what was computed or read."""
        return self.need(claimed == real, kind, f"{what}: {claimed}, but it is {real}")

    def unjudged(self, what, why):
        self.open.setdefault(why, {})[what] = True

    def count_open(self):
        return sum(map(len, self.open.values()))


def load(folder, name):
    """A part of the evidence; members of its objects are attributes."""
    return json.loads(pathlib.Path(folder, name).read_text("ascii"), object_hook=lambda m: SimpleNamespace(**m))


def check_network(model, arguments, manifest, network, objects, report):
    traced, certificates, placed, accesses = (load(arguments.evidence, f"{p}{network.suffix}.json") for p in PARTS)
    model.take_inputs({port.name for port in placed.inputs}, traced)
    code = Code(arguments.generated, manifest, network.name, report)
    requantized = Requantization(model, traced, report, code)
    requantized.check(certificates)
    trace.check_functions(arguments.generated, traced, network.name, objects, report)
    trace.check_quantization(model, traced, report)
    counts = trace.Coverage(model, traced, report).check()
    Memory(placed, traced, report, manifest.command_line).check(accesses, model)
    code.check(traced, placed, accesses, certificates)
    return (f"{network.name} for {network.target}: {requantized.channels} channels, "
            f"{sum(len(s.accesses) for s in accesses.steps)} accesses, {len(code.judged)} arrays of the code; nodes: " +
            ", ".join(f"{n} {reason}" for reason, n in sorted(counts.items(), key=str)))


def check(arguments):
    report = Report()
    data = pathlib.Path(arguments.model).read_bytes()
    model, manifest = Model(onnx.load_from_string(data)), load(arguments.evidence, "evidence.json")
    if (manifest.generator, manifest.evidence_format) != ("etch", 2):
        raise ValueError("no evidence of a format that is known here")
    report.equal("hash", "the model", manifest.model_sha256, trace.digest(data))
    trace.check_hashes(arguments.generated, manifest.generated, report, "generated file")
    trace.check_hashes(arguments.evidence, manifest.parts, report, "part")
    parts = [p.path for p in manifest.parts]
    report.equal("hash", "the list of files", manifest.files, ["evidence.json", *parts])
    names = [f"{p}{n.suffix}.json" for n in manifest.networks for p in PARTS]
    if not report.need(names and sorted(names) == sorted(parts), "networks",
                       f"{len(manifest.networks)} networks do not have the parts that are listed"):
        return report, []
    objects = [path for folder in arguments.objects or [] for path in pathlib.Path(folder).rglob("*.o")]
    report.need(objects or not arguments.objects, "objects", f"no object is in {arguments.objects}")
    return report, [check_network(model, arguments, manifest, n, objects, report) for n in manifest.networks]


def main(words=None):
    parser = argparse.ArgumentParser(prog="check-evidence", description=__doc__)
    parser.add_argument("model", help="the ONNX file")
    parser.add_argument("generated", help="the folder of -o")
    parser.add_argument("evidence", help="the folder of --evidence")
    parser.add_argument("--objects", action="append", help="a folder with objects of the generated files")
    parser.add_argument("--strict", action="store_true", help="refuse also what is not judged")
    arguments = parser.parse_args(words)
    try:
        report, lines = check(arguments)
    except MALFORMED as error:
        print(f"refused: malformed evidence: {type(error).__name__}: {error}")
        return 1
    lines += [f"{report.done} steps recomputed from the model"]
    lines += [f"not judged: {why}: {', '.join(names)}" for why, names in report.open.items()]
    lines += [f"wrong: {kind}: {text}" for kind, text in report.findings[:20]]
    left = f"{report.count_open()} claims that are not judged"
    bad = report.findings or arguments.strict and report.open
    accepted = f"accepted, except {left}" if report.open else "accepted"
    print("\n".join([*lines, f"refused: {len(report.findings)} findings, {left}" if bad else accepted]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
