// See serves.h.
#include "compiler/kernels/conv/dsp/serves.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/kernels/conv/dsp/low.h"
#include "compiler/kernels/conv/regions.h"

namespace etch {

bool is_per_channel(const ConvGeometry& g) {
  return g.group > 1 && g.group == g.in_channels && g.out_channels == g.in_channels;
}

namespace {

// Whether the taps of a kernel row are contiguous.
bool has_whole_rows(const ConvProblem& problem) {
  const ConvAxis& axis = problem.geometry.axes.back();
  return axis.kernel == 1 ||
         (axis.dilation == 1 && pixel_stride(problem) == problem.geometry.in_per_group());
}

// What tiles need that read x in place: runs at one distance, pixels within reach.
bool is_direct(const ConvProblem& problem) {
  const ConvGeometry& g = problem.geometry;
  const std::int64_t x_step = pixel_stride(problem) * g.axes.back().stride;
  return 3 * x_step <= kMostMlaReach && (is_per_channel(g) || has_whole_rows(problem) ||
                                         g.axes.size() == 1 || g.axes.front().kernel == 1);
}

// Weights of depthwise convolutions are halfwords where two are multiplied at once; others are
// bytes, all moved by the same number if need be.
bool weights_are_served(const ConvProblem& problem, const IsaTraits& isa) {
  if (isa.assembly != Assembly::kDsp) return dsp_weights_moved(problem) == 0;
  return is_per_channel(problem.geometry) || dsp_weights_moved(problem);
}

bool is_served(const ConvProblem& problem, const IsaTraits& isa) {
  const ConvGeometry& g = problem.geometry;
  const bool channels_last =
      problem.x.stride[1] == 1 && problem.y.stride[1] == bytes_of(problem.y.dtype);
  // One channel per group wastes half of every product except in the kernel made for it.
  const bool grouped = g.group == 1 || (is_per_channel(g) && g.in_channels % 4 == 0) ||
                       (g.in_per_group() >= 4 && g.out_per_group() >= 2);
  // Each band of rows that see the same taps has statements of its own.
  constexpr std::size_t kMostBands = 512;
  const auto is_simple = [](const ConvAxis& axis) {
    return count_segments(axis, ConvDirection::kForward, 0, 0, kMostBands).segments <= kMostBands;
  };
  return g.direction == ConvDirection::kForward && g.axes.size() <= 2 &&
         weights_are_served(problem, isa) && channels_last && grouped &&
         (g.axes.size() < 2 || is_simple(g.axes[0]));
}

}  // namespace

std::optional<int> dsp_weights_moved(const ConvProblem& problem) {
  if (problem.weights.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(problem.weights.begin(), problem.weights.end());
  ETCH_CHECK(*least >= -UINT8_MAX && *most <= UINT8_MAX);
  if (*least >= INT8_MIN && *most <= INT8_MAX) return 0;
  if (*most - *least > UINT8_MAX) return std::nullopt;
  return *most > INT8_MAX ? *most - INT8_MAX : *least - INT8_MIN;
}

std::int64_t pixel_stride(const ConvProblem& problem) {
  const std::int64_t stride = problem.x.stride.back();
  const bool one_tap = problem.geometry.axes.back().kernel == 1;  // nothing is copied for it
  return one_tap ? stride : std::max(stride, problem.geometry.in_channels);
}

bool is_low(const IsaTraits& isa) { return isa.assembly == Assembly::kLow; }

bool dsp_conv_serves(const ConvProblem& problem, const IsaTraits& isa) {
  const bool direct = isa.assembly == Assembly::kMla || is_low(isa);
  if (!(direct || isa.assembly == Assembly::kDsp) || !is_served(problem, isa)) return false;
  if (is_low(isa) && is_per_channel(problem.geometry) && problem.geometry.axes.size() == 2 &&
      !low_depthwise_serves(problem.geometry.axes[0].kernel, problem.geometry.axes[1].kernel))
    return false;
  return !direct || is_direct(problem);
}

}  // namespace etch
