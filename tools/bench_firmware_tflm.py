"""TensorFlow Lite Micro with CMSIS-NN beside Etch, for tools/bench-firmware --tflm: builds images of a checkout that the
user names and counts the executed instructions of one inference, and models their cycles, as `etch bench --cycles` does.

The checkout is one of tflite-micro with the libraries that its own make downloads
(`make -f tensorflow/lite/micro/tools/make/Makefile third_party_downloads OPTIMIZED_KERNEL_DIR=cmsis_nn`): flatbuffers,
gemmlowp, ruy and cmsis_nn below tensorflow/lite/micro/tools/make/downloads. Its sources are compiled here, because its
make wants another compiler and other boards.
"""

import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
ARENA_BYTES = 1 << 20
LIBRARIES = ("flatbuffers", "gemmlowp", "ruy", "cmsis_nn")
# Of the operators that bench_firmware_tflm.cc registers.
KERNELS = ("activations", "add", "concatenation", "conv", "depthwise_conv", "dequantize", "fully_connected", "kernel_util",
           "mul", "pad", "pooling", "quantize", "reduce", "reshape", "softmax", "transpose")
DEFINES = ("-DTF_LITE_STATIC_MEMORY", "-DCMSIS_NN", "-DARM_NN_ENABLE_F16=0", "-DARM_NN_ENABLE_F32=0")
COMMON = ("-ffunction-sections", "-fdata-sections", "-fno-exceptions", "-fno-unwind-tables",
          "-fno-asynchronous-unwind-tables", "-w")
CXX = ("-std=c++17", "-fno-rtti", "-fno-threadsafe-statics", "-O2")
# What CMSIS-NN's own pages recommend.
CMSIS = ("-Ofast",)
# What firmware.ld lacks: static objects have constructors.
CONSTRUCTORS = """SECTIONS { .init_array : {
  __init_array_start = .; KEEP(*(SORT(.init_array.*) .init_array)) __init_array_end = .;
} } INSERT AFTER .text;
"""


class Failed(Exception):
    pass


def call(command, folder=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=folder)
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip().splitlines()
        raise Failed(f"{command[0]}: " + " | ".join(words[:3] + words[-2:]))
    return done.stdout + done.stderr  # QEMU writes what an image prints to the latter


def downloads(checkout):
    return checkout / "tensorflow/lite/micro/tools/make/downloads"


def check(checkout):
    if not (checkout / "tensorflow/lite/micro/micro_interpreter.cc").exists():
        raise Failed(f"{checkout} is no checkout of tflite-micro")
    missing = [name for name in LIBRARIES if not (downloads(checkout) / name).is_dir()]
    if missing:
        raise Failed(f"{downloads(checkout)} lacks {', '.join(missing)}: make -f tensorflow/lite/micro/tools/make/Makefile "
                     "third_party_downloads OPTIMIZED_KERNEL_DIR=cmsis_nn")


def version(checkout):
    done = subprocess.run(["git", "-C", checkout, "log", "-1", "--format=%h of %cs"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "without a version"


def sources(checkout):
    """C++ and C files of the library, the operators' kernels and CMSIS-NN."""
    lite = checkout / "tensorflow/lite"
    found = []
    for folder in ("micro", "micro/arena_allocator", "micro/memory_planner", "micro/tflite_bridge"):
        found += (lite / folder).glob("*.cc")
    for folder in ("core", "kernels", "schema", "c"):
        found += (lite / folder).rglob("*.cc")
    found += (checkout / "tensorflow/compiler").rglob("*.cc")
    for name in KERNELS:
        optimized = lite / "micro/kernels/cmsis_nn" / f"{name}.cc"
        found.append(optimized if optimized.exists() else lite / "micro/kernels" / f"{name}.cc")
        common = lite / "micro/kernels" / f"{name}_common.cc"
        found += [common] if common.exists() else []
    left_out = re.compile(r"_test\.cc$|/test_|/fake_|/mock_|test_helper|/debug_log\.cc$|/system_setup\.cc$")
    cxx = sorted(path for path in set(found) if not left_out.search(str(path)) and "/testing/" not in str(path))
    c = sorted(path for path in (downloads(checkout) / "cmsis_nn/Source").rglob("*.c")
               if not re.search(r"_f(16|32)\.c$|nntables_flt\.c$", path.name))
    return cxx, c


def machine(target):
    """Compiler's flags and emulator's arguments from templates/isa."""
    text = (ROOT / f"templates/isa/{target.replace('-', '_')}/machine.h").read_text()
    field = lambda name: re.search(rf'\.{name} = "([^"]*)"', text)[1].split()
    return field("flags"), field("link_flags"), [*field("emulator"), *field("emulator_arguments")]


def includes(checkout):
    below = downloads(checkout)
    return [f"-I{path}" for path in (checkout, below / "flatbuffers/include", below / "gemmlowp", below / "ruy",
                                     below / "cmsis_nn", below / "cmsis_nn/Include", ROOT / "templates/files")]


def library(checkout, target, folder):
    """The archive of everything but the program, made once for a target and a checkout."""
    flags, _, _ = machine(target)
    archive = folder / "libtflm.a"
    if archive.exists():
        return archive
    cxx, c = sources(checkout)
    jobs = []
    for path in cxx + c:
        name = hashlib.sha256(str(path.relative_to(checkout)).encode()).hexdigest()[:12]
        compiler = ["arm-none-eabi-g++", *CXX] if path.suffix == ".cc" else ["arm-none-eabi-gcc", *CMSIS]
        out = folder / f"{path.stem}_{name}.o"
        jobs.append((out, [*compiler, *flags, *DEFINES, *COMMON, *includes(checkout), "-c", path, "-o", out]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(lambda job: job[0].exists() or call(job[1]), jobs):
            pass
    call(["arm-none-eabi-ar", "rcs", archive, *[out for out, _ in jobs]])
    return archive


def board_files(etch, target, folder):
    """Start-up code and linker script, as `etch check` has them."""
    if not (folder / "machine.ld").exists():
        call([etch, "check", ROOT / "examples/digits/model.onnx", "--target", target, "--keep", folder / "board"])
        (folder / "machine.ld").write_bytes((folder / "board/machine.ld").read_bytes())
        (folder / "constructors.ld").write_text(CONSTRUCTORS)
        flags, _, _ = machine(target)
        call(["arm-none-eabi-g++", *CXX, *flags, "-ffreestanding", *COMMON, f"-I{ROOT / 'templates/files'}", "-c",
              ROOT / "templates/files/firmware_start.cc", "-o", folder / "start.o"])


def image(checkout, target, model, folder):
    flags, link_flags, _ = machine(target)
    program = folder / f"{model.stem}.elf"
    main = folder / f"{model.stem}_main.o"
    call(["arm-none-eabi-g++", *CXX, *flags, *DEFINES, *COMMON, *includes(checkout), f'-DMODEL="{model.resolve()}"',
          f"-DARENA_BYTES={ARENA_BYTES}", "-c", HERE / "bench_firmware_tflm.cc", "-o", main])
    call(["arm-none-eabi-g++", *flags, folder / "start.o", main, folder / "libtflm.a", "-nostartfiles", "-Wl,--gc-sections",
          "-T", "constructors.ld", "-T", "machine.ld", *link_flags, "--specs=nosys.specs", "-Wl,--defsym=end=0", "-o", program.name], folder)
    return program


def plugin(folder):
    out = folder / "count_instructions.so"
    if not out.exists():
        call(["g++", "-std=c++17", "-O2", "-fPIC", "-shared", ROOT / "templates/files/count_instructions.cc", "-o", out])
    return out


def mark_of(program):
    for line in call(["arm-none-eabi-nm", program]).splitlines():
        address, _, name = line.split() if len(line.split()) == 3 else ("", "", "")
        if name == "etch_mark":
            return int(address, 16) & ~1
    raise Failed(f"{program} has no mark")


def count(etch, checkout, target, model, build):
    """Instructions and modelled cycles (None without llvm-mca) of one inference, arena and flash in bytes."""
    checkout, build, model = checkout.resolve(), build.resolve(), model.resolve()
    check(checkout)
    which = hashlib.sha256(f"{checkout} {version(checkout)}".encode()).hexdigest()[:8]
    folder = build / f"{target}-{which}"  # another checkout has another library
    folder.mkdir(parents=True, exist_ok=True)
    library(checkout, target, folder)
    board_files(etch, target, folder)
    program = image(checkout, target, model, folder)
    _, _, emulator = machine(target)
    counts, blocks = folder / "counts.txt", folder / "blocks.txt"
    said = call([*emulator, "-nographic", "-monitor", "none", "-serial", "none", "-semihosting-config",
                 "enable=on,target=native", "-plugin", f"{plugin(folder)},out={counts},mark={mark_of(program)},blocks={blocks}",
                 "-kernel", program])
    numbers = [int(number) for number in counts.read_text().split()]
    if len(numbers) != 3:
        raise Failed(f"{model.name}: the image said: {said.strip()}")
    arena = re.search(r"arena (\d+)", said)
    size = call(["arm-none-eabi-size", program]).splitlines()[1].split()
    return {"instructions": numbers[2] - numbers[1], "cycles": cycles(target, program, blocks, folder),
            "arena": int(arena[1]), "flash": int(size[0]) + int(size[1])}


def cycles(target, program, blocks, folder):
    tool = pathlib.Path(os.environ.get("ETCH_MODEL_CYCLES", ROOT / "build/release/bin/etch_model_cycles"))
    if not tool.exists():
        print(f"bench-firmware: no {tool}, so no cycles of TensorFlow Lite Micro", file=sys.stderr)
        return None
    try:
        pieces = [int(number) for number in call([tool, target, program, blocks, folder]).split()]
    except Failed as error:
        print(f"bench-firmware: {error}", file=sys.stderr)
        return None
    return pieces[2] - pieces[1]
