// Facts about the cortex-m4-nofp target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_cortex_m4_nofp =
    asking_for(without_fpu(with_assembly(scalar_code("cortex-m4-nofp", "Arm Cortex-M4 without FPU"),
                                         Assembly::kDsp)),
               "__ARM_FEATURE_DSP");

}  // namespace etch::isa
