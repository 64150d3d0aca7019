"""Makes false claims to the checker of evidence, each of which it has to find; see false_claims.tsv. Also that true
evidence is accepted, of this network or of all in a folder.

  false_claims.py ETCH MODEL.onnx [SEED]  the false claims; with a seed others of the same kinds
  false_claims.py ETCH --accept PART/PARTS MODEL...  true evidence of a part of these, for a CPU with and one without floats"""

import collections
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import onnx

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tools"))

from check_evidence.__main__ import check, main  # noqa: E402
from check_evidence.trace import digest  # noqa: E402

from network import attention, emulated, functions, parts, products, pruned, stream, untyped, words  # noqa: E402

# What the checker has to say that it does not judge in the bundled network, and in those of network.py.
OPEN = {"n4_quantize", "n21_conv", "n30_copy", "n35_dequantize", "node 24 (Add)", "node 25 (QuantizeLinear)",
        "node 26 (DequantizeLinear)", "node 28 (QuantizeLinear)", "node 29 (DequantizeLinear)", "node 31 (QuantizeLinear)"}
OPEN_OF_PRUNED = {"n0_quantize", "n8_halo", "n18_halo", "n18_conv", "n28_dequantize", "result0", "node 22 (Add)"}
OPEN_OF_WORDS = {"n0_quantize", "n19_dequantize", "n20_quantize", "n31_dequantize", "n34_dequantize", "result1",
                 "node 33 (QuantizeLinear)"}
OPEN_OF_PARTS = {"n0_quantize", "n7_copy", "n10_dequantize"}
OPEN_OF_PRODUCTS = {"n0_quantize", "n3_quantize", "n10_copy", "n20_dequantize", "node 9 (Transpose)"}
OPEN_OF_FUNCTIONS = {"n0_quantize", "n15_quantize", "n14_dequantize", "n26_dequantize"}
OPEN_OF_STREAM = {"n0_arithmetic", "result1"}
OPEN_OF_ATTENTION = {"n4_pack", "n4_attention", "node 0 (MatMul)", "node 1 (Mul)", "node 2 (Add)", "node 3 (Softmax)"}
OPEN_OF_EMULATED = {"n0_quantize", "n0_halo", "n5_dequantize", "result0", *(f"n3_conv, channel {c}" for c in range(5))}
OPEN_OF_UNTYPED = {"n0_quantize", "n14_quantize", "n19_dequantize", "n20_dequantize", "result1"}
NOT_COMPILED = {"tract_qtdnn"}  # its kernel spans more than its input

class Arguments:
    def __init__(self, model, generated, evidence):
        self.model, self.generated, self.evidence, self.objects = model, generated, evidence, None


def compile_model(etch, model, target, name, work, options=()):
    out, evidence = os.path.join(work, target), os.path.join(work, target + "_evidence")
    done = subprocess.run([etch, "compile", model, "-q", "-o", out, "--target", target, "--name", name, "--evidence",
                           evidence, *options], capture_output=True, text=True, check=False)
    return Arguments(model, out, evidence) if done.returncode == 0 else done.stderr


def lines(table):
    with open(os.path.join(ROOT, "tests", "evidence", table), encoding="ascii") as f:
        return [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]


def candidates(value, key, dice):
    """Where a part of a path leads: keys or indices."""
    if key == "*":
        return dice.sample(range(len(value)), len(value))
    if key.startswith("(") and "=" not in key:
        return [i for i in dice.sample(range(len(value)), len(value)) if key[1:-1] in value[i]]
    if key.startswith("("):
        member, text = key[1:-1].split("=")
        return [i for i in dice.sample(range(len(value)), len(value)) if str(value[i].get(member)) == text]
    if isinstance(value, list):
        return [int(key)] if int(key) < len(value) else []
    return [key] if key in value else []


def changed(container, key, change):
    """Carries it out; False where that would change nothing."""
    old = container[key]
    if change == "drop":
        del container[key]
        return True
    if change == "flip":
        new = not old
    elif change == "negate":
        new = -old
    elif change == "halve":
        new = old // 2
    elif change == "empty":
        new = []
    elif change == "swap":
        new = old[::-1]
    elif change.startswith("="):
        new = int(change[1:]) if isinstance(old, int) else change[1:]
    elif change.startswith("bits"):
        new = "0x%08x" % (int(old, 16) + int(change[4:]))
    else:
        new = old + int(change)
    container[key] = new
    return new != old


def edit(value, path, change, dice):
    key, *rest = path
    if change == "exchange" and rest == ["scale"]:
        a, b = dice.sample(range(len(value)), 2)
        value[a]["scale"], value[b]["scale"] = value[b]["scale"], value[a]["scale"]
        return value[a]["scale"] != value[b]["scale"]
    for found in candidates(value, key, dice):
        if (edit(value[found], rest, change, dice) if rest else changed(value, found, change)):
            return True
    return False


def load(path):
    with open(path, encoding="ascii") as f:
        return json.load(f)


def store(path, value):
    with open(path, "w", encoding="ascii") as f:
        json.dump(value, f)


def tell(arguments, claim, number):
    """Edits the evidence (or the folder) and makes hashes consistent. A claim of several edits has them between semicolons."""
    for part, path, change in zip(*(column.split(";") for column in claim[1:4])):
        tell_one(arguments, (claim[0], part, path, change), number)


def tell_one(arguments, claim, number):
    name, part, path, change = claim
    manifest_path = os.path.join(arguments.evidence, "evidence.json")
    manifest = load(manifest_path)
    if part == "files":
        if change == "append":
            with open(os.path.join(arguments.generated, manifest["generated"][0]["path"]), "a", encoding="ascii") as f:
                f.write("\n")
        elif path == "objects":
            arguments.objects = [os.path.join(arguments.evidence, "..", "objects")]
            os.mkdir(arguments.objects[0])
        else:
            manifest["model_sha256"] = manifest["model_sha256"][::-1]
            store(manifest_path, manifest)
        return
    file = os.path.join(arguments.evidence, part + ".json")
    value = load(file)
    if not edit(value, path.split("/"), change, random.Random(number)):
        raise ValueError(f"{name}: nothing to edit")
    store(file, value)
    if part == "evidence":
        return
    with open(file, "rb") as f:
        data = f.read()
    for entry in manifest["parts"]:
        if entry["path"] == part + ".json":
            entry.update(bytes=len(data), sha256=digest(data))
    store(manifest_path, manifest)


def is_found(arguments, claim, number):
    with tempfile.TemporaryDirectory() as work:
        copy = Arguments(arguments.model, os.path.join(work, "code"), os.path.join(work, "evidence"))
        shutil.copytree(arguments.generated, copy.generated)
        shutil.copytree(arguments.evidence, copy.evidence)
        tell(copy, claim, number)
        try:
            report, _ = check(copy)
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            print(f"{claim[0]}: the checker broke off: {type(error).__name__}: {error}")
            return False
    kinds = {kind for kind, _ in report.findings}
    if not kinds & set(claim[4].split(",")):
        print(f"{claim[0]}: found as {sorted(kinds)}, not as {claim[4]}")
        return False
    return True


def tell_all(etch, model, seed=0):
    with tempfile.TemporaryDirectory() as work:
        digits = (model, "cortex-m4", "digits", work, ("--requantize", "integer"))
        wrong = tell_claims(etch, digits, "false_claims.tsv", OPEN, seed)
        for name, make, expected in (("words", words, OPEN_OF_WORDS), ("pruned", pruned, OPEN_OF_PRUNED),
                                     ("parts", parts, OPEN_OF_PARTS), ("products", products, OPEN_OF_PRODUCTS),
                                     ("functions", functions, OPEN_OF_FUNCTIONS), ("stream", stream, OPEN_OF_STREAM),
                                     ("attention", attention, OPEN_OF_ATTENTION),
                                     ("emulated", emulated, OPEN_OF_EMULATED), ("untyped", untyped, OPEN_OF_UNTYPED)):
            target = "cortex-m3" if make == emulated else "avx2"
            folder = os.path.join(work, name)
            os.mkdir(folder)
            file = os.path.join(folder, "model.onnx")
            onnx.save(make(), file)
            wrong += tell_claims(etch, (file, target, name, folder), f"false_claims_{name}.tsv", expected, seed)
        return wrong


def tell_claims(etch, compiled, table, expected, seed):
    arguments = compile_model(etch, *compiled)
    report, _ = check(arguments)
    named = {name for names in report.open.values() for name in names}
    if report.findings or named != expected:
        print(f"the truth is not accepted: {report.findings}; not judged {named ^ expected}")
        return 1
    words = [arguments.model, arguments.generated, arguments.evidence]
    with contextlib.redirect_stdout(None):
        codes = main(words), main([*words, "--strict"])
    if codes != (0, 1):
        print(f"exit codes {codes} of what is not judged, without and with --strict")
        return 1
    claims = lines(table)
    found = sum(is_found(arguments, claim, 1000 * seed + number) for number, claim in enumerate(claims))
    print(f"{found} of {len(claims)} false claims found")
    return 0 if found == len(claims) else 1


def accept(etch, models):
    counts, expected = collections.Counter(), True
    for model in models:
        for target in ("avx2", "cortex-m4"):
            with tempfile.TemporaryDirectory() as work:
                name, result = accepted(etch, model, target, work)
            counts[result] += 1
            expected = expected and result == ("not compiled" if name in NOT_COMPILED else "accepted")
    print(", ".join(f"{count} {result}" for result, count in sorted(counts.items())))
    return 0 if expected and counts["accepted"] else 1


def sizes_of(model):
    """Options for the sizes that the file leaves open, from the description beside it."""
    path = os.path.join(os.path.dirname(model), "info.json")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return [w for name, size in (json.load(f).get("free_dims") or {}).items() for w in ("--dim", f"{name}={size}")]


def accepted(etch, model, target, work):
    name = os.path.basename(os.path.dirname(os.path.abspath(model)))
    arguments = compile_model(etch, model, target, "net", work, sizes_of(model))
    if isinstance(arguments, str):
        print(f"{name} for {target}: not compiled: {arguments.splitlines()[0] if arguments else ''}")
        return name, "not compiled"
    report, _ = check(arguments)
    result = "refused" if report.findings else "accepted"
    print(f"{name} for {target}: {result}, {report.done} steps recomputed, {report.count_open()} claims not judged")
    for why, names in report.open.items():
        print(f"  {len(names)}: {why}")
    for kind, text in report.findings[:5]:
        print(f"  {kind}: {text}")
    return name, result


if __name__ == "__main__":
    if sys.argv[2] == "--accept":
        part, parts = map(int, sys.argv[3].split("/"))
        sys.exit(accept(sys.argv[1], sys.argv[3 + part::parts]))
    sys.exit(tell_all(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])))
