// Softmax, LogSoftmax (ai.onnx, since 1): y = e^(x - max) / sum(e^(x - max)) and its logarithm,
// (x - max) - ln(sum(e^(x - max))), on float32.
//   opset 13 and later  over the one axis `axis` (default -1)
//   before              over all axes from `axis` (default 1) to the last, as one
// Softmax is bit for bit ONNX Runtime's result on x64 with AVX512F: runtime/etch_float.h,
// softmax_f32. LogSoftmax takes the logarithm of runtime/etch_functions.h. A row whose sum is 0 or
// NaN becomes the NaN 0x7fc00000 in both.
#pragma once

#include <cstdint>

#include "compiler/ir/tensor.h"

namespace etch {

// The rows that are normalized, as for Softmax and QLinearSoftmax: element k of row (o, i) is
// element (o * size + k) * inner + i of the tensor.
struct SoftmaxRows {
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;
};

enum class SoftmaxForm { kOneAxis, kTrailingAxes };

// `axis` in [0, shape.size()) for kOneAxis, [0, shape.size()] for kTrailingAxes.
SoftmaxRows softmax_rows(const Shape& shape, std::int64_t axis, SoftmaxForm form);

struct Softmax {
  enum class Kind { kShare, kLogarithm };
  Kind kind = Kind::kShare;
  SoftmaxRows rows;
};

}  // namespace etch
