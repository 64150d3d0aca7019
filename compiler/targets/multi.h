// Targets that hold code for several instruction sets of one architecture, of which the program
// chooses one where it runs.
#pragma once

#include <span>
#include <string_view>

#include "compiler/targets/targets.h"

namespace etch {

inline constexpr std::string_view kArmMultiTarget = "aarch64-multi";

struct MultiTarget {
  const IsaTraits* isa;                        // of the best variant, under the target's name
  std::span<const IsaTraits* const> variants;  // best first; the last runs on every such CPU
  const char* cpu_header;  // of runtime/: read_cpu(), and has_FOLDER() of all variants but the last
  const char* asks;        // how the code finds out, for a comment of generated code
};
// Null if the target is none of these.
const MultiTarget* multi_target(std::string_view name);
inline bool is_multi(std::string_view name) { return multi_target(name) != nullptr; }
std::span<const MultiTarget> multi_targets();

}  // namespace etch
