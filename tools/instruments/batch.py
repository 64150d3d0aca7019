"""Generated code of many models for one target: emitted into one folder, compiled with what an instrument wants, a few
models per file so that the headers are read once, and run by driver.h."""

import concurrent.futures
import pathlib
import re
import shutil

from models import ROOT, run

HERE = pathlib.Path(__file__).resolve().parent
PER_FILE = 12
PLACE_OF_WEIGHTS = 0x30000000  # of --weights binary: far from programs that are not position-independent
MOST_ERRORS = 12


def module_name(model):
    return re.sub(r"\W", "_", model.name)[:40].rstrip("_")


class Model:
    """One generated network, as its header describes it."""

    def __init__(self, name, source, files, header):
        self.name, self.source, self.files = name, source, files
        number = lambda pattern: int(re.search(pattern, header).group(1))
        ports = lambda role: [
            (int(size), dtype) for size, dtype in re.findall(
                rf"k{role}\d+Bytes = (\d+);\ninline constexpr char k{role}\d+DType\[\] = \"(\w+)\"", header)
        ]
        self.inputs, self.outputs = ports("Input"), ports("Output")
        self.arena = number(r"kArenaBytes = (\d+);")
        self.alignment = number(r"kArenaAlignment = (\d+);")
        self.shares = number(r"kShares = (\d+);") if "kShares" in header else 1
        weights = re.search(r"kWeightsBytes = (\d+);", header)
        self.weights_bytes = int(weights.group(1)) if weights else 0

    def element(self, dtype):
        return {"float32": 4, "int32": 4, "int64": 8, "uint16": 2, "int16": 2, "double": 8, "float64": 8}.get(dtype, 1)

    def table(self, place):
        def ports(of):
            rows = [f"{{{size}U, {self.element(dtype)}U, {'true' if dtype == 'float32' else 'false'}}}" for size, dtype in of]
            return f"{len(of)}U, {{{', '.join(rows)}}}"

        name = self.name
        weights = f'"{name}_weights.bin"' if self.weights_bytes else "nullptr"
        return (f'    {{"{name}", {ports(self.inputs)}, {ports(self.outputs)}, {name}::kArenaBytes, '
                f"{name}::kArenaAlignment, run_{name}, {weights}, {place}U, {self.weights_bytes}U}},\n")

    def caller(self):
        name = self.name
        arguments = [f"static_cast<const {name}::Input{i}*>(in[{i}])" for i in range(len(self.inputs))]
        arguments += [f"static_cast<{name}::Output{i}*>(out[{i}])" for i in range(len(self.outputs))]
        arguments += ["arena"] + (["hook()"] if self.shares > 1 else [])
        return (f"static void run_{name}([[maybe_unused]] const void* const* in, [[maybe_unused]] void* const* out, "
                f"void* arena) {{\n  {name}::run({', '.join(arguments)});\n}}\n")


class Batch:
    """`form` are more arguments of `etch compile`."""

    def __init__(self, etch, target, models, folder, form=(), jobs=2):
        self.etch, self.target, self.folder, self.jobs = etch, target, folder, jobs
        self.models, self.refused, self.flags, self.places = [], [], [], {}
        self.code = folder / "code"
        shutil.rmtree(folder, ignore_errors=True)
        self.code.mkdir(parents=True)
        for model in models:
            self._emit(model, list(form))
        self.units = [self.models[i:i + PER_FILE] for i in range(0, len(self.models), PER_FILE)]
        for index, unit in enumerate(self.units):
            # The files with steps first: their pragmas must come before the includes.
            files = sorted((file for model in unit for file in model.files), key=lambda file: "_steps_" not in file)
            (self.code / f"unit_{index}.cc").write_text("".join(f'#include "{file}"\n' for file in files))

    def generate(self, model, out, form):
        """Writes the code to `out`; returns why not, if it is refused."""
        options = (model / "options.txt").read_text().split("\n")[:-1] if (model / "options.txt").exists() else []
        result = run([self.etch, "compile", model / "model.onnx", "-o", out, "--name", module_name(model), "--target",
                      self.target, "--quiet", *form, *options])
        return result.stderr.strip().split("\n")[0] if result.returncode != 0 else ""

    def _emit(self, model, form):
        name = module_name(model)
        out = self.folder / "emitted"
        shutil.rmtree(out, ignore_errors=True)
        refusal = self.generate(model, out, form)
        if refusal:
            self.refused.append((model.name, refusal))
            return
        cmake = (out / "CMakeLists.txt").read_text()
        self.flags = re.search(r"set\(ETCH_ISA_FLAGS(.*)\)", cmake).group(1).split()
        files = []
        for file in sorted(out.rglob("*")):
            if file.suffix not in (".h", ".cc", ".bin"):
                continue
            to = self.code / file.relative_to(out)
            to.parent.mkdir(exist_ok=True)
            if to.exists() and to.read_bytes() != file.read_bytes():
                raise SystemExit(f"instruments-check: {to} is not the same for all models")
            shutil.copy(file, to)
            if file.suffix == ".cc":
                files.append(file.name)
        emitted = Model(name, model, files, (out / f"{name}.h").read_text())
        shutil.rmtree(out)
        self.models.append(emitted)

    def _main(self, placed_at_end):
        place = PLACE_OF_WEIGHTS
        text = "".join(f'#include "{model.name}.h"\n' for model in self.models)
        text += f'#include "{HERE / "driver.h"}"\n'
        if any(model.shares > 1 for model in self.models):
            text += ('#include "etch/etch_thread_pool.h"\n'
                     "static const EtchThreads* hook() {\n  thread_local etch::ThreadPool pool(3);\n"
                     "  return pool.hook();\n}\n")
        text += "".join(model.caller() for model in self.models)
        text += "static const instruments::Network networks[] = {\n"
        for model in self.models:
            pages = -(-model.weights_bytes // 4096) * 4096
            self.places[model.name] = place + (pages - model.weights_bytes if placed_at_end else 0)
            text += model.table(self.places[model.name] if model.weights_bytes else 0)
            place += pages + 0x10000
        return text + ("};\nint main(int argc, char** argv) {\n  return instruments::main(argc, argv, networks, "
                       f"{len(self.models)});\n}}\n")

    def compile_units(self, compiler, flags, tag):
        """Objects of all units, or the first messages of the compiler."""
        to = self.folder / tag
        shutil.rmtree(to, ignore_errors=True)
        to.mkdir()

        def one(index):
            out = to / f"unit_{index}.o"
            result = run([compiler, *self.flags, *flags, "-c", self.code / f"unit_{index}.cc", "-o", out])
            return out, result.stderr if result.returncode != 0 else ""

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            results = list(pool.map(one, range(len(self.units))))
        errors = [line for _, text in results for line in text.split("\n") if ": error" in line or "error:" in line]
        if any(text for _, text in results) and not errors:
            errors = [text for _, text in results if text][:1]
        return [out for out, _ in results], errors

    def build(self, compiler, flags, tag, placed_at_end=False, reuse=False):
        """The program, and errors."""
        if reuse:
            objects, errors = [self.folder / tag / f"unit_{i}.o" for i in range(len(self.units))], []
        else:
            objects, errors = self.compile_units(compiler, ["-std=c++17", *flags], tag)
        if errors:
            return None, errors
        main, program = self.folder / tag / "main.cc", self.folder / tag / "program"
        main.write_text(self._main(placed_at_end))
        places = [f"-Wl,--defsym={model.name}_weights={self.places[model.name]:#x}" for model in self.models
                  if model.weights_bytes]
        if places:
            places.append("-no-pie")
        result = run([compiler, "-std=c++17", "-I", self.code, *flags, main, *objects, "-o", program, "-pthread", *places])
        return program, result.stderr.strip().split("\n")[:MOST_ERRORS] if result.returncode != 0 else []

    def data(self):
        """The folder that the program reads."""
        folder = self.folder / "data"
        if not folder.exists():
            folder.mkdir()
            for model in self.models:
                (folder / model.name).symlink_to(model.source.resolve())
            for file in self.code.glob("*_weights.bin"):
                shutil.copy(file, folder)
        return folder

    def execute(self, program, mode, before=(), environment=None, time_limit=3600):
        """Runs all models; if that fails, each by itself. Returns what failed."""
        command = [*before, program, mode, self.data()]
        result = run(command, env=environment, timeout=time_limit)
        if result.returncode == 0 and result.stdout.split()[-1:] == [str(len(self.models))]:
            return []
        failed = []
        for model in self.models:
            one = run([*command, model.name], env=environment, timeout=time_limit)
            if one.returncode != 0:
                failed.append(f"{model.name}: exit code {one.returncode}: " + telling(one.stderr))
                (program.parent / f"{model.name}.log").write_text(one.stdout + one.stderr)
        return failed or [f"all together: exit code {result.returncode}: {telling(result.stderr)}"]


def telling(text):
    """The line of a program's messages that says what is wrong."""
    lines = [line for line in text.split("\n") if line.strip()]
    for line in lines:
        if re.search(r"runtime error|SUMMARY|ERROR|WARNING: |Invalid|uninitialised|wrong|forbidden|trap", line):
            return line.strip()
    return lines[-1].strip() if lines else "no message"
