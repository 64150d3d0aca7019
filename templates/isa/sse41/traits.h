// Facts about the sse41 target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_sse41{
    .name = "sse41",
    .title = "x86-64 with SSE4.1",
    .lanes = 4,
    .accumulators = 8,
    .weight_form = WeightForm::kS16EvenOdd,
    .broadcast_is_load = false,
    .sums16 = true,
    .vectors = {2, 4, 1, 0},
    .multiply_cycles = 1.34,
    .broadcast_cycles = 1.0,
    .epilogue_cycles = 14,
    .vectorized = true,
    .calls_lose_vectors = true,
};

}  // namespace etch::isa
