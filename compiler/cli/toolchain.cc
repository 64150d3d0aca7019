// See toolchain.h. Facts about targets come from compiler/schedule/targets.h.
#include "compiler/cli/toolchain.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "compiler/base/text.h"
#include "compiler/cli/process.h"
#include "compiler/schedule/targets.h"

namespace etch::cli {
namespace {

// $CXX if it is set, otherwise g++ or clang++; empty if there is none.
std::string host_compiler() {
  const char* const chosen = std::getenv("CXX");
  if (chosen != nullptr && *chosen != '\0') return find_program(chosen).empty() ? "" : chosen;
  for (const char* name : {"g++", "clang++"}) {
    if (!find_program(name).empty()) return name;
  }
  return {};
}

// What runs a target's programs where the CPU does not have its instructions. qemu-user 7.2 has no
// AVX-512 under any -cpu.
struct Emulator {
  std::string_view target;
  const char* program;
  const char* cpu;
};
constexpr std::array<Emulator, 3> kEmulators = {{{"avx2", "qemu-x86_64", "Haswell"},
                                                 {"scalar", "qemu-x86_64", "max"},
                                                 {"sse41", "qemu-x86_64", "Nehalem"}}};

const Emulator* emulator_of(std::string_view target) {
  const auto* found = std::find_if(kEmulators.begin(), kEmulators.end(),
                                   [&](const Emulator& one) { return one.target == target; });
  return found == kEmulators.end() ? nullptr : found;
}

}  // namespace

TargetStatus status_of(const IsaTraits& isa) {
  TargetStatus status;
  status.compiler = host_compiler();
  status.cpu_has_it = target_runs_here(isa.name);
  const Emulator* emulator = emulator_of(isa.name);
  if (!status.cpu_has_it && emulator != nullptr && !find_program(emulator->program).empty()) {
    status.emulator = emulator->program;
  }
  if (status.compiler.empty()) {
    status.missing = "a C++ compiler is needed (g++, clang++ or $CXX)";
  } else if (!status.runs_here()) {
    status.missing = emulator == nullptr
                         ? "a CPU that has it is needed"
                         : cat("a CPU that has it or ", emulator->program, " is needed");
  }
  return status;
}

std::optional<Toolchain> find_toolchain(const IsaTraits& isa, Reporter& reporter) {
  const TargetStatus status = status_of(isa);
  if (!status.runs_here()) {
    reporter.io_error(cat("target ", isa.name), status.missing);
    return std::nullopt;
  }
  Toolchain toolchain{status.compiler, target_flags(isa.name), {}, {}};
  if (!status.cpu_has_it) {
    toolchain.runner = {status.emulator, "-cpu", emulator_of(isa.name)->cpu};
  }
  return toolchain;
}

}  // namespace etch::cli
