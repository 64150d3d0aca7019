// How large a network's code is and how much stack it uses, measured: built with the compiler that
// this machine has for the target, without a program around it, and not run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "compiler/host/reporter.h"
#include "compiler/host/stack_use.h"
#include "compiler/program/step.h"

namespace etch::cli {

// Of objects that a compiler left a .ci file beside; frames of assembly are what the steps say.
CallGraph call_graph_of(const Program& program, const std::vector<std::filesystem::path>& objects);

struct Footprint {
  std::int64_t code_bytes = 0;
  // A bound for a call of run(), without interrupts; null where compilers do not tell frames.
  std::optional<std::int64_t> stack_bytes;
};

// Null without a compiler for the target, where it makes no ELF objects, and after an error.
std::optional<Footprint> measure_footprint(const Program& program, Reporter& reporter);

}  // namespace etch::cli
