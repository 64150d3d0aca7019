// Facts about the cortex-m7 target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_cortex_m7 = asking_for(
    starting_two(with_assembly(with_fused_steps(scalar_code("cortex-m7", "Arm Cortex-M7 with FPU")),
                               Assembly::kDsp)),
    "__ARM_FEATURE_DSP", "__ARM_FP");

}  // namespace etch::isa
