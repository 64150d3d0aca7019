// Facts about the avx512_vnni target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_avx512_vnni{
    .name = "avx512_vnni",
    .title = "x86-64 with AVX-512 VNNI",
    .lanes = 16,
    .accumulators = 24,
    .weight_form = WeightForm::kS8x4,
    .broadcast_is_load = true,
    .vectors = {4, 3, 2, 1},
    .multiply_cycles = 0.5,
    .broadcast_cycles = 0.525,
    .epilogue_cycles = 8.5,
    .vectorized = true,
    .calls_lose_vectors = true,
    .fused_steps = true,
};

}  // namespace etch::isa
