// Float constants that are kept as float16 or bfloat16, and widened by the kernels that read them
// (runtime/etch_half_weights.h): those whose every element such a number gives back bit for bit
// (docs/decisions/0034-halves-in-flash.md).
#pragma once

#include <optional>

#include "compiler/ir/tensor.h"
#include "templates/isa/traits.h"

namespace etch {

// kF16 or kBF16: the first that holds all elements, floats, with all their bits; those of a NaN
// too. Nothing where neither does.
std::optional<DType> half_type_of(const Tensor& floats);
// The same of a constant that is large enough to be worth it.
std::optional<DType> kept_as_halves(const Tensor& floats);
// Whether a target widens such numbers by an instruction or two for a vector.
bool widens_by_instructions(const IsaTraits& isa, DType type);
// The elements as kU16.
Tensor as_halves(const Tensor& floats, DType type);

}  // namespace etch
