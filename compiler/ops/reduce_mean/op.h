// ReduceMean, ReduceMax, ReduceMin, ReduceSum, ReduceProd (ai.onnx, since 1): the mean, largest or
// smallest element, the sum or the product over some axes. Float32; ReduceSum and ReduceProd also
// int32 and int64, ReduceMax and ReduceMin besides int8 and uint8.
//   axes                  constant input 1 from opset 18 (ReduceSum: 13) on, an attribute before;
//                         absent or empty: all axes
//   keepdims              1 (default): reduced axes stay with size 1
//   noop_with_empty_axes  (with the input) 1: no axes means that nothing is reduced
// Elements are taken in row-major order; sums and products of floats are 16 partial ones (see
// FloatSum) if the last axis that has more than one element is reduced, else one. The mean is their
// sum divided by their number; a NaN wins as largest or smallest only if it comes first; integers
// wrap, as in ONNX's reference (ONNX Runtime 1.32 limits ReduceProd to the type). Of no elements
// the sum is 0, the product 1, the largest -infinity or the least value of the type, the smallest
// the opposite; the mean is refused.
#pragma once

#include <vector>

#include "compiler/ir/geometry/strided.h"

namespace etch {

struct Reduction {
  enum class Kind { kMean, kMax, kMin, kSum, kProduct };
  Kind kind = Kind::kMean;
  Shape shape;            // of the output
  Shape kept, reduced;    // sizes of the input's axes that stay, and of those that go
  StridedView kept_view;  // input element of (kept axes..., 0)
  StridedView reduced_view;
  std::vector<bool> goes;  // per axis of the input
  bool in_order = false;   // floats are combined in one partial result, else in 16
};

}  // namespace etch
