"""Checks the evidence that `etch compile --evidence DIR` writes against the model and the generated
folder. Shares no code with the compiler; needs onnx and numpy. See docs/evidence.md."""

import argparse
import glob
import json
import os
import sys

import onnx

from . import code as generated
from . import memory, requantization, trace
from .graph import Model


WITHOUT_RULE = dict.fromkeys(("ConvInteger", "MatMulInteger"), "a zero point that is known at run time only")
COMPUTES = ("conv", "table", "maxpool", "avgpool", "add", "rescale")  # no copies and halos for these
PARTS = ("trace", "requantization", "memory", "accesses")


class Report:
    """Findings, and what the checker has no opinion on."""

    MOST = 20  # findings that are printed

    def __init__(self):
        self.findings, self.open, self.done = [], {}, 0  # open: names by the reason

    def wrong(self, kind, text):
        self.findings.append((kind, text))

    def unjudged(self, what, why):
        self.open.setdefault(why, {})[what] = True

    def count_open(self):
        return sum(map(len, self.open.values()))


def load(folder, name):
    with open(os.path.join(folder, name), encoding="ascii") as f:
        return json.load(f)


def check_code(code, parts, report):
    traced = parts["trace"]
    arrays = generated.check_arrays(code, traced, report)
    generated.check_scales(code, traced, parts["requantization"], arrays, report)
    generated.check_places(code, parts["memory"], report)
    generated.check_calls(code, traced, parts["memory"], parts["accesses"], report)
    return len(arrays)


def check_steps(traced, certified, report):
    """Every step has a certificate that was judged, or is named as one that is not judged."""
    for step in traced["steps"]:
        name, op = step["name"], step["op_type"]
        if name in certified:
            if op == "QLinearConvAdd":
                report.unjudged(name, "the sum that a convolution adds before it stores")
        elif step["kind"] in COMPUTES and op in requantization.KINDS and not (op == "MaxPool" and step["uses_floats"]):
            report.wrong("requantization", f"{name} has no certificate")
        elif step["macs"] == step["float_macs"]:
            report.unjudged(name, f"arithmetic of {step['kind']}" + (" in floats" if step["macs"] else ""))
        elif step["kind"] not in ("conv", "depthwise") or op in WITHOUT_RULE:
            report.unjudged(name, WITHOUT_RULE.get(op, f"no rule for {op}"))
        else:
            report.wrong("requantization", f"{name} has no certificate")


def check_network(model, folders, manifest, network, objects, report):
    code, evidence = folders
    parts = {p: load(evidence, f"{p}{network['suffix']}.json") for p in PARTS}
    traced = parts["trace"]
    trace.check_functions(code, traced, network["name"], report)
    if objects:
        trace.check_symbols(objects, traced, report)
    trace.check_quantization(model, traced, report)
    text = generated.Code(code, manifest, network)
    requantized = requantization.Requantization(model, traced, report, text)
    certified = requantized.check(parts["requantization"])
    check_steps(traced, certified, report)
    counts = trace.Coverage(model, traced, report).check()
    mapped = memory.Memory(parts["memory"], traced, report)
    mapped.check(parts["accesses"])
    mapped.ports(model)
    arrays = check_code(text, parts, report)
    accesses = sum(len(s["accesses"]) for s in parts["accesses"]["steps"])
    return counts, f"{requantized.channels} channels, {accesses} accesses, {arrays} arrays of the code"


def check(arguments):
    report = Report()
    with open(arguments.model, "rb") as f:
        data = f.read()
    model = Model(onnx.load_from_string(data))
    manifest = load(arguments.evidence, "evidence.json")
    if manifest.get("generator") != "etch" or manifest.get("evidence_format") != 2:
        raise ValueError("no evidence of a format that is known here")
    if manifest["model_sha256"] != trace.digest(data):
        report.wrong("hash", "the evidence is on another model")
    trace.check_hashes(arguments.generated, manifest["generated"], report, "generated file")
    trace.check_hashes(arguments.evidence, manifest["parts"], report, "part")
    if manifest["files"] != ["evidence.json"] + [p["path"] for p in manifest["parts"]]:
        report.wrong("hash", "the list of files is not that of the parts")
    names = [f"{p}{n['suffix']}.json" for n in manifest["networks"] for p in PARTS]
    if not names or sorted(names) != sorted(p["path"] for p in manifest["parts"]):
        report.wrong("networks", f"{len(manifest['networks'])} networks do not have the parts that are listed")
        return report, []
    objects = []
    for folder in arguments.objects or []:
        objects += glob.glob(os.path.join(folder, "**", "*.o"), recursive=True)
    if arguments.objects and not objects:
        report.wrong("objects", f"no object is in {', '.join(arguments.objects)}")
    lines = []
    for network in manifest["networks"]:
        folders = (arguments.generated, arguments.evidence)
        counts, what = check_network(model, folders, manifest, network, objects, report)
        lines.append(f"{network['name']} for {network['target']}: {what}; nodes: " +
                     ", ".join(f"{n} {reason}" for reason, n in sorted(counts.items())))
    return report, lines


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
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        print(f"refused: malformed evidence: {type(error).__name__}: {error}")
        return 1
    for line in lines:
        print(line)
    print(f"{report.done} steps recomputed from the model")
    for why, names in report.open.items():
        print(f"not judged: {why}: {', '.join(names)}")
    for kind, text in report.findings[:Report.MOST]:
        print(f"wrong: {kind}: {text}")
    if report.findings:
        print(f"refused: {len(report.findings)} findings")
        return 1
    if arguments.strict and report.open:
        print(f"refused: {report.count_open()} claims are not judged")
        return 1
    print("accepted" + (f", except {report.count_open()} claims that are not judged" if report.open else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
