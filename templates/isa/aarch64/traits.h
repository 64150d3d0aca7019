// Facts about the aarch64 target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_aarch64{
    .name = "aarch64",
    .title = "64-bit Arm with NEON",
    .vocabulary = "aarch64",
    .lanes = 4,
    .accumulators = 16,
    .weight_form = WeightForm::kS8x4,
    .broadcast_is_load = false,
    .lane_products = true,
    .weights_in_pairs = true,
    .vectors = {4, 2, 1, 0},
    .alignment = 16,
    .moved = 128,
    .multiply_cycles = 3,
    .broadcast_cycles = 3,
    .epilogue_cycles = 14,
    .loads_too_far_ahead = true,
    .vectorized = true,
    .fused_steps = true,
};

}  // namespace etch::isa
