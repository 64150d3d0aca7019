// Facts about the armv7-neon target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_armv7_neon =
    asking_for(scalar_code("armv7-neon", "32-bit Arm with NEON"), "__ARM_NEON");

}  // namespace etch::isa
