// See targets.h. Supporting another machine takes its folder, its line in cross.def, and here its
// includes.

#include <algorithm>
#include <array>

#include "compiler/base/check.h"
#include "compiler/targets/targets.h"
#include "templates/isa/aarch64/machine.h"
#include "templates/isa/aarch64/traits.h"
#include "templates/isa/aarch64_dotprod/machine.h"
#include "templates/isa/aarch64_dotprod/traits.h"
#include "templates/isa/aarch64_i8mm/machine.h"
#include "templates/isa/aarch64_i8mm/traits.h"
#include "templates/isa/armv7_neon/machine.h"
#include "templates/isa/armv7_neon/traits.h"
#include "templates/isa/cortex_m0/machine.h"
#include "templates/isa/cortex_m0/traits.h"
#include "templates/isa/cortex_m3/machine.h"
#include "templates/isa/cortex_m3/traits.h"
#include "templates/isa/cortex_m33/machine.h"
#include "templates/isa/cortex_m33/traits.h"
#include "templates/isa/cortex_m4/machine.h"
#include "templates/isa/cortex_m4/traits.h"
#include "templates/isa/cortex_m55/machine.h"
#include "templates/isa/cortex_m55/traits.h"
#include "templates/isa/cortex_m7/machine.h"
#include "templates/isa/cortex_m7/traits.h"
#include "templates/isa/riscv32imac/machine.h"
#include "templates/isa/riscv32imac/traits.h"
#include "templates/isa/riscv64/machine.h"
#include "templates/isa/riscv64/traits.h"
#include "templates/isa/riscv64_rvv/machine.h"
#include "templates/isa/riscv64_rvv/traits.h"
#include "templates/isa/s390x/machine.h"
#include "templates/isa/s390x/traits.h"
#include "templates/isa/wasm32_simd128/machine.h"
#include "templates/isa/wasm32_simd128/traits.h"

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
  const auto* found = std::find_if(kCross.begin(), kCross.end(),
                                   [&](const CrossTarget& each) { return each.isa->name == name; });
  return found == kCross.end() ? nullptr : found->machine;
}

}  // namespace etch
