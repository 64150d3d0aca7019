// ScatterRows (org.etch): rows of a matrix replaced by, or combined with, others. What ScatterND
// and ScatterElements become (passes/compositions/scatter.cc).
//   data       float32, int32 or int64 [rows, width]; with reduction none also integers of 8 and 16
//              bits, bool, and float16 and bfloat16 that are only moved (passes/half_moves.h)
//   indices    int64 [n]: row numbers, below 0 from the end; those outside are limited to the rows
//   updates    data's type [n, width]
//   reduction  none (default): row indices[i] becomes row i of the updates; add, mul, max, min: is
//              combined with it. i from 0 on, each step rounded; of several for one row the later
//              is combined with the result of the earlier. Integers wrap; max and min keep a NaN.
#pragma once

#include <cstdint>

namespace etch {

struct ScatterRows {
  enum class Kind { kReplace, kAdd, kMul, kMax, kMin };
  Kind kind = Kind::kReplace;
  std::int64_t rows = 1, width = 1;
};

}  // namespace etch
