// Facts about the armv7-neon target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_armv7_neon{
    .name = "armv7-neon",
    .title = "32-bit Arm with NEON",
    .vocabulary = "armv7_neon",
    .lanes = 4,
    .accumulators = 8,
    .weight_form = WeightForm::kS16EvenOdd,
    .broadcast_is_load = false,
    .sum_lines = true,
    .vectors = {2, 4, 1, 0},
    .alignment = 16,
    .multiply_cycles = 4,
    .broadcast_cycles = 3,
    .epilogue_cycles = 40,
    .vectorized = true,
};

}  // namespace etch::isa
