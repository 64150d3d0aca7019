// The constants of a quantized sum, as its kernel wants them.
#pragma once

#include "compiler/ops/scalar_quantization.h"
#include "compiler/program/view.h"
#include "templates/kernels/rows/sum.h"

namespace etch {

// A quantized tensor and how it is stored.
struct Summand {
  ScalarQuantization quantization;
  int stored = 0;  // stored minus logical: 0, or 128 for int8
};

// Of QLinearAdd in op.h, after the exchange of roles.
SumFactors sum_factors(const Summand& a, const Summand& b, const Summand& y);

}  // namespace etch
