// Facts about the s390x target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_s390x =
    with_fused_steps(scalar_code("s390x", "IBM Z, big-endian (for tests)"));

}  // namespace etch::isa
