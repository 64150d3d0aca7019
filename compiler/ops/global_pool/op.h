// GlobalAveragePool, GlobalMaxPool (ai.onnx, since 1): one value per image and channel of a float32
// tensor [N, C, D1, ...]; the output is [N, C, 1, ...]. Means are summed in row-major order and
// then divided by the number of elements.
#pragma once

#include <cstdint>

#include "compiler/ir/tensor.h"

namespace etch {

struct GlobalPool {
  enum class Kind { kAverage, kMax };
  Kind kind = Kind::kAverage;
  std::int64_t plane = 1;  // elements per image and channel, >= 1
  Shape shape;             // of the output
};

}  // namespace etch
