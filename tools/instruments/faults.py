"""Shows that the instruments detect faults: networks written by hand, each with one fault, and which must complain
about it. The one without a fault must pass all of them."""

import pathlib
import shutil

import static_checks
from batch import Batch

# name: (the body of run(), the code before it, the instruments that must detect it)
FAULTS = {
    "healthy": ("for (int i = 0; i < 16; ++i) y[i] = x[i];", "", []),
    "wrong_value": ("for (int i = 0; i < 16; ++i) y[i] = i == 7 ? 0 : x[i];", "",
                    ["pages-g++", "asan-ubsan-clang", "valgrind", "tsan-g++"]),
    "reads_behind": ("for (int i = 0; i < 16; ++i) y[i] = x[i];\n  read(x + 16);", "", ["pages-g++", "asan-ubsan-clang", "valgrind"]),
    "reads_before": ("for (int i = 0; i < 16; ++i) y[i] = x[i];\n  read(x - 1);", "", ["pages-g++", "asan-ubsan-clang", "valgrind"]),
    "writes_behind": ("for (int i = 0; i < 16; ++i) y[i] = x[i];\n  static_cast<uint8_t*>(arena)[64] = 1;", "",
                      ["pages-g++", "asan-ubsan-clang", "valgrind"]),
    "writes_input": ("for (int i = 0; i < 16; ++i) y[i] = x[i];\n  const_cast<volatile uint8_t*>(x)[3] = 6;", "", ["pages-g++"]),
    "trusts_arena": ("for (int i = 0; i < 16; ++i) y[i] = x[i] ^ (static_cast<uint8_t*>(arena)[i] & 4);", "", ["pages-g++"]),
    "trusts_alignment": ("for (int i = 0; i < 16; ++i) y[i] = x[i];", "", ["pages-g++"]),
    "trusts_stack": ("uint8_t unset[16];\n  for (int i = 0; i < 16; ++i) y[i] = x[i];\n"
                     "  if (hidden(unset)[5] == 77) y[0] = x[0];", "", ["msan-clang", "valgrind"]),
    "has_state": ("for (int i = 0; i < 16; ++i) y[i] = x[i];\n  *hidden(&g_calls) = x[0];", "uint8_t g_calls;",
                  ["tsan-g++", "static-g++"]),
    "overflows": ("const int large = 2147483647 - x[0] + x[1];\n  for (int i = 0; i < 16; ++i) y[i] = x[i];\n"
                  "  y[1] = *hidden(&large) == 3 ? y[2] : x[1];", "", ["asan-ubsan-clang", "ubsan-g++"]),
    "depends_on_char": ("for (int i = 0; i < 16; ++i) y[i] = static_cast<char>(x[2] | 128) < 0 ? x[i] : 0;", "", ["O3-native"]),
    "allocates": ("uint8_t* const all = static_cast<uint8_t*>(hidden(__builtin_malloc(16)));\n"
                  "  for (int i = 0; i < 16; ++i) all[i] = x[i];\n  for (int i = 0; i < 16; ++i) y[i] = all[i];\n"
                  "  __builtin_free(all);", "", ["static-g++"]),
    "recurses": ("deeper(x, y, x[0]);\n  for (int i = 0; i < 16; ++i) y[i] = x[i];",
                 "__attribute__((noinline)) static void deeper(const uint8_t* x, uint8_t* y, int n) {\n"
                 "  if (n > 0) deeper(x, y, *hidden(&n) / 2 - 1);\n  *hidden(y) = x[0];\n}", ["static-g++"]),
    "grows_stack": ("void* const some = hidden(__builtin_alloca(x[0] + 1u));\n  *static_cast<uint8_t*>(some) = 1;\n"
                    "  for (int i = 0; i < 16; ++i) y[i] = x[i];", "", ["static-g++"]),
}

# What code for Cortex-M may need of libraries, and what not.
ARITHMETIC = ("__aeabi_fadd __aeabi_frsub __aeabi_dcmpun __aeabi_cfrcmple __aeabi_d2f __aeabi_f2iz __aeabi_d2ulz __aeabi_ui2f "
              "__aeabi_l2d __aeabi_idiv __aeabi_uidivmod __aeabi_ldivmod __aeabi_lmul __aeabi_lasr __aeabi_ulcmp __mulsf3 "
              "__ltsf2 __clzsi2 __muldi3 __fixunssfsi __floatundisf __truncdfsf2").split()
OTHERS = ("__aeabi_atexit __aeabi_read_tp __aeabi_unwind_cpp_pr0 __aeabi_vec_ctor_nocookie_nodtor __aeabi_errno_addr "
          "__aeabi_assert __aeabi_memclr __cxa_guard_acquire malloc sqrtf mulsf3").split()

HEADER = """#pragma once
#include <stddef.h>
#include <stdint.h>
namespace {name} {{
using Input0 = uint8_t;
inline constexpr size_t kInput0Bytes = 16;
inline constexpr char kInput0DType[] = "uint8";
using Output0 = uint8_t;
inline constexpr size_t kOutput0Bytes = 16;
inline constexpr char kOutput0DType[] = "uint8";
inline constexpr size_t kArenaBytes = 64;
inline constexpr size_t kArenaAlignment = 64;
void run(const uint8_t* x, uint8_t* y, void* arena) noexcept;
}}
extern "C" void {name}_run(const uint8_t* x, uint8_t* y, void* arena) noexcept;
"""

SOURCE = """#include "{name}.h"
namespace {name} {{
template <class T>
static inline T* hidden(T* p) {{  // of which a compiler knows nothing
  __asm__ volatile("" : "+r"(p) : : "memory");
  return p;
}}
[[maybe_unused]] static void read(const volatile uint8_t* p) {{ static_cast<void>(*p); }}
{before}
void run(const uint8_t* x, uint8_t* y, [[maybe_unused]] void* arena) noexcept {{
  {check}{body}
}}
}}
extern "C" void {name}_run(const uint8_t* x, uint8_t* y, void* arena) noexcept {{ {name}::run(x, y, arena); }}
"""
CHECK = "if (reinterpret_cast<uintptr_t>(arena) % kArenaAlignment != 0) __builtin_trap();\n  "


class Faulty(Batch):
    def generate(self, model, out, form):
        name = model.name
        body, before, _ = FAULTS[name]
        out.mkdir(parents=True)
        check = "" if name == "trusts_alignment" else CHECK
        (out / f"{name}.h").write_text(HEADER.format(name=name))
        (out / f"{name}.cc").write_text(SOURCE.format(name=name, body=body, before=before, check=check))
        (out / "CMakeLists.txt").write_text("set(ETCH_ISA_FLAGS)\n")
        return ""


def self_test(check, table, work):
    """How often an instrument did not see what it must, or saw what is not there."""
    misjudged = [name for name in ARITHMETIC if not static_checks.ARITHMETIC.match(name)]
    misjudged += [name for name in OTHERS if static_checks.ARITHMETIC.match(name)]
    if misjudged:
        print(f"arithmetic or not is misjudged: {', '.join(misjudged)}")
    data = work / "faults"
    shutil.rmtree(data, ignore_errors=True)
    folders = []
    for name in FAULTS:
        folder = data / name
        folder.mkdir(parents=True)
        for role in ("input", "output"):
            (folder / f"{role}_0.bin").write_bytes(bytes(range(3, 19)))
        folders.append(folder)
    batch = Faulty("", "scalar", folders, work / "faults-batch", jobs=check.arguments.jobs)
    wrong = len(misjudged)
    seen = {}
    for instrument in table:
        expected = {name for name, (_, _, names) in FAULTS.items() if instrument.name in names}
        if not expected:
            continue
        if instrument.mode == "static":
            complaints, _ = check.static(batch, instrument)
        else:
            complaints = check.execute(batch, instrument)
        found = {name for name in FAULTS for line in complaints if name in line}
        if "malloc is needed" in complaints:
            found.add("allocates")
        seen[instrument.name] = len(expected & found)
        for name in sorted(expected - found):
            wrong += 1
            print(f"{instrument.name} does not see {name}")
        if "healthy" in found:
            wrong += 1
            print(f"{instrument.name} complains about what is healthy: {complaints}")
    print(f"self-test: {len(FAULTS) - 1} faults; seen by: " + ", ".join(f"{name} {count}" for name, count in seen.items()))
    return wrong
