// Facts about the aarch64-i8mm target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_aarch64_i8mm = scalar_code("aarch64-i8mm", "64-bit Arm with I8MM");

}  // namespace etch::isa
