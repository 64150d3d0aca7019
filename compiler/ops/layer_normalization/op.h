// LayerNormalization (ai.onnx, since 17) on float32: the axes from `axis` (default -1) to the last
// are normalized to mean 0 and variance 1, then scaled.
//   X; Scale and, where there is one, B of the shape of those axes
//   epsilon     default 1e-5;  stash_type  1 (float32), which is the default
//   outputs     Y only; Mean and InvStdDev are refused
//
// Each row as in instance_normalization/op.h, with one scale and one B per element of a row.
#pragma once

#include <cstdint>

namespace etch {

struct LayerNormalization {
  std::int64_t rows = 1;
  std::int64_t size = 1;  // elements of a row, >= 1
  float epsilon = 1e-5F;  // finite
};

}  // namespace etch
