// Facts about the cortex-m3 target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_cortex_m3 = asking_for(
    with_assembly(without_fpu(scalar_code("cortex-m3", "Arm Cortex-M3 (no FPU)")), Assembly::kMla),
    "__thumb2__");

}  // namespace etch::isa
