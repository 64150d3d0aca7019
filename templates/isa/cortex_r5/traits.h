// Facts about the cortex-r5 target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

// Every CPU of the R profile has the DSP instructions; in Arm code the assembly would be left out.
inline constexpr IsaTraits k_cortex_r5 =
    asking_for(with_assembly(scalar_code("cortex-r5", "Arm Cortex-R5 with FPU"), Assembly::kDsp),
               "__thumb2__", "__ARM_FP");

}  // namespace etch::isa
