// QLinearSoftmax (com.microsoft, since 1): softmax of 8-bit values by a table of exponentials.
//   inputs  X, X_scale, x_zero_point (unused), y_scale, y_zero_point
//   opset   (required) the operator set whose Softmax this is: before 13 the axes from `axis`
//   (default
//           1) on count as one; from 13 on only `axis` (default -1)
// Arithmetic (docs/spec/qlinear.md section 6.7), D the elements of a row:
//   b = max(0, fl(ln(fl(FLT_MAX / D))) - 5) / xs
//   t[i] = float(exp((i - 255 + b) * xs)), in double except the quotient and the logarithm in b,
//   which ONNX Runtime rounds to float
//   rows are shifted so that their largest element has index 255; the sum of a row is float, in
//   order y = saturate(rne(t * Y / sum) + yz) of the exact quotient, Y = floor(fl(1 / ys))
// ONNX Runtime computes so since 1.32. Before, it rounded t * Y and the quotient to float, which
// moves a few ties and is infinite where Y > 148 * D and t is the row's largest.
#pragma once

#include <vector>

#include "compiler/ops/scalar_quantization.h"
#include "compiler/ops/softmax/op.h"

namespace etch {

struct QLinearSoftmax {
  DType dtype = DType::kU8;
  SoftmaxRows rows;
  std::vector<float> table;    // t, 256 entries
  float inverse_scale = 1.0F;  // Y
  std::int32_t y_zero_point = 0;
  Shape shape;
};

}  // namespace etch
