// See toolchain.h. Facts about targets come from compiler/targets/targets.h.
#include "compiler/host/toolchain.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "compiler/base/embedded.h"
#include "compiler/base/text.h"
#include "compiler/host/process.h"
#include "compiler/targets/targets.h"

namespace etch::cli {
namespace {

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

// Whether there is one that was built to load plugins, which its list of options shows.
bool loads_plugins(const Emulator& emulator) {
  const ProcessResult options = run_process({emulator.program, "-h"}, std::chrono::seconds(10));
  return options.output.find("-plugin") != std::string::npos;
}

// What images are compiled with: nothing that would need a library of C++, and what stack_use.h
// reads.
constexpr std::string_view kFirmwareFlags =
    "-ffreestanding -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-unwind-tables "
    "-fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -fcallgraph-info=su";
// machine.ld is one of machine_files().
constexpr std::string_view kFirmwareLinkFlags = "-nostartfiles -Wl,--gc-sections -T machine.ld";
constexpr std::string_view kFirmwareRunFlags =
    "-nographic -monitor none -serial none -semihosting-config";

void add_words(std::vector<std::string>& words, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Where a CPU reads its vectors after reset, on boards on which that is not the start of the ROM:
// the large memories of Cortex-M55's board are elsewhere.
constexpr std::pair<std::string_view, std::uint64_t> kVectors[] = {{"mps3-an547", 0x10000000}};
constexpr int kVectorBytes = 1024;

// The map of the memories, before the text of firmware.ld.
std::string memory_map(const Machine& machine) {
  const auto* const apart = std::ranges::find(kVectors, machine.board,
                                              &std::pair<std::string_view, std::uint64_t>::first);
  const std::string vectors = apart == std::end(kVectors)
                                  ? "REGION_ALIAS(\"VECTORS\", ROM);\n"
                                  : cat("MEMORY {\n  VECTORS (rx) : ORIGIN = ", apart->second,
                                        ", LENGTH = ", kVectorBytes, "\n}\n");
  return cat("MEMORY {\n  ROM (rx) : ORIGIN = ", machine.rom.begin,
             ", LENGTH = ", machine.rom.bytes, "\n  RAM (rwx) : ORIGIN = ", machine.ram.begin,
             ", LENGTH = ", machine.ram.bytes, "\n}\n", vectors,
             "STACK_BYTES = ", machine.stack_bytes, ";\n");
}

TargetStatus status_of_machine(const Machine& machine) {
  TargetStatus status;
  if (!find_program(std::string(machine.compiler)).empty()) status.compiler = machine.compiler;
  if (!find_program(std::string(machine.emulator)).empty()) status.emulator = machine.emulator;
  if (status.compiler.empty()) {
    status.missing =
        cat(machine.compiler, " is needed (", packages_hint(machine.compiler_packages), ")");
  } else if (status.emulator.empty()) {
    status.missing =
        cat(machine.emulator, " is needed (", packages_hint(machine.emulator_package), ")");
  }
  return status;
}

Toolchain toolchain_for(const Machine& machine, const IsaTraits& isa) {
  Toolchain toolchain;
  toolchain.machine = &machine;
  toolchain.compiler = machine.compiler;
  add_words(toolchain.flags, machine.flags);
  for (const std::string& flag : target_flags(isa.name)) toolchain.flags.push_back(flag);
  const bool firmware = machine.kind == Machine::Kind::kFirmware;
  if (firmware) {
    add_words(toolchain.flags, kFirmwareFlags);
    add_words(toolchain.link_flags, kFirmwareLinkFlags);
  }
  add_words(toolchain.link_flags, machine.link_flags);
  toolchain.runner.emplace_back(machine.emulator);
  add_words(toolchain.runner, machine.emulator_arguments);
  if (firmware) add_words(toolchain.runner, kFirmwareRunFlags);
  return toolchain;
}

}  // namespace

std::string missing_compiler() {
  const char* const chosen = std::getenv("CXX");
  const bool is_set = chosen != nullptr && *chosen != '\0';
  return cat("a C++ compiler is needed (",
             is_set ? cat("$CXX is '", chosen, "', which is no program here")
                    : cat("g++, clang++ or $CXX; ", packages_hint("g++")),
             ")");
}

std::string host_compiler() {
  const char* const chosen = std::getenv("CXX");
  if (chosen != nullptr && *chosen != '\0') return find_program(chosen).empty() ? "" : chosen;
  for (const char* name : {"g++", "clang++"}) {
    if (!find_program(name).empty()) return name;
  }
  return {};
}

TargetStatus status_of(const IsaTraits& isa) {
  if (const Machine* machine = machine_of(isa.name)) return status_of_machine(*machine);
  TargetStatus status;
  status.compiler = host_compiler();
  status.cpu_has_it = target_runs_here(isa.name);
  const Emulator* emulator = emulator_of(isa.name);
  if (!status.cpu_has_it && emulator != nullptr && !find_program(emulator->program).empty()) {
    status.emulator = emulator->program;
  }
  if (status.compiler.empty()) {
    status.missing = missing_compiler();
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
  if (const Machine* machine = machine_of(isa.name)) return toolchain_for(*machine, isa);
  Toolchain toolchain{status.compiler, target_flags(isa.name), {}, {}};
  if (!status.cpu_has_it) {
    toolchain.runner = {status.emulator, "-cpu", emulator_of(isa.name)->cpu};
  }
  return toolchain;
}

std::optional<Toolchain> find_counter(const IsaTraits& isa, Reporter& reporter) {
  std::optional<Toolchain> out = find_toolchain(isa, reporter);
  const Emulator* const emulator = emulator_of(isa.name);
  if (!out || emulator == nullptr) return out;
  const bool runs_here = out->runner.empty();
  if (runs_here && !loads_plugins(*emulator)) return out;
  out->runner = {emulator->program, "-cpu", emulator->cpu};
  out->link_flags.emplace_back("-no-pie");
  return out;
}

std::optional<Toolchain> find_builder(const IsaTraits& isa) {
  const TargetStatus status = status_of(isa);
  if (status.compiler.empty()) return std::nullopt;
  if (const Machine* machine = machine_of(isa.name)) return toolchain_for(*machine, isa);
  return Toolchain{status.compiler, target_flags(isa.name), {}, {}};
}

std::vector<OutputFile> machine_files(const Machine& machine) {
  const auto file = [](const char* name, const std::string& before = {}) {
    return OutputFile{name, before + std::string(embedded_file(cat("templates/files/", name)))};
  };
  switch (machine.kind) {
    case Machine::Kind::kLinux:
      return {};
    case Machine::Kind::kWasi:
      return {file("run_wasi.mjs")};
    case Machine::Kind::kFirmware: {
      OutputFile map = file("firmware.ld", memory_map(machine));
      map.path = "machine.ld";
      return {file("semihosting.h"), file("firmware_start.cc"), map};
    }
  }
  return {};
}

std::vector<std::string> command_to_run(const Toolchain& toolchain,
                                        const std::filesystem::path& program,
                                        const std::vector<std::string>& arguments,
                                        const std::string& plugin) {
  std::vector<std::string> command = toolchain.runner;
  if (toolchain.machine != nullptr && toolchain.machine->kind == Machine::Kind::kFirmware) {
    std::string semihosting = "enable=on,target=native,arg=program";
    for (const std::string& argument : arguments) semihosting += cat(",arg=", argument);
    command.push_back(std::move(semihosting));
    if (!plugin.empty()) command.insert(command.end(), {"-plugin", plugin});
    command.insert(command.end(), {"-kernel", program.string()});
    return command;
  }
  if (!plugin.empty()) command.insert(command.end(), {"-plugin", plugin});
  command.push_back(program.string());
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

std::string packages_hint(std::string_view packages) {
  return cat("Debian: apt-get install ", packages);
}

}  // namespace etch::cli
