// Facts about the wasm32-simd128 target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_wasm32_simd128 =
    asking_for(scalar_code("wasm32-simd128", "WebAssembly with SIMD"), "__wasm_simd128__");

}  // namespace etch::isa
