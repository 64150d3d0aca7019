// See operands.h.
#include "compiler/kernels/conv/operands.h"

#include <algorithm>
#include <utility>

#include "compiler/kernels/conv/regions.h"

namespace etch {

View channels_first(const View& view, ConvLayout layout) {
  if (layout == ConvLayout::kChannelsFirst) return view;
  std::vector<int> perm{0, view.rank() - 1};
  for (int d = 1; d + 1 < view.rank(); ++d) perm.push_back(d);
  return permuted(view, perm);
}

Order conv_order(ConvLayout layout, int rank) {
  return layout == ConvLayout::kChannelsFirst ? channels_last(rank) : row_major(rank);
}

std::vector<int> centred_weights(const ConvGeometry& geometry, const Tensor& w,
                                 const std::vector<int>& zero_point) {
  std::int64_t taps = 1;
  for (const ConvAxis& axis : geometry.axes) taps *= axis.kernel;
  const std::int64_t in = geometry.in_per_group();
  const std::int64_t out = geometry.out_per_group();
  const std::vector<std::int64_t> raw = w.integers();
  std::vector<int> centred;
  centred.reserve(raw.size());
  for (std::int64_t m = 0; m < geometry.out_channels; ++m) {
    const int zero = zero_point[zero_point.size() == 1 ? 0 : static_cast<std::size_t>(m)];
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      for (std::int64_t c = 0; c < in; ++c) {
        const std::int64_t at = geometry.direction == ConvDirection::kForward
                                    ? (m * in + c) * taps + tap
                                    : ((m / out * in + c) * out + m % out) * taps + tap;
        centred.push_back(static_cast<int>(raw[static_cast<std::size_t>(at)]) - zero);
      }
    }
  }
  return centred;
}

void keep_halo_of_wide_weights(HaloWish& wish, const ConvGeometry& geometry, const Tensor& w,
                               const std::vector<int>& zero_point) {
  const std::vector<int> weights = centred_weights(geometry, w, zero_point);
  if (weights.empty()) return;
  const auto [least, most] = std::ranges::minmax(weights);
  if (least < INT8_MIN || most > INT8_MAX) wish.per_channel = false;
  if (most - least > UINT8_MAX) wish.forward_convolution = false;
}

std::vector<std::int32_t> bias_or_zero(const Lowering& lowering, const Node& node, int input,
                                       std::int64_t channels) {
  const bool present = static_cast<int>(node.inputs.size()) > input &&
                       node.inputs[static_cast<std::size_t>(input)] != kNoValue;
  if (!present) return std::vector<std::int32_t>(static_cast<std::size_t>(channels), 0);
  const auto values = lowering.constant(node, input).as<std::int32_t>();
  return {values.begin(), values.end()};
}

std::vector<float> per_channel(const std::vector<float>& scale, std::int64_t channels) {
  return scale.size() == 1 ? std::vector<float>(static_cast<std::size_t>(channels), scale[0])
                           : scale;
}

namespace {
// [1, columns, rows] over the memory of a row-major view of rows x columns elements.
View as_columns(const View& view, std::int64_t rows, std::int64_t columns) {
  View out = view;
  const std::int64_t bytes = bytes_of(view.dtype);
  out.shape = {1, columns, rows};
  out.stride = {rows * columns * bytes, bytes, columns * bytes};
  out.halo_begin = out.halo_end = {0, 0, 0};
  return out;
}
}  // namespace

ConvProblem matrix_problem(const View& x, const View& y, std::int64_t rows, std::int64_t depth,
                           std::int64_t columns) {
  ConvProblem problem;
  problem.geometry.in_channels = depth;
  problem.geometry.out_channels = columns;
  ConvAxis axis;
  axis.in = axis.out = rows;
  problem.geometry.axes = {axis};
  problem.x = as_columns(x, rows, depth);
  problem.y = as_columns(y, rows, columns);
  return problem;
}

namespace {
constexpr std::int64_t kSmallHalo = 8;  // per side: cheaper than border regions
constexpr std::size_t kMostRegionsWithoutHalo =
    16;  // more of them cost more code than a wide halo costs memory

bool wants_halo(const ConvGeometry& geometry) {
  bool small = true;
  std::size_t regions = 1;
  for (const ConvAxis& axis : geometry.axes) {
    const HaloNeed need = halo_need(axis, geometry.direction);
    small = small && need.begin <= kSmallHalo && need.end <= kSmallHalo;
    regions *= count_segments(axis, geometry.direction, 0, 0, kMostRegionsWithoutHalo).segments;
  }
  return small || regions > kMostRegionsWithoutHalo;
}
}  // namespace

std::optional<HaloWish> conv_halo(const ConvGeometry& geometry, int stored_zero_point) {
  if (!wants_halo(geometry)) return std::nullopt;
  const std::size_t rank = geometry.axes.size() + 2;
  const std::size_t first = geometry.layout == ConvLayout::kChannelsFirst ? 2 : 1;
  HaloWish wish;
  wish.begin.assign(rank, 0);
  wish.end.assign(rank, 0);
  wish.value = stored_zero_point;
  wish.forward_convolution = geometry.direction == ConvDirection::kForward;
  wish.per_channel = wish.forward_convolution && geometry.group > 1 &&
                     geometry.group == geometry.in_channels &&
                     geometry.group == geometry.out_channels;
  for (std::size_t a = 0; a < geometry.axes.size(); ++a) {
    const HaloNeed need = halo_need(geometry.axes[a], geometry.direction);
    wish.begin[first + a] = need.begin;
    wish.end[first + a] = need.end;
  }
  return wish;
}

}  // namespace etch
