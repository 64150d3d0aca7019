// QLinearWhere (com.microsoft, since 1): z = condition ? requantized(x) : requantized(y) for each
// element, with numpy broadcasting of all three.
//   inputs  condition (bool), X, x_scale, x_zero_point, Y, y_scale, y_zero_point, z_scale,
//           z_zero_point; X, Y and Z of one 8-bit type; scales and zero points constant
// requantized(q) = QuantizeLinear(DequantizeLinear(q)), and q itself where both quantizations are
// equal (docs/spec/qlinear.md section 6.4).
#pragma once

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/scalar_quantization.h"

namespace etch {

struct QLinearWhere {
  DType dtype = DType::kU8;
  ScalarQuantization x, y, z;
  Shape shape;  // of the output
  StridedView condition_view, x_view, y_view;
};

// One element of a tensor quantized as `from`, as the result has it.
std::int32_t requantized(std::int32_t q, const ScalarQuantization& from, const QLinearWhere& where);

}  // namespace etch
