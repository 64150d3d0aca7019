// Index arithmetic of ConvWalk; see walk.h.
#include "compiler/ops/conv_geometry/walk.h"

#include <algorithm>

namespace etch {

ConvWalk::ConvWalk(const ConvGeometry& geometry) : geometry_(geometry) {
  ETCH_CHECK(!geometry.axes.empty() && geometry.axes.size() <= axes_.size());
  std::copy_backward(geometry.axes.begin(), geometry.axes.end(), axes_.end());
}

std::int64_t ConvWalk::source(std::size_t axis, std::int64_t out, std::int64_t tap) const {
  const ConvAxis& a = axes_[axis];
  std::int64_t in = 0;
  if (geometry_.direction == ConvDirection::kForward) {
    in = out * a.stride + tap * a.dilation - a.pad_begin;
  } else {
    const std::int64_t stretched = out + a.pad_begin - tap * a.dilation;
    if (stretched < 0 || stretched % a.stride != 0) return -1;
    in = stretched / a.stride;
  }
  return in >= 0 && in < a.in ? in : -1;
}

std::vector<ConvWalk::Tap> ConvWalk::taps_of(const Position& out) const {
  const std::int64_t pixel =
      geometry_.layout == ConvLayout::kChannelsLast ? geometry_.in_channels : 1;
  std::vector<Tap> taps;
  std::int64_t w = -1;
  for (std::int64_t i = 0; i < axes_[0].kernel; ++i) {
    for (std::int64_t j = 0; j < axes_[1].kernel; ++j) {
      for (std::int64_t k = 0; k < axes_[2].kernel; ++k) {
        ++w;
        const std::int64_t a = source(0, out[0], i);
        const std::int64_t b = source(1, out[1], j);
        const std::int64_t c = source(2, out[2], k);
        if (a < 0 || b < 0 || c < 0) continue;
        taps.push_back({((a * axes_[1].in + b) * axes_[2].in + c) * pixel, w});
      }
    }
  }
  return taps;
}

std::int64_t ConvWalk::x_index(std::int64_t n, std::int64_t m, std::int64_t c) const {
  const std::int64_t channel = m / geometry_.out_per_group() * geometry_.in_per_group() + c;
  const std::int64_t pixels = axes_[0].in * axes_[1].in * axes_[2].in;
  const std::int64_t image = n * geometry_.in_channels * pixels;
  return geometry_.layout == ConvLayout::kChannelsLast ? image + channel : image + channel * pixels;
}

std::int64_t ConvWalk::w_index(std::int64_t m, std::int64_t c) const {
  const std::int64_t kernel = axes_[0].kernel * axes_[1].kernel * axes_[2].kernel;
  if (geometry_.direction == ConvDirection::kForward) {
    return (m * geometry_.in_per_group() + c) * kernel;
  }
  const std::int64_t per_group = geometry_.out_per_group();
  const std::int64_t channel = m / per_group * geometry_.in_per_group() + c;
  return (channel * per_group + m % per_group) * kernel;
}

std::int64_t ConvWalk::y_index(std::int64_t n, std::int64_t m, const Position& out) const {
  const std::int64_t pixels = axes_[0].out * axes_[1].out * axes_[2].out;
  const std::int64_t pixel = (out[0] * axes_[1].out + out[1]) * axes_[2].out + out[2];
  const std::int64_t image = n * geometry_.out_channels * pixels;
  return geometry_.layout == ConvLayout::kChannelsLast ? image + pixel * geometry_.out_channels + m
                                                       : image + m * pixels + pixel;
}

}  // namespace etch
