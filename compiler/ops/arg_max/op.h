// ArgMax, ArgMin (ai.onnx, since 1): the position of the largest or smallest element along one
// axis, as int64. Float32, int32, int64 and 8-bit integers.
//   axis               default 0
//   keepdims           1 (default): the axis stays with size 1
//   select_last_index  (since 12) 1: of several equal extremes the last, else the first
// NaN is extreme only where it comes first: nothing compares with it.
#pragma once

#include <cstdint>

#include "compiler/ir/geometry/strided.h"

namespace etch {

struct ArgExtreme {
  enum class Kind { kMax, kMin };
  enum class Tie { kFirst, kLast };
  Kind kind = Kind::kMax;
  Tie tie = Tie::kFirst;
  std::int64_t axis = 0;  // >= 0
  Shape shape;            // of the output
};

}  // namespace etch
