// Facts about the armv7-neon target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_armv7_neon = scalar_code("armv7-neon", "32-bit Arm with NEON");

}  // namespace etch::isa
