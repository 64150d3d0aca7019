// Facts about the cortex-m55 target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/scalar/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_cortex_m55 = asking_for(
    with_assembly(with_fused_steps(scalar_code("cortex-m55", "Arm Cortex-M55 with Helium")),
                  Assembly::kMve),
    "__ARM_FEATURE_MVE", "__ARM_FP");

}  // namespace etch::isa
