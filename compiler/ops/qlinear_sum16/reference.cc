// QLinearSum16 by its definition; see op.h. Whole numbers and rests are divided off term by term,
// so that everything fits in 64 bits.
#include <algorithm>
#include <array>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/qlinear_sum16/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {

struct Fraction {
  std::int64_t whole = 0, rest = 0;  // 0 <= rest < the divisor
};

Fraction divided(std::int64_t x, std::int64_t by) {
  Fraction out{x / by, x % by};
  if (out.rest < 0) {
    --out.whole;
    out.rest += by;
  }
  return out;
}

class Sum {
 public:
  explicit Sum(const QLinearSum16& p) : y_(odd_scale(p.y.scale)) {
    terms_[0] = odd_scale(p.a.scale);
    terms_[1] = p.two ? odd_scale(p.b.scale) : terms_[0];
    for (const OddScale& term : terms_) below_ = std::max(below_, y_.exponent - term.exponent);
  }

  // a and b less their zero points.
  std::int64_t rounded(std::int64_t a, std::int64_t b) const {
    const std::int64_t unit = y_.odd << below_;
    const Fraction first = term(0, a), second = term(1, b);
    const Fraction rest = divided(first.rest + second.rest, unit);
    const std::int64_t whole = first.whole + second.whole + rest.whole;
    const std::int64_t other = unit - rest.rest;
    return whole + (rest.rest > other || (rest.rest == other && whole % 2 != 0) ? 1 : 0);
  }

 private:
  // Of x times term i in units of y; the rest is in units of 1 / (y_.odd << below_).
  Fraction term(std::size_t i, std::int64_t x) const {
    const int up = terms_[i].exponent - y_.exponent;
    Fraction out = up >= 0 ? divided(x * (terms_[i].odd << up), y_.odd)
                           : divided(x * terms_[i].odd, y_.odd << -up);
    out.rest <<= up >= 0 ? below_ : below_ + up;
    return out;
  }

  OddScale y_;
  std::array<OddScale, 2> terms_;
  int below_ = 0;  // how far exponents go below that of y
};

}  // namespace

std::vector<Tensor> reference_qlinear_sum16(const Node& node,
                                            std::span<const Tensor* const> inputs) {
  const auto& p = params_of<QLinearSum16>(node);
  const std::vector<std::int32_t> a = widened(*inputs[0]);
  const std::vector<std::int32_t> b = p.two ? widened(*inputs[5]) : a;
  const StridedView a_view = broadcast_view(inputs[0]->shape(), p.shape);
  const StridedView b_view = broadcast_view(inputs[p.two ? 5 : 0]->shape(), p.shape);
  const std::array<const StridedView*, 2> views{&a_view, &b_view};
  const Sum sum(p);
  std::vector<std::int32_t> y;
  for_each(p.shape, views, [&](const std::array<std::int64_t, 2>& at) {
    const std::int64_t second = p.two ? b[as_index(at[1])] - p.b.zero_point : 0;
    const std::int64_t q = sum.rounded(a[as_index(at[0])] - p.a.zero_point, second);
    y.push_back(
        static_cast<std::int32_t>(std::clamp<std::int64_t>(q + p.y.zero_point, p.low, p.high)));
  });
  return {narrowed(p.dtype, p.shape, y)};
}

}  // namespace etch
