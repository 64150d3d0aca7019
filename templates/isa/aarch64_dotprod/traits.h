// Facts about the aarch64-dotprod target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_aarch64_dotprod{
    .name = "aarch64-dotprod",
    .title = "64-bit Arm with dot products",
    .vocabulary = "aarch64_dotprod",
    .lanes = 4,
    .accumulators = 20,
    .weight_form = WeightForm::kS8x4,
    .broadcast_is_load = true,
    .lane_products = true,
    .vectors = {4, 2, 1, 0},
    .alignment = 16,
    .moved = 128,
    .multiply_cycles = 1,
    .broadcast_cycles = 1,
    .epilogue_cycles = 14,
    .loads_too_far_ahead = true,
    .vectorized = true,
    .fused_steps = true,
};

}  // namespace etch::isa
