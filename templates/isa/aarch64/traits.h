// Facts about the aarch64 target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_aarch64 = scalar_code("aarch64", "64-bit Arm with NEON");

}  // namespace etch::isa
