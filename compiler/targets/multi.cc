// See multi.h.
#include "compiler/targets/multi.h"

#include <algorithm>
#include <array>

#include "generated/cross_traits.h"
#include "generated/isa_traits.h"

namespace etch {
namespace {

constexpr std::array kX86 = {
#define ETCH_ISA(folder) &isa::k_##folder,
#include "templates/isa/isas.def"
#undef ETCH_ISA
};
constexpr std::array kArm = {&isa::k_aarch64_i8mm, &isa::k_aarch64_dotprod, &isa::k_aarch64};

// Not an instruction set; its facts are those of the best variant.
constexpr IsaTraits named(IsaTraits best, std::string_view name, std::string_view title) {
  best.name = name;
  best.title = title;
  return best;
}

constexpr IsaTraits kX86Multi = named(*kX86.front(), kMultiTarget, "x86-64, chosen by CPUID");
constexpr IsaTraits kArmMulti =
    named(*kArm.front(), kArmMultiTarget, "64-bit Arm, chosen when it runs");

constexpr MultiTarget kTargets[] = {
    {&kX86Multi, kX86, "etch_cpu.h",
     "Asks with CPUID, which may\ntake tens of microseconds in a virtual machine: call it once and "
     "keep the answer."},
    {&kArmMulti, kArm, "etch_arm_cpu.h",
     "Asks Linux\n(AT_HWCAP); elsewhere it is what NAME.cc is compiled for. Call it once and keep "
     "the answer."},
};

}  // namespace

std::span<const MultiTarget> multi_targets() { return kTargets; }

const MultiTarget* multi_target(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kTargets, [&](const MultiTarget& each) { return each.isa->name == name; });
  return found == std::end(kTargets) ? nullptr : found;
}

}  // namespace etch
