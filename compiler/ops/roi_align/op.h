// RoiAlign (ai.onnx, since 10): averages or maxima of bilinear samples within boxes.
//   X              float32 [images, channels, height, width]
//   rois           float32 [n, 4]: x1, y1, x2, y2, each times spatial_scale
//   batch_indices  int64 [n]: the image of each box; the outputs of one that is no image are 0
//   y              float32 [n, channels, output_height, output_width]
// Along each axis, all operations in float32, rounded one by one:
//   start = low * spatial_scale - offset, offset 0.5 with half_pixel (the default since 16), else 0
//   length = (high * spatial_scale - offset) - start; without half_pixel at least 1
//   bin = length / bins; samples = sampling_ratio, or where that is 0: ceil(bin), in 0 .. 1,024
//   sample i of bin b is at (start + b * bin) + (i + 0.5) * bin / samples
// A sample before -1 or after the size (or NaN) is four times 0 * the map's first element, as in
// ONNX Runtime (so it may be -0); one before 0 is at 0, and one after the last
// element at that. The weights of the four neighbours are products of 1 - rest and rest.
//   avg: the sum of all samples, rows first, each ((p1 + p2) + p3) + p4, divided by their number
//   max: the largest of all products p of all samples, as ONNX Runtime and ONNX's reference do it
// Without samples the output is 0.
#pragma once

#include <cstdint>

namespace etch {

struct RoiAlign {
  std::int64_t rows = 1, cols = 1;
  std::int64_t sampling = 0;  // 0: by the size of the box
  bool is_max = false, half_pixel = true;
  float scale = 1;
};

}  // namespace etch
