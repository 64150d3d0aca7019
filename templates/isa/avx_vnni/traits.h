// Facts about the avx_vnni target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_avx_vnni{
    .name = "avx_vnni",
    .title = "x86-64 with AVX-VNNI",
    .lanes = 8,
    .accumulators = 12,
    .weight_form = WeightForm::kS8x4,
    .broadcast_is_load = true,
    .vectors = {4, 2, 1, 0},
    .multiply_cycles = 0.5,
    .broadcast_cycles = 0.525,
    .epilogue_cycles = 8.5,
    .vectorized = true,
    .calls_lose_vectors = true,
    .fused_steps = true,
};

}  // namespace etch::isa
