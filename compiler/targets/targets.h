// Every instruction set that code can be generated for: its facts, how to compile for it, and
// whether this machine can run it. Facts come from templates/isa/<isa>/traits.h, compiler flags
// from templates/isa/<isa>/flags.cmake, which generated folders carry too; how to build and emulate
// other machines from templates/isa/<isa>/machine.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "templates/isa/machine.h"
#include "templates/isa/traits.h"

namespace etch {

// The instruction sets of this machine's kind and the portable one, best first: of those that run
// on a machine, the first is the one to take.
std::span<const IsaTraits* const> all_targets();

// Targets that are other machines; "native" never stands for one of them.
struct CrossTarget {
  const IsaTraits* isa;
  const Machine* machine;
};
std::span<const CrossTarget> cross_targets();
const Machine* machine_of(std::string_view name);  // null if it is not one of them

// The folder below templates/isa of the target `name`.
std::string folder_of_target(std::string_view name);

// What generated code for the target `name` is compiled with, one flag per element: "-mavx2",
// "-mfma". An unknown name is a defect of the compiler and aborts.
std::vector<std::string> target_flags(std::string_view name);

// Whether this machine's CPU and operating system can run code for the target `name`.
bool target_runs_here(std::string_view name);

// The target that holds several: code for each of multi_variants(), of which the one to run is
// chosen from CPUID on the machine that runs it.
inline constexpr std::string_view kMultiTarget = "x86-64-multi";
std::span<const IsaTraits* const> multi_variants();  // best first; the last runs on any x86-64

// The target for a --target name ("native" resolved by CPUID), or null.
const IsaTraits* find_target(std::string_view name);

}  // namespace etch
