// How large a network's code is and how much stack it uses, measured: built with the compiler that
// this machine has for the target, without a program around it, and not run.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/host/reporter.h"
#include "compiler/program/step.h"

namespace etch::cli {

struct Footprint {
  std::int64_t code_bytes = 0;
  // A bound for a call of run(), without interrupts; null where compilers do not tell frames.
  std::optional<std::int64_t> stack_bytes;
};

// Null without a compiler for the target, where it makes no ELF objects, and after an error.
std::optional<Footprint> measure_footprint(const Program& program, Reporter& reporter);

}  // namespace etch::cli
