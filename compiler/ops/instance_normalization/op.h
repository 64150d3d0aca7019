// InstanceNormalization (ai.onnx, since 6) on float32: every channel of every image is normalized
// to mean 0 and variance 1, then scaled.
//   X [N, C, D1, ...] with elements in each plane; scale, B [C]; epsilon default 1e-5
//
// Over the plane of (n, c) in row-major order, sums from 0 on, every step rounded to float32:
//   mean = sum(x) / count,  var = sum(fl(d * d)) / count with d = fl(x - mean)
//   y = fl(fl(fl(d * inverse) * scale[c]) + B[c]),  inverse = 1 / sqrt(var + epsilon)
#pragma once

#include <cstdint>
#include <span>

#include "compiler/ir/tensor.h"

namespace etch {

struct InstanceNormalization {
  std::int64_t channels = 1;
  std::int64_t plane = 1;  // elements per image and channel, >= 1
  float epsilon = 1e-5F;   // finite
};

// (x - mean) * inverse of the elements of one row, as above; for layer_normalization too.
void normalize_row(std::span<const float> x, std::span<float> y, float epsilon);

}  // namespace etch
