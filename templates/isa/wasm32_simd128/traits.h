// Facts about the wasm32-simd128 target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_wasm32_simd128{
    .name = "wasm32-simd128",
    .title = "WebAssembly with SIMD",
    .vocabulary = "wasm32_simd128",
    .lanes = 4,
    .accumulators = 8,
    .weight_form = WeightForm::kS16EvenOdd,
    .broadcast_is_load = false,
    .vectors = {2, 4, 1, 0},
    .alignment = 16,
    .multiply_cycles = 1.34,
    .broadcast_cycles = 1.0,
    .epilogue_cycles = 22,
    .vectorized = true,
};

}  // namespace etch::isa
