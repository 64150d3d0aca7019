// See targets.h. Another machine is its folder and its line in cross.def.

#include <algorithm>
#include <array>

#include "compiler/base/check.h"
#include "compiler/targets/multi.h"
#include "compiler/targets/targets.h"
#include "generated/cross_traits.h"

namespace etch {
namespace {

constexpr std::array kCross = {
#define ETCH_CROSS(folder) CrossTarget{&isa::k_##folder, &isa::k_##folder##_machine},
#include "templates/isa/cross.def"
#undef ETCH_CROSS
};

}  // namespace

std::span<const CrossTarget> cross_targets() { return kCross; }

const Machine* machine_of(std::string_view name) {
  if (name == kArmMultiTarget) return machine_of(multi_target(name)->variants.front()->name);
  const auto* found = std::find_if(kCross.begin(), kCross.end(),
                                   [&](const CrossTarget& each) { return each.isa->name == name; });
  return found == kCross.end() ? nullptr : found->machine;
}

}  // namespace etch
