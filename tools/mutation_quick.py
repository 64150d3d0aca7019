"""tools/mutation-run --quick: builds a mutant in seconds. The changed source is compiled by itself, even where the build
compiles a folder as one, and so are the files that have the named tests; both are linked before the libraries, of whose
functions a linker then takes none.

What another function of the same unit has inlined stays as it is, as do the calls within a unit, which the assembler has
bound already, and of many sources that include a changed header only tests are compiled: so only a kill is a result, and
what survives is tried again with the whole unit."""

import fnmatch
import functools
import json
import pathlib
import re
import shutil
import subprocess
import threading

BUILD = "build/release"
EMBEDDED = "generated/embedded_files.cc"  # the texts that generated code is delivered with
MOST_SOURCES = 10
MOST_TESTS = 4
FOLDERS = ("compiler", "runtime", "templates", "tests")
LOCK = threading.Lock()


@functools.cache
def texts(root: pathlib.Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): path.read_text() for folder in FOLDERS
            for path in (root / folder).rglob("*") if path.suffix in (".h", ".cc")}


def includers(root: pathlib.Path, header: str) -> list[str]:
    """The sources that include a header, directly or by other headers."""
    found, new = {header}, [header]
    while new:
        names = {f'"{name}"' for header in new for name in (header, pathlib.Path(header).name)}
        pattern = re.compile("#include (" + "|".join(map(re.escape, names)) + ")")
        new = [name for name, text in texts(root).items() if name not in found and pattern.search(text)]
        found.update(new)
    return sorted(name for name in found if name.endswith(".cc"))


def test_sources(root: pathlib.Path, filter_: str) -> list[str]:
    """The files that have tests of a filter, whose parameters and instances are not looked at."""
    wanted = [re.sub(r"^[^./*]*/|(?<=[^*])/[^.]*$", "", part) for part in filter_.split(":")]
    found = []
    for name, text in sorted(texts(root).items()):
        if name.endswith("_test.cc"):
            tests = [".".join(words) for words in re.findall(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)", text, re.M)]
            if any(fnmatch.fnmatch(test, pattern) for test in tests for pattern in wanted):
                found.append(name)
    return found


def target_of(source: str) -> str:
    if source.startswith("tests/"):
        area = source.split("/")[1]
        return "etch_test_support" if area == "support" else f"etch_{area}_tests"
    if source.endswith("_test.cc"):
        return "etch_unit_tests"
    parts_of_cli = r"compiler/((host|golden|tune|prove|cli)/.*|main\.cc)"
    return "etch_cli" if re.fullmatch(parts_of_cli, source) else "etch_core"


def compile_command(root: pathlib.Path, source: str, output: pathlib.Path) -> str:
    """Of the source itself or, where it is a part of a larger unit, of any source of its target."""
    database = json.loads((root / BUILD / "compile_commands.json").read_text())
    path = root / BUILD / source if source == EMBEDDED else root / source
    entry = next((e for e in database if e["file"] == str(path)), None) or next(
        e for e in database if f" -o CMakeFiles/{target_of(source)}.dir/" in e["command"] and not e["file"].endswith(".hxx.cxx"))
    return f"cd {root / BUILD} && " + re.sub(r" -o \S+ -c \S+$", f" -o {output} -c {path}", entry["command"])


def last_command(root: pathlib.Path, target: str) -> str:
    """What the build does to make a target of what is there."""
    commands = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "-s", target], cwd=root, check=True, capture_output=True,
                              text=True).stdout.strip().splitlines()
    return f"cd {root / BUILD} && {commands[-1]}"


def link_command(root: pathlib.Path, program: str, objects: list[str], output: pathlib.Path | None = None) -> str:
    """How the build links the program, with `objects` before all else: of equal names the first counts. With `output`
    without the program's own objects, to another file."""
    command = last_command(root, f"bin/{program}")
    if output:
        command = re.sub(rf"CMakeFiles/{program}\.dir/\S+\.o", "", command).replace(f"-o bin/{program}", f"-o {output}")
    first = f" -Wl,-z,muldefs {'-fuse-ld=lld ' if shutil.which('ld.lld') else ''}{' '.join(objects)} "
    return re.sub(r"(?<=g[+][+]) ", first, command, count=1)


def test_objects(root: pathlib.Path, sources: list[str], folder: pathlib.Path) -> list[str]:
    """Objects of files with tests, compiled once for all mutants."""
    folder.mkdir(exist_ok=True)
    objects = []
    for source in sources:
        objects.append(str(folder / (source.replace("/", "_") + ".o")))
        with LOCK:
            if not pathlib.Path(objects[-1]).exists():
                subprocess.run(["sh", "-c", compile_command(root, source, pathlib.Path(objects[-1]))], check=True)
    return objects


def unit_of(root: pathlib.Path, source: str) -> str:
    """The file that includes a source in a unity build, or the source."""
    units = (root / BUILD / "CMakeFiles").glob("*/Unity/*.cxx")
    return next((str(unit) for unit in units if f'/{source}"' in unit.read_text()), source)


def script(root: pathlib.Path, file: str, compiles: str, tests: list[str], folder: pathlib.Path, whole: bool = False) -> str:
    """Shell commands that build the program `folder`/tests, and etch, with the changed `file`; with `whole` from its unit."""
    sources = compiles.split() or ([file] if file.endswith(".cc") else includers(root, file))
    if len(sources) > MOST_SOURCES:
        sources = [source for source in sources if source in tests]
    if whole:
        sources = sorted({source if source in tests else unit_of(root, source) for source in sources})
    lines = []
    if not compiles and file.startswith(("runtime/", "templates/isa/", "templates/files/")):
        sources.append(EMBEDDED)
        lines.append(f"({last_command(root, EMBEDDED)})")
    objects = [str(folder / f"{number}.o") for number in range(len(sources))]
    lines += [f"({compile_command(root, source, pathlib.Path(name))})" for source, name in zip(sources, objects)]
    of_tests = test_objects(root, [test for test in tests if test not in sources], folder.parent / "quick")
    of_program = [name for source, name in zip(sources, objects) if not re.search(r"_test\.cc$|_tests\.dir/", source)]
    lines.append(f"({link_command(root, 'etch', of_program)})")
    lines.append(f"({link_command(root, 'etch_unit_tests', objects + of_tests, folder / 'tests')})")
    return "\n".join(lines) + "\n"
