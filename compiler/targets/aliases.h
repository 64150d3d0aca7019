// Names of CPUs that stand for a target: templates/isa/aliases.def.
#pragma once

#include <span>
#include <string_view>

namespace etch {

struct TargetAlias {
  std::string_view name;    // "cortex-m85"
  std::string_view target;  // "cortex-m55"
};

std::span<const TargetAlias> target_aliases();

// The target that `name` stands for, or `name` itself.
std::string_view without_alias(std::string_view name);

}  // namespace etch
