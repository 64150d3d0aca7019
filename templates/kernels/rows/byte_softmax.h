// QLinearSoftmax's rows of bytes, which the runtime computes by a table of exponentials
// (docs/spec/qlinear.md section 6.7).
#pragma once

#include <cstdint>

#include "templates/external/byte_softmax.h"
#include "templates/stage.h"

namespace etch {

// Table of 256 floats in "table"; y_inverse = floor(1 / y_scale).
struct ByteSoftmaxPlan {
  int rows = 1, n = 1;
  float y_inverse = 256;
  int y_zero_point = 0;  // logical
  int y_stored = 0;      // 128 when an int8 is stored as uint8
};

template <class S>
void byte_softmax_kernel(S& s, const ByteSoftmaxPlan& plan) {
  s.call(external::SoftmaxBytes{}, s.template operand<const std::uint8_t>(0),
         s.template operand<std::uint8_t>(1), s.template constant<const float>("table"), plan.rows,
         plan.n, plan.y_inverse, plan.y_zero_point, plan.y_stored);
}

}  // namespace etch
