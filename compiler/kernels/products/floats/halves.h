// Which float products read constant weights of 16 bits (compiler/lower/halves.h), and how.
#pragma once

#include <optional>

#include "templates/isa/traits.h"
#include "templates/kernels/products/float_products.h"

namespace etch {

// How weights of `type` are read, or nothing where floats are better: other kernels than those of
// columns, and few positions on targets that take many instructions to widen a weight. With
// `columns` the step needs memory for them, see floats_widened().
std::optional<HalfWeights> choose_halves(const FloatProductPlan& plan, const IsaTraits& isa,
                                         DType type);

// Of a plan whose columns are widened before they are multiplied.
std::int64_t floats_widened(const FloatProductPlan& plan);

}  // namespace etch
