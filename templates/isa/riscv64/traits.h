// Facts about the riscv64 target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_riscv64 =
    asking_for(loading_too_far_ahead(with_fused_steps(scalar_code("riscv64", "64-bit RISC-V"))),
               "__riscv_mul", "__riscv_flen");

}  // namespace etch::isa
