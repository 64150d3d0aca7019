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
    .alignment = 4,
    .multiply_cycles = 4,
    .broadcast_cycles = 4,
    .epilogue_cycles = 20,
    .vectorized = false,
};

// The facts of another target that takes the portable vocabulary.
constexpr IsaTraits scalar_code(std::string_view name, std::string_view title) {
  IsaTraits isa = k_scalar;
  isa.name = name;
  isa.title = title;
  isa.vocabulary = k_scalar.name;
  return isa;
}

constexpr IsaTraits with_assembly(IsaTraits isa, Assembly assembly) {
  isa.assembly = assembly;
  return isa;
}

constexpr IsaTraits starting_two(IsaTraits isa) {
  isa.starts_two = true;
  return isa;
}

constexpr IsaTraits asking_for(IsaTraits isa, std::string_view core_macro,
                               std::string_view float_macro = {}) {
  isa.core_macro = core_macro;
  isa.float_macro = float_macro;
  return isa;
}

constexpr IsaTraits loading_too_far_ahead(IsaTraits isa) {
  isa.loads_too_far_ahead = true;
  return isa;
}

constexpr IsaTraits with_fused_steps(IsaTraits isa) {
  isa.fused_steps = true;
  return isa;
}

constexpr IsaTraits without_fpu(IsaTraits isa) {
  isa.fpu = false;
  isa.float_requantization = false;
  return isa;
}

}  // namespace etch::isa
