// Which compiler builds code for a target on this machine, and what runs the result: this CPU, an
// emulator, or nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/cli/reporter.h"
#include "templates/isa/traits.h"

namespace etch::cli {

struct Toolchain {
  std::string compiler;
  std::vector<std::string> flags;       // for compiling and linking
  std::vector<std::string> link_flags;  // after the objects
  std::vector<std::string> runner;      // an emulator and its arguments; empty: this CPU
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

}  // namespace etch::cli
