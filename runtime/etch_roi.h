// Averages or maxima of a map within boxes known at run time (RoiAlign), as ONNX Runtime computes
// them. C++17, freestanding, no heap, no state; no function adds to a product.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"

namespace etch {
namespace rt {

// Samples of a bin along one axis where they follow from its size; a larger bin has no more.
constexpr int32_t kMostRoiSamples = 1024;

// The two neighbours of a position along an axis, and their weights.
struct RoiTap {
  bool is_inside;
  ptrdiff_t low, high;
  float to_low, to_high;
};

// A box along one axis, divided into bins.
struct RoiAxis {
  float start, bin;
  int32_t samples;  // of each bin
};

static inline RoiAxis roi_axis(float low, float high, float scale, bool half_pixel, int32_t bins,
                               int32_t sampling) {
  const float offset = half_pixel ? 0.5f : 0.0f;
  RoiAxis axis = {opaque(low * scale) - offset, 0.0f, sampling};
  float length = (opaque(high * scale) - offset) - axis.start;
  if (!half_pixel && length < 1.0f) length = 1.0f;
  axis.bin = length / static_cast<float>(bins);
  if (sampling > 0) return axis;
  if (!(axis.bin > 0.0f)) {
    axis.samples = 0;
  } else if (axis.bin >= static_cast<float>(kMostRoiSamples)) {
    axis.samples = kMostRoiSamples;
  } else {
    const int32_t whole = static_cast<int32_t>(axis.bin);
    axis.samples = static_cast<float>(whole) < axis.bin ? whole + 1 : whole;
  }
  return axis;
}

// Sample i of bin b; n elements along the axis.
static inline RoiTap roi_tap(const RoiAxis& axis, int32_t b, int32_t i, int32_t n) {
  const float first = axis.start + opaque(static_cast<float>(b) * axis.bin);
  const float within = opaque((static_cast<float>(i) + 0.5f) * axis.bin);
  float at = first + within / static_cast<float>(axis.samples);
  if (!(at >= -1.0f && at <= static_cast<float>(n))) return {false, 0, 0, 0.0f, 0.0f};
  if (at <= 0.0f) at = 0.0f;
  const int32_t low = static_cast<int32_t>(at);
  if (low >= n - 1) return {true, n - 1, n - 1, 1.0f, 0.0f};
  const float rest = at - static_cast<float>(low);
  return {true, low, low + 1, 1.0f - rest, rest};
}

// Adds one sample to the outputs of a bin, `y_step` apart: one for each channel.
static inline void roi_sample(const float* image, float* y, int32_t channels, ptrdiff_t x_step,
                              ptrdiff_t y_step, ptrdiff_t width, const RoiTap& v, const RoiTap& h,
                              bool is_max, bool is_first) {
  const bool is_inside = v.is_inside && h.is_inside;
  const float weights[4] = {opaque(v.to_low * h.to_low), opaque(v.to_low * h.to_high),
                            opaque(v.to_high * h.to_low), opaque(v.to_high * h.to_high)};
  for (int32_t c = 0; c < channels; ++c) {
    const float outside = opaque(0.0f * image[c * x_step]);
    float part[4] = {outside, outside, outside, outside};
    if (is_inside) {
      const float* low = image + c * x_step + v.low * width;
      const float* high = image + c * x_step + v.high * width;
      part[0] = opaque(weights[0] * low[h.low]);
      part[1] = opaque(weights[1] * low[h.high]);
      part[2] = opaque(weights[2] * high[h.low]);
      part[3] = opaque(weights[3] * high[h.high]);
    }
    float* out = y + c * y_step;
    if (!is_max) {
      *out = *out + (((part[0] + part[1]) + part[2]) + part[3]);
      continue;
    }
    float most = part[0];
    for (int k = 1; k < 4; ++k) most = most < part[k] ? part[k] : most;
    *out = is_first || *out < most ? most : *out;
  }
}

// One bin: outputs of all channels.
static inline void roi_bin(const float* image, float* y, int32_t channels, int32_t height,
                           int32_t width, ptrdiff_t y_step, const RoiAxis& v, int32_t row,
                           const RoiAxis& h, int32_t col, bool is_max) {
  for (int32_t c = 0; c < channels; ++c) y[c * y_step] = 0.0f;
  const ptrdiff_t x_step = static_cast<ptrdiff_t>(height) * width;
  for (int32_t i = 0; i < v.samples; ++i) {
    const RoiTap tap = roi_tap(v, row, i, height);
    for (int32_t j = 0; j < h.samples; ++j) {
      roi_sample(image, y, channels, x_step, y_step, width, tap, roi_tap(h, col, j, width), is_max,
                 i == 0 && j == 0);
    }
  }
  const int32_t count = v.samples * h.samples;
  if (is_max || count < 2) return;
  for (int32_t c = 0; c < channels; ++c) y[c * y_step] = y[c * y_step] / static_cast<float>(count);
}

// x [images, channels, height, width], boxes [n, 4] of x1, y1, x2, y2, images_of [n] in 0 ..
// images - 1 (others have outputs of 0), y [n, channels, rows, cols]. sampling 0: by the boxes.
static inline void roi_align(const float* x, const float* boxes, const int64_t* images_of, float* y,
                             int images, int channels, int height, int width, int n, int rows,
                             int cols, int sampling, int is_max, int half_pixel, float scale) {
  const ptrdiff_t y_step = static_cast<ptrdiff_t>(rows) * cols;
  const ptrdiff_t image_size = static_cast<ptrdiff_t>(channels) * height * width;
  for (int r = 0; r < n; ++r) {
    const float* box = boxes + 4 * static_cast<ptrdiff_t>(r);
    const bool known = images_of[r] >= 0 && images_of[r] < images;
    RoiAxis h = roi_axis(box[0], box[2], scale, half_pixel != 0, cols, sampling);
    RoiAxis v = roi_axis(box[1], box[3], scale, half_pixel != 0, rows, sampling);
    if (!known) h.samples = v.samples = 0;
    const float* image = x + (known ? static_cast<ptrdiff_t>(images_of[r]) * image_size : 0);
    float* out = y + r * (channels * y_step);
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        roi_bin(image, out + row * cols + col, channels, height, width, y_step, v, row, h, col,
                is_max != 0);
      }
    }
  }
}

}  // namespace rt
}  // namespace etch
