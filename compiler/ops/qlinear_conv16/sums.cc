// What the sums of 16-bit convolutions and products can be, whatever x is; see op.h.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "compiler/ir/geometry/strided.h"
#include "compiler/kernels/products/words.h"
#include "compiler/ops/qlinear_conv16/op.h"

namespace etch {

namespace {

using Interval = std::array<std::int64_t, 2>;

bool fits(const Interval& sum) { return sum[0] >= INT32_MIN && sum[1] <= INT32_MAX; }

class Sums {
 public:
  Sums(const ResolveContext& context, const QLinearConv16& conv)
      : conv_(conv),
        weights_(context.constant(3)->integers()),
        bias_(context.has_input(8) ? context.constant(8) : nullptr),
        x_{min_of(context.dtype(0)) - conv.x.zero_point_at(0),
           max_of(context.dtype(0)) - conv.x.zero_point_at(0)} {
    for (const ConvAxis& axis : conv.geometry.axes) taps_ *= axis.kernel;
  }

  // Channels [first, end) of channel m of the result; the bias belongs to the first part.
  Interval part(std::int64_t m, std::int64_t first, std::int64_t end) const {
    Interval out{0, 0};
    if (first == 0 && bias_ != nullptr) out = {bias_->integer(m), bias_->integer(m)};
    for (std::int64_t i = first * taps_; i < end * taps_; ++i) {
      const std::int64_t at = weight_index(conv_.geometry, m, i / taps_, i % taps_);
      const std::int64_t weight = weights_[as_index(at)] - conv_.w.zero_point_at(m);
      out[0] += std::min(weight * x_[0], weight * x_[1]);
      out[1] += std::max(weight * x_[0], weight * x_[1]);
    }
    return out;
  }
  bool all_fit(std::int64_t channels) const {
    const std::int64_t in = conv_.geometry.in_per_group();
    for (std::int64_t m = 0; m < conv_.geometry.out_channels; ++m) {
      for (std::int64_t first = 0; first < in; first += channels) {
        if (!fits(part(m, first, std::min(first + channels, in)))) return false;
      }
    }
    return true;
  }
  // Whether y is at its limit from the ends of int32 on, for sums that go beyond them.
  bool limits_hide(std::int64_t m) const {
    const Interval sum = part(m, 0, conv_.geometry.in_per_group());
    const WideScale scale =
        wide_scale(conv_.x.scale_at(0), conv_.w.scale_at(m), conv_.y.scale_at(0));
    const std::int32_t rest = conv_.rests.empty() ? 0 : scale.rest(conv_.rests[as_index(m)]);
    const int zero = conv_.y.zero_point_at(0);
    return (sum[0] >= INT32_MIN || scaled_sum(INT32_MIN, scale, rest) + zero <= conv_.low) &&
           (sum[1] <= INT32_MAX || scaled_sum(INT32_MAX, scale, rest) + zero >= conv_.high);
  }

 private:
  const QLinearConv16& conv_;
  std::vector<std::int64_t> weights_;
  const Tensor* bias_;
  Interval x_;  // less its zero point
  std::int64_t taps_ = 1;
};

}  // namespace

std::optional<std::int64_t> part_of_sums(ResolveContext& context, const QLinearConv16& conv) {
  for (std::int64_t m = 0; m < conv.geometry.out_channels; ++m) {
    const int shift =
        wide_scale(conv.x.scale_at(0), conv.w.scale_at(m), conv.y.scale_at(0)).shift();
    if (shift >= 1 && shift <= 61) continue;
    context.error(DiagKind::kQuant, "the ratio of its scales is extreme");
    return std::nullopt;
  }
  const Sums sums(context, conv);
  const std::int64_t in = conv.geometry.in_per_group();
  if (sums.all_fit(in)) return 0;
  for (std::int64_t m = 0; m < conv.geometry.out_channels; ++m) {
    if (sums.limits_hide(m)) continue;
    context.error(DiagKind::kUnsupported,
                  "its sums may leave int32 where the result is not limited");
    return std::nullopt;
  }
  for (std::int64_t parts = 2; in / parts > 0; parts *= 2) {
    const std::int64_t channels = ((in + parts - 1) / parts + 1) / 2 * 2;
    if (channels < in && sums.all_fit(channels)) return channels;
  }
  context.error(DiagKind::kUnsupported, "its sums may leave int32");
  return std::nullopt;
}

}  // namespace etch
