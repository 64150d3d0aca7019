// QLinearSigmoid, QLinearLeakyRelu (com.microsoft, since 1): y =
// QuantizeLinear(f(DequantizeLinear(x))) for each 8-bit element (docs/spec/qlinear.md section 6.1),
// f as in compiler/ops/activation.
//   inputs  X, X_scale, X_zero_point, Y_scale, Y_zero_point; LeakyRelu: attribute alpha, default
//   0.01
#pragma once

#include "compiler/ops/activation/op.h"
#include "compiler/ops/scalar_quantization.h"

namespace etch {

struct QLinearActivation {
  DType dtype = DType::kU8;
  Activation function;
  ScalarQuantization x, y;
};

}  // namespace etch
