// Facts about the riscv64-rvv target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/traits.h"

namespace etch::isa {

// Four registers hold the 16 int32 of a vector where registers have 128 bits, so there are four
// accumulators besides the weights. dot4 is four vwmacc.
inline constexpr IsaTraits k_riscv64_rvv{
    .name = "riscv64-rvv",
    .title = "64-bit RISC-V with vectors",
    .vocabulary = "riscv64_rvv",
    .lanes = 16,
    .accumulators = 4,
    .weight_form = WeightForm::kS16EvenOdd,
    .broadcast_is_load = false,
    .vectors = {1, 0},
    .alignment = 64,
    .multiply_cycles = 4,
    .broadcast_cycles = 4,
    .epilogue_cycles = 40,
    .whole_lanes = true,
    .calls_lose_vectors = true,
    .fused_steps = true,
};

}  // namespace etch::isa
