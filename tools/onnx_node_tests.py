#!/usr/bin/env python3
"""Compiles and runs the node test cases of the Python package onnx (onnx.backend.test); see tools/onnx-node-tests.

A case is one network with inputs and the outputs that they give. Etch knows shapes when it compiles, so a case that it
refuses is tried again with inputs that are lists and sizes as constants, then with all inputs but the first, then, where
a value decides a size, with all. Several networks are built into one library, which another process loads: a crash is
one failure and not the end.
"""
import argparse
import collections
import concurrent.futures
import ctypes
import fnmatch
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "onnx-node-tests"
DIAGNOSTIC = re.compile(r"error\[(E-[A-Z]+)\]: (.*)")
ETCH = [ROOT / "build/release/bin/etch"]
BATCH = 24  # networks of one library
SANITIZERS = ["-g1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]
# Cases whose outputs Etch does not want to give.
LENGTH = "the size of the output is rounded before positions are computed, as in ONNX Runtime"
OTHERWISE = {"test_resize_downsample_scales_cubic_align_corners": LENGTH,
             "test_resize_downsample_scales_linear_align_corners": LENGTH}
# Cases that state rounding errors of their own: sums of terms up to 99 of which the exact result is 0, stated as 2e-7.
ABSOLUTE = 1e-7
ABSOLUTE_OF = {"test_dft_inverse": 1e-6, "test_dft_inverse_opset19": 1e-6}
# Two units of the last place: their results are rounded once at the end and not after every operator.
RELATIVE = {"float16": 2**-9, "bfloat16": 2**-6}
FLAGS = {"scalar": [], "sse41": ["-msse4.1"], "avx2": ["-mavx2", "-mfma", "-mf16c"],
         "avx_vnni": ["-mavx2", "-mfma", "-mf16c", "-mavxvnni"],
         "avx512_vnni": ["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mavx512vnni", "-mfma"]}


# Why cases are refused: a name, what their operator or diagnostic matches, and the reason. The first that matches counts;
# a refusal that none explains is a failure of this tool.
REFUSALS = [
    ("strings", r"element type string|TfIdfVectorizer", "text is no data of the networks that Etch is for"),
    ("sequences and optionals", r"is not a tensor|something else than a tensor|Optional|has a type that no",
     "lists whose lengths are known at run time only need a heap"),
    ("training", r"preview\.training|training", "generated code infers"),
    ("random numbers", r"Bernoulli|RandomUniform", "results must be the same every time"),
    ("classical machine learning", r"ai\.onnx\.ml", "trees and encoders have their own compilers"),
    ("images", r"ImageDecoder", "decoders of files are programs of their own"),
    ("bits of other floats", r"bits of \w+ (cannot be read as|are not at hand)", "they are computed in float32, so their bits are not at hand"),
    ("floats of 8 and 4 bits", r"float8|float4", "no arithmetic here stores them, and no CPU target has any"),
    ("integers of 4 and 2 bits at the border", r"\bu?int[24]\b", "as weights they are packed; inputs and outputs have whole bytes"),
    ("unsigned integers of 32 and 64 bits", r"uint32|uint64", "sorting of such numbers is not written"),
    ("elements of 16 bits and bool", r"elements of type u?int16|got bool|ONNX's type", "this operator has no code for the type"),
    ("undefined by ONNX", r"fmod", "Mod of floats needs fmod=1"),
    ("sizes that values decide", r"known at compile time|computed at run time|decides the shape|reads a value with",
     "buffers have fixed sizes; `--constant` makes such inputs known"),
    ("older operator sets", r"E-VERSION", "files are read from ai.onnx 7 on"),
    ("no elements", r"empty|no elements", "the operator needs at least one element"),
]


def explanation(operator, why):
    """The name of the first reason in REFUSALS that fits, or None."""
    return next((name for name, pattern, _ in REFUSALS if re.search(pattern, f"{operator} {why}")), None)


# --- the cases ---

def write_cases(folder):
    """All cases as folders of model.onnx and test_data_set_0, once per release of onnx; their names."""
    listing = folder / "cases.json"
    if listing.exists():
        return json.loads(listing.read_text())
    shutil.rmtree(folder, ignore_errors=True)
    warnings.simplefilter("ignore")
    from onnx.backend.test.loader import load_model_tests  # pylint: disable=import-outside-toplevel
    operators = {}
    for case in load_model_tests(kind="node"):
        out = folder / case.name
        (out / "test_data_set_0").mkdir(parents=True, exist_ok=True)
        (out / "model.onnx").write_bytes(case.model.SerializeToString())
        operators[case.name] = case.model.graph.node[0].op_type
        graph, (inputs, outputs) = case.model.graph, case.data_sets[0]
        for kind, infos, values in (("input", graph.input, inputs), ("output", graph.output, outputs)):
            for i, (info, value) in enumerate(zip(infos, values)):
                if info.type.HasField("tensor_type"):
                    tensor = value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(
                        np.asarray(value), info.name)
                    (out / "test_data_set_0" / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())
    for name in operators:  # cases that spell out a function belong to it
        whole = name.split("_expanded")[0]
        operators[name] = operators.get(whole, operators[name])
    listing.write_text(json.dumps(operators))
    return operators


def tensors(case, kind, count):
    """Tensor i of a case, or None where it is none (a sequence)."""
    for i in range(count):
        path = case / "test_data_set_0" / f"{kind}_{i}.pb"
        yield onnx.load_tensor(str(path)) if path.exists() else None


# --- compiling ---

def frozen(case, which):
    """The model with the inputs that which(position, tensor) chooses as constants, or None: it chooses none."""
    model = onnx.load(str(case / "model.onnx"))
    inputs = list(model.graph.input)
    values = list(tensors(case, "input", len(inputs)))
    chosen = [i for i, value in enumerate(values) if value is not None and which(i, value)]
    if not chosen:
        return None
    for i in chosen:
        values[i].name = inputs[i].name
        model.graph.initializer.append(values[i])
    del model.graph.input[:]
    model.graph.input.extend(info for i, info in enumerate(inputs) if i not in chosen)
    return model


def is_list(i, tensor):
    return i > 0 and len(tensor.dims) <= 1 and tensor.data_type in (onnx.TensorProto.INT64, onnx.TensorProto.INT32)


FORMS = {"": None, "lists": is_list, "rest": lambda i, tensor: i > 0, "all": lambda i, tensor: True}
# Where all inputs may be constants: values that decide sizes.
SIZES = re.compile(r"known at compile time|computed at run time|finds at run time")


def reason_of(text):
    """Class and text of a diagnostic, without what names a value or a place."""
    match = DIAGNOSTIC.search(text)
    if match is None:
        return None
    what = re.sub(r"^node .*?\(\w+\):? ", "", match[2])
    what = re.sub(r", used by \d+ nodes$", "", what)
    what = re.sub(r"the domain (\S+) has no operator ('.*') that can be compiled( \(docs/.*\))?", r"\1 has no operator \2", what)
    return f"{match[1]}: " + re.sub(r"'[^' ]*_[^' ]*'", "'...'", what)


def generate(case, name, target, out):
    """The form that was compiled and no reason, or None and why it is refused."""
    reason = None
    for form, which in FORMS.items():
        if form == "all" and not SIZES.search(reason):
            continue
        model = out.with_suffix(".onnx")
        if which is None:
            shutil.copy(case / "model.onnx", model)
        else:
            changed = frozen(case, which)
            if changed is None:
                continue
            onnx.save(changed, str(model))
        run = subprocess.run([*ETCH, "compile", model, "-o", out, "--name", name, "--target",
                              target, "--force"], capture_output=True, text=True, check=False)
        model.unlink()
        if run.returncode == 0:
            return form, None
        found = reason_of(run.stderr)
        if run.returncode != 2 or found is None:
            return None, f"DEFECT: exit code {run.returncode}: {run.stderr[-300:]}"
        if reason is None or SIZES.search(reason):  # with the values that it needs, another one may remain
            reason = found
    return None, reason


def build(folder, names, target, sanitize):
    """One library of several networks; what the compiler said if it failed."""
    library = folder / f"lib{names[0]}.so"
    unit = folder / f"{names[0]}_all.cc"
    unit.write_text("".join(f'#include "{name}/{file.name}"\n' for name in names
                            for file in sorted((folder / name).glob("*.cc"))))
    launcher = [shutil.which("ccache")] if shutil.which("ccache") else []
    more = SANITIZERS if sanitize else []
    compile_ = [*launcher, "g++", "-std=c++17", "-O1", "-fPIC", "-w", "-I", folder, *FLAGS[target], *more, "-c", unit, "-o",
                unit.with_suffix(".o")]
    for command in (compile_, ["g++", "-shared", *more, unit.with_suffix(".o"), "-o", library]):
        run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        if run.returncode != 0:
            return None, run.stderr[:500]
    return library, None


def share_headers(folder, name):
    """Moves the runtime's headers of a network to one place; those of several are the same."""
    for header in (folder / name / "etch").glob("*.h"):
        common = folder / "etch" / header.name
        common.parent.mkdir(exist_ok=True)
        if not common.exists():
            shutil.copy(header, common)
        if common.read_bytes() == header.read_bytes():
            header.unlink()


# --- running ---

def ports(header, kind):
    """Name, element type and shape of the inputs or outputs, in order."""
    for i in range(header.count(f"constexpr char k{kind}") // 2):
        name = re.search(rf'k{kind}{i}Name\[\] = "(.*)";', header)[1]
        dtype = re.search(rf'k{kind}{i}DType\[\] = "(.*)";', header)[1]
        shape = re.search(rf"k{kind}{i}Shape\[\] = \{{(.*)\}};", header)
        rank = int(re.search(rf"k{kind}{i}Rank = (\d+)", header)[1])
        yield name, dtype, tuple(int(n) for n in shape[1].split(",")) if rank else ()


def equal(got, expected, dtype, absolute):
    """What is wrong with an output; empty: nothing."""
    if tuple(expected.shape) != got.shape:
        return f"shape {got.shape}, expected {tuple(expected.shape)}"
    if dtype != str(expected.dtype):
        return f"{dtype}, expected {expected.dtype}"
    if expected.dtype.kind == "f" or dtype == "bfloat16":
        wide = [each.astype(np.float64) for each in (got, expected)]
        good = np.isclose(*wide, rtol=RELATIVE.get(dtype, 1e-3), atol=absolute, equal_nan=True)
    else:
        good = got == expected
    count = int(good.size - np.count_nonzero(good))
    return f"{count} of {good.size} elements differ" if count else ""


def counted_rows(outputs, names, count):
    """The outputs of the file, `count` of them, without the rows that do not count: further outputs, NAME_shape, say how
    many do. Others than zeros there stay, which is a fault."""
    out = list(outputs[:count])
    for shape, name in zip(outputs[count:], names[count:]):
        i = names.index(name.removesuffix("_shape"))
        kept = out[i][tuple(slice(0, size) for size in shape)]
        if np.count_nonzero(kept) == np.count_nonzero(out[i]):
            out[i] = kept
    return out


def new_arena(size, alignment):
    """From the allocator itself and of just this size, so that AddressSanitizer knows its ends."""
    place = ctypes.c_void_p()
    if ctypes.CDLL(None).posix_memalign(ctypes.byref(place), ctypes.c_size_t(max(alignment, 8)), ctypes.c_size_t(size)) != 0:
        raise MemoryError(f"an arena of {size} bytes")
    ctypes.memset(place, 0xA5, size)
    return place


def run_network(library, header, case):
    """Runs one network on the inputs of its case; what is wrong, empty: nothing."""
    graph = onnx.load(str(case / "model.onnx")).graph
    values = {info.name: numpy_helper.to_array(value) for info, value in
              zip(graph.input, tensors(case, "input", len(graph.input))) if value is not None}
    name = re.search(r"namespace (\w+) \{", header)[1]
    inputs = [np.ascontiguousarray(values[port]).reshape(shape) for port, _, shape in ports(header, "Input")]
    given = list(ports(header, "Output"))
    outputs = [np.zeros(shape, dtype) for _, dtype, shape in given]
    size, alignment = (int(re.search(rf"k{what} = (\d+)", header)[1]) for what in ("ArenaBytes", "ArenaAlignment"))
    arena = new_arena(size, alignment)
    getattr(library, f"{name}_run")(*(ctypes.c_void_p(x.ctypes.data) for x in inputs + outputs), arena)
    ctypes.CDLL(None).free(arena)
    expected = [numpy_helper.to_array(value) for value in tensors(case, "output", len(graph.output))]
    absolute = ABSOLUTE_OF.get(case.name, ABSOLUTE)
    outputs = counted_rows(outputs, [port for port, _, _ in given], len(graph.output))
    faults = [equal(got, want, dtype, absolute) for got, want, (_, dtype, _) in zip(outputs, expected, given)]
    return "; ".join(f"output {i}: {fault}" for i, fault in enumerate(faults) if fault)


def run_library(path, folder, cases):
    """Runs in a process of its own: prints a line of JSON per network before the next one begins."""
    library = ctypes.CDLL(path)
    for pair in cases:
        name, case = pair.split("=")
        header = (pathlib.Path(folder) / name / f"{name}.h").read_text()
        try:
            fault = run_network(library, header, pathlib.Path(case))
        except Exception as error:  # pylint: disable=broad-except
            fault = f"cannot be run: {error}"
        print(json.dumps([name, fault]), flush=True)


# --- all of it ---

def sanitized():
    """The environment of a Python whose libraries have sanitizers; leaks are Python's own."""
    runtime = subprocess.run(["g++", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout.strip()
    return {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1",
            "PYTHONMALLOC": "malloc"}


def batch(arguments):
    """Generates, builds and runs some cases for one target: name to (result, why)."""
    cases, target, folder, source, sanitize = arguments
    folder.mkdir(parents=True, exist_ok=True)
    results, names = {}, {}
    for i, case in enumerate(cases):
        name = f"n{i}"
        form, why = generate(source / case, name, target, folder / name)
        if form is None:
            results[case] = ("failed" if why.startswith("DEFECT") else "refused", why)
        else:
            names[name] = case
            results[case] = ("constants" if form else "passed", "")
            share_headers(folder, name)
    if names:
        library, why = build(folder, list(names), target, sanitize)
        faults = {name: f"cannot be built: {why}" for name in names}
        if library is not None:
            pairs = [f"{name}={source / case}" for name, case in names.items()]
            run = subprocess.run([sys.executable, __file__, "--run-library", library, folder, *pairs],
                                 capture_output=True, text=True, check=False,
                                 env={**os.environ, **(sanitized() if sanitize else {})})
            ran = dict(json.loads(line) for line in run.stdout.splitlines())
            said = run.stderr[:2000] if sanitize else run.stderr[-200:]
            faults = {name: ran.get(name, f"not run, exit code {run.returncode} {said}") for name in names}
        for name, fault in faults.items():
            if fault:
                case = names[name]
                results[case] = ("otherwise", OTHERWISE[case]) if case in OTHERWISE else ("failed", fault)
    shutil.rmtree(folder)
    return results


def run_target(names, target, source, options):
    folder = WORK / f"build-{os.getpid()}-{target}"
    parts = [(names[i:i + BATCH], target, folder / str(i), source, options.sanitize) for i in range(0, len(names), BATCH)]
    results = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in pool.map(batch, parts):
            results |= done
    shutil.rmtree(folder, ignore_errors=True)
    return results


def print_summary(results, target):
    counts = collections.Counter(result for result, _ in results.values())
    for name, (result, why) in sorted(results.items()):
        if result == "failed":
            print(f"  FAILED {name}: {why}")
    reasons = collections.Counter(why for result, why in results.values() if result == "refused")
    for why, count in reasons.most_common():
        print(f"  refused {count}: {why}")
    print(f"{target}: {len(results)} cases, {counts['passed']} passed, {counts['constants']} passed with inputs as "
          f"constants, {counts['refused']} refused, {counts['otherwise']} otherwise on purpose, {counts['failed']} failed", flush=True)


def explained_lines(results, operators):
    """The refusals by reason."""
    groups = collections.defaultdict(collections.Counter)
    for name, (result, why) in results.items():
        if result == "refused":
            groups[explanation(operators[name], why)][operators[name]] += 1
    yield from ("## Refusals by reason", "", "| reason | cases | operators | why |", "| --- | --- | --- | --- |")
    for name, _, text in REFUSALS:
        if name in groups:
            found = ", ".join(f"{operator} {count}" for operator, count in sorted(groups[name].items()))
            yield f"| {name} | {sum(groups[name].values())} | {found} | {text} |"
    yield ""


def unexplained(results, operators):
    return sorted(name for name, (result, why) in results.items()
                  if result == "refused" and explanation(operators[name], why) is None)


def write_table(results, operators, targets):
    rows = collections.defaultdict(list)
    for name, result in results.items():
        rows[operators[name]].append(result)
    total = collections.Counter(result for result, _ in results.values())
    lines = ["# ONNX's own test cases", "",
             f"The {len(results)} node test cases of the Python package onnx {onnx.__version__}, compiled, run and compared"
             " with the outputs", f"that they state, on {' and '.join(targets)} (float: relative 1e-3, absolute"
             f" {ABSOLUTE:g};",
             "float16 and bfloat16: two units of the last place; integers: equal);",
             "written by `tools/onnx-node-tests --write`. The absolute difference is"
             " another for",
             ", ".join(f"{name} ({value:g})" for name, value in ABSOLUTE_OF.items()) + ":",
             "what they state has rounding errors where the exact result is 0.", "",
             f"{total['passed']} pass as they are, {total['constants']} with inputs as constants that Etch has to know"
             " when it compiles (shapes, axes, sizes),",
             f"{total['refused']} are refused, {total['otherwise']} give other results on purpose, {total['failed']} fail."
             " Cases that spell out", "a function (`_expanded`) count with it.", "",
             *explained_lines(results, operators), "## By operator", "",
             "| operator | pass | with constants | refused | otherwise | failed | why |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for operator in sorted(rows):
        counts = collections.Counter(result for result, _ in rows[operator])
        why = collections.Counter(text for result, text in rows[operator] if text).most_common(2)
        text = "; ".join(f"{reason} ({count})" for reason, count in why).replace("|", "\\|")
        numbers = [counts[key] or "" for key in ("passed", "constants", "refused", "otherwise", "failed")]
        lines.append("| " + " | ".join(str(cell) for cell in [operator, *numbers, text]) + " |")
    (ROOT / "docs" / "onnx-support.md").write_text("\n".join(line.rstrip() for line in lines) + "\n")


def best_target():
    listing = subprocess.run([*ETCH, "targets"], capture_output=True, text=True, check=True)
    usable = re.findall(r"^\W*(\w+)", listing.stdout, re.M)
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    needs = {"avx512_vnni": "avx512_vnni", "avx_vnni": "avx_vnni", "avx2": "avx2", "sse41": "sse4_1"}
    return next((target for target, flag in needs.items() if target in usable and flag in flags), "scalar")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", help="default: scalar and the best of this CPU")
    parser.add_argument("--only", default="*", help="names of cases, e.g. 'test_attention*'")
    parser.add_argument("--sample", metavar="SEED/N", help="N cases chosen by SEED")
    parser.add_argument("--etch", type=pathlib.Path, help="the program, if not build/release/bin/etch")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sanitize", action="store_true", help="build with AddressSanitizer and UndefinedBehaviorSanitizer")
    parser.add_argument("--write", action="store_true", help="renew docs/onnx-support.md")
    parser.add_argument("--run-library", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run_library:
        run_library(options.run_library[0], options.run_library[1], options.run_library[2:])
        return 0
    if options.etch:
        ETCH[:] = [options.etch]
    source = WORK / onnx.__version__
    operators = write_cases(source)
    names = sorted(fnmatch.filter(operators, options.only))
    if options.sample:
        seed, count = (int(part) for part in options.sample.split("/"))
        names = sorted(random.Random(seed).sample(names, min(count, len(names))))
    targets = options.targets.split(",") if options.targets else list(dict.fromkeys(["scalar", best_target()]))
    merged = {}
    for target in targets:
        results = run_target(names, target, source, options)
        print_summary(results, target)
        for name, result in results.items():  # a failure anywhere is one
            if name not in merged or result[0] == "failed":
                merged[name] = result
    for name in unexplained(merged, operators):
        print(f"  UNEXPLAINED {name} ({operators[name]}): {merged[name][1]}")
    if options.write and len(names) == len(operators):
        write_table(merged, operators, targets)
    return 1 if any(result == "failed" for result, _ in merged.values()) or unexplained(merged, operators) else 0


if __name__ == "__main__":
    sys.exit(main())
