"""Plans: a target and options, natively or as compiled code. Targets are those that `etch targets` lists."""

import dataclasses
import re
import subprocess

OPTIONS = [
    "",
    "",
    "",
    "--optimize size",
    "--optimize speed",
    "--optimize ram",
    "--unroll full",
    "--unroll 1",
    "--split-rows 1",
    "--threads 3",
    "--requantize integer",
    "--optimize size --requantize integer",
    "--split-rows 1 --threads 2",
]
FOR_EMULATORS = [words for words in OPTIONS if "threads" not in words and "split-rows" not in words]
BOUNDS = ["", "", "", "t0", "t3", "t7", "a95", "a70", "a45", "f99", "f85"]  # tools/attack_judge.cc says what they mean
FUSED = " --float-products fused"
SHARE_FUSED = 0.25  # of the models
# Code of several targets in one: each of them is a target of its own here.
SEVERAL = ("x86-64-multi", "aarch64-multi")
LINE = re.compile(r"(\S+) +(.*)")


@dataclasses.dataclass
class Targets:
    every: list  # natively any target computes
    here: list  # code runs on this CPU
    emulated: list


def targets_of(etch):
    """What this program can make, build and run here."""
    done = subprocess.run([etch, "targets"], capture_output=True, text=True, check=True)
    lines = [LINE.fullmatch(line).groups() for line in done.stdout.splitlines()]
    lines = [(name, what) for name, what in lines if name not in SEVERAL and "takes the code of" not in what]
    found = Targets(
        [name for name, _ in lines],
        [name for name, what in lines if "runs on this CPU" in what],
        [name for name, what in lines if ", runs in " in what],
    )
    if not found.here or len(found.every) <= len(found.here):
        raise ValueError(f"`etch targets` lists nothing to attack:\n{done.stdout}")
    return found


def simplest(case):
    """Without vectors, and with the arithmetic of the case's own plans."""
    return "n --target scalar" + (FUSED if FUSED in case.plans[0] else "")


def plans_for(rng, qdq, targets, compiled, emulated):
    """The first one is what the others are compared with. Shares of the models that are compiled, and run in an emulator."""
    pick = lambda values: values[int(rng.integers(len(values)))]
    letter = "c" if rng.random() < compiled else "n"
    plans = [f"{letter} --target {pick(targets.here)}"]
    for _ in range(3):
        plans.append(f"n{pick(BOUNDS)} --target {pick(targets.every)} {pick(OPTIONS)}".rstrip())
    if letter == "c":
        plans.append(f"c{pick(BOUNDS)} --target {pick(targets.here)} {pick(OPTIONS)}".rstrip())
    if rng.random() < emulated:
        if not targets.emulated:
            raise ValueError("no target can be emulated here (tools/setup --cross)")
        plans.append(f"c --target {pick(targets.emulated)} {pick(FOR_EMULATORS)}".rstrip())
    if qdq:
        plans.append(f"n --target {pick(targets.every)} --qdq float")
    return plans
