// Facts about the avx2 target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_avx2{
    .name = "avx2",
    .title = "x86-64 with AVX2 and FMA",
    .lanes = 8,
    .accumulators = 8,
    .weight_form = WeightForm::kS16EvenOdd,
    .broadcast_is_load = false,
    .sums16 = true,
    .widens_weights = true,
    .vectors = {4, 2, 1, 0},
    .multiply_cycles = 1.34,
    .broadcast_cycles = 1.0,
    .epilogue_cycles = 14,
    .vectorized = true,
    .calls_lose_vectors = true,
    .fused_steps = true,
};

}  // namespace etch::isa
