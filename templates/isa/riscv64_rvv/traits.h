// Facts about the riscv64-rvv target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_riscv64_rvv =
    asking_for(scalar_code("riscv64-rvv", "64-bit RISC-V with vectors"), "__riscv_vector");

}  // namespace etch::isa
