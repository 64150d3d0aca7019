// QLinearConvAdd (org.etch, 1): QLinearConv and the QLinearAdd of its result and another tensor of
// the same shape and type, in one step. Passes make it; files do not contain it.
//   inputs 0-8 and attributes as of org.etch QLinearConv (qlinear_conv/op.h), y being the summand
//   inputs 9-13: residual, residual_scale, residual_zero_point, sum_scale, sum_zero_point
//   attributes residual_is_a (1: the residual has the role of a in qlinear_binary/op.h, 0: of b),
//              sum_low, sum_high: limits of the sum, integers of its type
// Output: [N, M, out...] like the residual. The convolution's result is rounded and saturated
// before it is added, as it is between two nodes.
#pragma once

#include "compiler/ops/qlinear_binary/op.h"
#include "compiler/ops/qlinear_conv/op.h"

namespace etch {

struct QLinearConvAdd {
  QLinearConvParams conv;
  DType dtype = DType::kU8;          // of both summands and the sum
  ScalarQuantization residual, sum;  // the convolution's is conv.y
  bool residual_is_a = false;
  int low = 0, high = 255;  // limits of the sum
};

}  // namespace etch
