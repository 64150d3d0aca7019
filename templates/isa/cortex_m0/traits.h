// Facts about the cortex-m0 target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_cortex_m0 =
    with_assembly(without_fpu(scalar_code("cortex-m0", "Arm Cortex-M0 (no FPU)")), Assembly::kLow);

}  // namespace etch::isa
