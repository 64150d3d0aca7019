// QLinearConcat (com.microsoft, since 1): 8-bit tensors one after the other along `axis`
// (required), each requantized to the output's scale and zero point.
//   inputs  Y_scale, Y_zero_point, then X, X_scale, X_zero_point for each input; one element type
// Arithmetic (docs/spec/qlinear.md section 6.4): y = QuantizeLinear(DequantizeLinear(x)); with
// equal scale and zero point a plain copy.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ops/scalar_quantization.h"

namespace etch {

struct QLinearConcat {
  DType dtype = DType::kU8;
  std::int64_t axis = 0;  // in [0, rank)
  Shape shape;            // of the output
  ScalarQuantization y;
  std::vector<ScalarQuantization> x;  // one per input; data of part i is node input 2 + 3 * i
};

}  // namespace etch
