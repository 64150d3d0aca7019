// Which compiler builds code for a target on this machine, and what runs the result: this CPU, an
// emulator, or nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/emit/emit.h"
#include "compiler/host/reporter.h"
#include "templates/isa/machine.h"
#include "templates/isa/traits.h"

namespace etch::cli {

struct Toolchain {
  std::string compiler;
  std::vector<std::string> flags;       // for compiling and linking
  std::vector<std::string> link_flags;  // after the objects
  std::vector<std::string> runner;      // an emulator and its arguments; empty: this CPU
  const Machine* machine = nullptr;     // of a target that is another machine
};

// What can be done here with code for a target.
struct TargetStatus {
  std::string compiler;     // empty: none found
  std::string missing;      // "a CPU that has it is needed"; empty: nothing
  bool cpu_has_it = false;  // this CPU executes the instructions
  std::string emulator;     // found program; empty: none needed, none known or none found
  bool runs_here() const { return !compiler.empty() && (cpu_has_it || !emulator.empty()); }
};

TargetStatus status_of(const IsaTraits& isa);

// Reports E-IO that says what is missing when code for `isa` cannot be built and run here.
std::optional<Toolchain> find_toolchain(const IsaTraits& isa, Reporter& reporter);

// The same to count instructions: in an emulator that knows them, where there is one that loads
// plugins, even if this CPU has them, too. Its programs are at fixed addresses.
std::optional<Toolchain> find_counter(const IsaTraits& isa, Reporter& reporter);

// What builds code for `isa` here, also where nothing runs it; null if there is no compiler.
std::optional<Toolchain> find_builder(const IsaTraits& isa);

// $CXX if it is set, otherwise g++ or clang++; empty if there is none.
std::string host_compiler();

// What to say where host_compiler() is empty.
std::string missing_compiler();

// What programs for the machine are built with and run by, besides the network and its harness:
// start-up, memory map, loader. Sources end in ".cc". To be written into the folder of the program,
// which the toolchain's flags expect as the current one when it runs.
std::vector<OutputFile> machine_files(const Machine& machine);

// The command that runs `program`, an absolute path, with arguments that have no comma in them. If
// `counter` is not empty, it is an option for an emulator: a plugin with its arguments.
std::vector<std::string> command_to_run(const Toolchain& toolchain,
                                        const std::filesystem::path& program,
                                        const std::vector<std::string>& arguments,
                                        const std::string& plugin = {});

// "Debian: apt-get install PACKAGES"
std::string packages_hint(std::string_view packages);

}  // namespace etch::cli
