// Facts about the scalar target; see templates/isa/traits.h.
#pragma once

#include "templates/isa/traits.h"

namespace etch::isa {

inline constexpr IsaTraits k_scalar{
    .name = "scalar",
    .title = "portable C++",
    .lanes = 1,
    .accumulators = 8,
    .weight_form = WeightForm::kS8x4,
    .broadcast_is_load = false,
    .vectors = {4, 2, 1, 0},
    .multiply_cycles = 4,
    .broadcast_cycles = 4,
    .epilogue_cycles = 20,
    .vectorized = false,
};

}  // namespace etch::isa
