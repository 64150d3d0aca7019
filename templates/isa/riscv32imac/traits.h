// Facts about the riscv32imac target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_riscv32imac = asking_for(
    loading_too_far_ahead(without_fpu(scalar_code("riscv32imac", "32-bit RISC-V (no FPU)"))),
    "__riscv_mul");

}  // namespace etch::isa
