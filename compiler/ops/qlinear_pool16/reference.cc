// The means of 16 bits by their definition; see op.h.
#include <algorithm>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/pool_geometry/walk.h"
#include "compiler/ops/qlinear_pool16/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {

// rne(sum * x / (count * y)), the fraction in lowest powers of two; whole steps first.
std::int64_t rounded(std::int64_t sum, std::int64_t count, const OddScale& x, const OddScale& y) {
  const int up = x.exponent - y.exponent;
  const std::int64_t unit = up >= 0 ? count * y.odd : (count * y.odd) << -up;
  // 31 bits times 24; doubled one by one, as the product may need more than 64.
  std::int64_t whole = sum * x.odd / unit, rest = sum * x.odd % unit;
  for (int i = 0; i < up; ++i) {
    rest *= 2;
    whole = 2 * whole + rest / unit;
    rest %= unit;
  }
  if (rest < 0) {
    rest += unit;
    --whole;
  }
  const std::int64_t other = unit - rest;
  return whole + (rest > other || (rest == other && whole % 2 != 0) ? 1 : 0);
}

}  // namespace

std::vector<Tensor> reference_qlinear_pool16(const Node& node,
                                             std::span<const Tensor* const> inputs) {
  const auto& p = params_of<QLinearPool16>(node);
  const std::vector<std::int32_t> x = widened(*inputs[0]);
  const OddScale from = odd_scale(p.x.scale), to = odd_scale(p.y.scale);
  std::vector<std::int32_t> y(as_index(element_count(p.shape)));
  for_each_window(p.geometry, [&](const PoolWindow& window) {
    std::int64_t sum = 0;
    for (const std::int64_t tap : window.taps) sum += x[as_index(tap)] - p.x.zero_point;
    const bool counted = p.count_padding == CountPadding::kYes;
    const auto taps = static_cast<std::int64_t>(window.taps.size());
    const std::int64_t count = std::max<std::int64_t>(counted ? window.padded_taps : taps, 1);
    const std::int64_t q = rounded(sum, count, from, to) + p.y.zero_point;
    y[as_index(window.y)] =
        static_cast<std::int32_t>(std::clamp<std::int64_t>(q, min_of(p.dtype), max_of(p.dtype)));
  });
  return {narrowed(p.dtype, p.shape, y)};
}

}  // namespace etch
