// See aliases.h.
#include "compiler/targets/aliases.h"

#include <algorithm>
#include <array>

namespace etch {
namespace {

constexpr std::array kAliases = {
#define ETCH_ALIAS(name, target) TargetAlias{name, target},
#include "templates/isa/aliases.def"
#undef ETCH_ALIAS
};

}  // namespace

std::span<const TargetAlias> target_aliases() { return kAliases; }

std::string_view without_alias(std::string_view name) {
  const auto* const found = std::ranges::find(kAliases, name, &TargetAlias::name);
  return found == kAliases.end() ? name : found->target;
}

}  // namespace etch
