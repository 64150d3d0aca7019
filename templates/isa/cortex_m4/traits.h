// Facts about the cortex-m4 target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_cortex_m4 =
    asking_for(with_assembly(with_fused_steps(scalar_code("cortex-m4", "Arm Cortex-M4 with FPU")),
                             Assembly::kDsp),
               "__ARM_FEATURE_DSP", "__ARM_FP");

}  // namespace etch::isa
