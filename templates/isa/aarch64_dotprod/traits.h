// Facts about the aarch64-dotprod target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_aarch64_dotprod =
    scalar_code("aarch64-dotprod", "64-bit Arm with dot products");

}  // namespace etch::isa
