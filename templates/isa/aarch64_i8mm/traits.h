// Facts about the aarch64-i8mm target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_aarch64_i8mm{
    .name = "aarch64-i8mm",
    .title = "64-bit Arm with I8MM",
    .vocabulary = "aarch64_i8mm",
    .lanes = 4,
    .accumulators = 24,
    .weight_form = WeightForm::kS8x4,
    .broadcast_is_load = true,
    .lane_products = true,
    .square_products = true,
    .vectors = {4, 2, 1, 0},
    .alignment = 16,
    .multiply_cycles = 1,
    .broadcast_cycles = 0.6,
    .epilogue_cycles = 14,
    .loads_too_far_ahead = true,
    .vectorized = true,
    .fused_steps = true,
};

}  // namespace etch::isa
