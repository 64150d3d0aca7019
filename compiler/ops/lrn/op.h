// LRN (ai.onnx, since 1): local response normalization over neighbouring channels, on float32.
//   X [N, C, ...]; size (required, >= 1), alpha (default 1e-4), beta (0.75), bias (1)
//
// For channel c the window is [c - floor((size - 1) / 2), c + ceil((size - 1) / 2)] within the
// image. sum = the squares of its elements, ascending, from 0 on, each step rounded;
//   y = x / (bias + fl(fl(alpha / size) * sum))^beta
// The power is that of runtime/etch_functions.h; the usual beta 0.75 is fl(sqrt(b) *
// sqrt(sqrt(b))).
#pragma once

#include <cstdint>

namespace etch {

struct Lrn {
  std::int64_t images = 1, channels = 1, plane = 1;  // plane: elements per channel
  std::int64_t before = 0, after = 0;                // neighbours on each side
  float factor = 0;                                  // alpha / size
  float beta = 0.75F;
  float bias = 1;  // all finite
};

}  // namespace etch
