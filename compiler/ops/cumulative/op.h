// CumSum (ai.onnx, since 11), CumProd (since 26): running sums and products along an axis. float32,
// int32 and int64; integers wrap.
//   axis       a constant scalar, input 1
//   exclusive  0 (default): y[i] = x[0] op ... op x[i], from the left; 1: without x[i], so that the
//              first element is 0 or 1
//   reverse    1: the same from the end of the axis
// The sum begins with 0 + x[0], the product with 1 * x[0]; each step rounds.
#pragma once

#include <cstddef>

namespace etch {

struct Cumulative {
  bool multiplies = false;
  std::size_t axis = 0;
  bool exclusive = false, reverse = false;
};

}  // namespace etch
