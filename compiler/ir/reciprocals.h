// Scales by which a division is a multiplication: powers of two, as many exporters for
// microcontrollers choose them. x / scale and x * (1 / scale) are then one rounding of the same
// number, whatever x is.
#pragma once

#include <optional>

#include "compiler/ir/tensor.h"

namespace etch {

// Whether it is 2^n; false for 0, negative numbers, infinities and NaN.
bool is_power_of_two(float value);

// 1 / scale of float32 scales that all are powers of two, normal numbers like their reciprocals.
std::optional<Tensor> exact_reciprocals(const Tensor& scale);

}  // namespace etch
