// Equal, Less, Greater (ai.onnx, since 7), LessOrEqual, GreaterOrEqual (since 12): bool for each
// pair of elements of two tensors of one type, with numpy broadcasting. And, Or, Xor (since 7) of
// two bool tensors, and Not (since 1) of one.
#pragma once

#include "compiler/ir/tensor.h"

namespace etch {

struct Compare {
  enum class Kind { kEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual, kAnd, kOr, kXor, kNot };
  Kind kind = Kind::kEqual;
  Shape shape;  // of the output
};

}  // namespace etch
