#!/usr/bin/env python3
"""Runs every command that README.md, CONTRIBUTING.md, SECURITY.md and the pages of docs/ and examples/ show, page by page, in
an empty folder for each, as a reader would who is in a clone and follows the page from its top.

  tests/pages/run build/release/bin/etch               all pages
  tests/pages/run build/release/bin/etch docs/cli.md   this one
  tests/pages/run build/release/bin/etch --shard 1/4   the first of four parts, as ctest runs them, page after page

plan.py says which files a page takes for granted, and which commands cannot run here and why; what is not named there runs
and has to succeed, and has to print what the page shows under it. `etch` is the Python package's command around the program.
Exit codes: 0, 1 a page is wrong, 77 programs are missing."""

import argparse
import concurrent.futures
import contextlib
import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import blocks
import fixtures
import plan

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NEEDED = ("bash", "g++", "cmake", "ninja", "ctest", "arm-none-eabi-g++", "qemu-system-arm")
SECONDS = 240  # of one command


def pages():
    listed = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    for folder in ("docs", "examples"):
        listed += sorted((ROOT / folder).rglob("*.md"))
    return [str(page.relative_to(ROOT)) for page in listed]


def program(path, *lines):
    path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n")
    path.chmod(0o755)


def lay_out(folder, name):
    """A folder that looks like the root of a clone, with the files that the page takes for granted."""
    (folder / ".bin").mkdir()
    program(folder / ".bin/etch", f'PYTHONPATH="{ROOT}/python" exec "{sys.executable}" -m etch_onnx.cli "$@"')
    (folder / ".bin/python").symlink_to(sys.executable)
    shutil.copytree(ROOT / "examples", folder / "examples")  # their scripts build in the folder that they are in
    (folder / "tools").mkdir()
    for tool in (ROOT / "tools").iterdir():
        if tool.is_file() and os.access(tool, os.X_OK):
            program(folder / "tools" / tool.name, f'exec "{tool}" "$@"')
    for fixture in plan.FIXTURES.get(name, ()):
        fixture(folder)


def run(command, folder):
    """Exit code, None after too long a time, and everything printed."""
    environment = {**os.environ, "PATH": f"{folder}/.bin:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1",
                   "PYTHONPATH": str(ROOT / "python"), "NO_COLOR": "1", "COLUMNS": "120",
                   "ETCH": str(ROOT)}  # fmt: skip
    if command.kind == "python":
        words = [sys.executable, "-c", plan.PYTHON_BEFORE + command.text]
    else:
        words = ["bash", "--noprofile", "--norc", "-eu", "-o", "pipefail", "-c", command.text]
    with subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, start_new_session=True) as running:  # fmt: skip
        try:
            printed, _ = running.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)  # with the emulators and compilers that it started
            printed, _ = running.communicate()
            return None, printed
    return running.returncode, printed


def fault(command, folder, code):
    """What is wrong with a command, in words; empty if nothing is."""
    status, printed = run(command, folder)
    if status is None:
        return f"takes more than {SECONDS} s\n{printed}"
    if status != code:
        return f"exit code {status}, not {code}\n{printed}"
    line = blocks.not_shown(command, printed)
    return f"did not print: {line}\n{printed}" if line is not None else ""


def words_of(command):
    """Without the comment at its end, spaces as one: how plan.py names a command."""
    first = command.text if command.kind == "console" else command.text.splitlines()[0]
    return " ".join(first.split(" #")[0].split())


def check(name):
    """Lines about the faults of a page, and how many commands ran and were left out."""
    try:
        commands = blocks.commands((ROOT / name).read_text())
    except blocks.Fault as wrong:
        return [f"{name}: {wrong}"], 0, 0
    reasons, codes, more = (table.get(name, {}) for table in (plan.NOT_RUN, plan.EXIT_CODES, plan.MORE_WORDS))
    faults, seen, left = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        if any(words_of(command) not in reasons for command in commands):
            try:
                lay_out(pathlib.Path(folder), name)
            except fixtures.Missing as file:
                print(f"{name}: skipped, no {file}", flush=True)
                return [], 0, len(commands)
        for command in commands:
            words = words_of(command)
            seen.append(words)
            if words in reasons:
                left += 1
                continue
            longer = dataclasses.replace(command, text=f"{words} {more[words]}") if words in more else command
            wrong = fault(longer, pathlib.Path(folder), codes.get(words, 0))
            if wrong:
                faults.append(f"{name}:{command.line}: {words}: {wrong}")
    faults += [f"{name}: no command {words!r}, of which plan.py knows" for words in {*reasons, *codes, *more} - set(seen)]
    faults += [f"{name}: {words}: {stale}" for words in reasons if (stale := reasons[words].fault(ROOT))]
    return faults, len(seen) - left, left


def timed(name):
    begin = time.monotonic()
    return name, *check(name), time.monotonic() - begin


def shard(text):
    """"1/4" -> every fourth, from the first on."""
    index, count = map(int, text.split("/"))
    if not 1 <= index <= count:
        raise ValueError
    return slice(index - 1, None, count)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="PAGE", nargs="*", help="default: all")
    parser.add_argument("--shard", type=shard, metavar="I/N", help="a part of the pages")
    return parser.parse_args()


def commands_to_run():
    """How many each page has."""
    found = {}
    for name in pages():
        with contextlib.suppress(blocks.Fault):  # check() tells
            found[name] = sum(words_of(each) not in plan.NOT_RUN.get(name, {})
                              for each in blocks.commands((ROOT / name).read_text()))  # fmt: skip
    return found


def chosen(options, to_run):
    """Those with most commands are in different parts."""
    if options.shard is None:
        return options.names or pages()
    by_length = sorted(pages(), key=lambda name: -to_run.get(name, 0))
    return by_length[options.shard]


def main(options):
    missing = [each for each in NEEDED if shutil.which(each) is None]
    if missing:
        print("skipped: no", ", ".join(missing))
        return 77
    named = [*options.names, *plan.FIXTURES, *plan.NOT_RUN, *plan.MORE_WORDS, *plan.EXIT_CODES]
    wrong = [name for name in named if name not in pages()]
    if wrong:
        print("no page:", ", ".join(wrong))
        return 1
    to_run = commands_to_run()
    if sum(to_run.values()) < plan.LEAST_COMMANDS:
        print(f"{sum(to_run.values())} commands of all pages would run, fewer than {plan.LEAST_COMMANDS}")
        return 1
    total = left = failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(1 if options.shard else 2) as pool:
        fixtures.make(pathlib.Path(folder))
        for name, faults, ran, without, seconds in pool.map(timed, chosen(options, to_run)):
            total, left, failed = total + ran, left + without, failed + bool(faults)
            if ran or without or faults:
                print(f"{name:34} {ran:3} commands, {without:2} left out {seconds:6.1f} s", *faults, sep="\n  ", flush=True)
    print(f"{total} commands ran, {left} are left out with a reason, {failed} pages are wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(arguments()))
