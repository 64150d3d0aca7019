// The kernels of sums, products, rescaling and pooling of 16-bit values: calls of
// runtime/etch_word_sums.h.
#pragma once

#include <cstdint>

#include "templates/external/word_sums.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Operands of the nest: a, b, y; without a second term a, y.
struct WordSumPlan {
  bool is_unsigned = false, two = false;
  bool wide = false;  // the unit is beyond 2^30
  rt::WordSum<std::uint64_t> sum{};
  Argument a, b;
  int y = 0;  // operand of the step
  RowNest rows;
};

namespace word_sums_detail {

inline rt::WordSum<std::uint32_t> narrow(const rt::WordSum<std::uint64_t>& s) {
  const auto term = [](const rt::WordTerm<std::uint64_t>& t) {
    return rt::WordTerm<std::uint32_t>{t.zero, t.factor, static_cast<std::uint32_t>(t.part)};
  };
  return {term(s.a), term(s.b), static_cast<std::uint32_t>(s.unit), s.shift, s.y};
}

template <class T, class Rest, class S>
void sum(S& s, const WordSumPlan& plan, const rt::WordSum<Rest>& terms) {
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    const auto a = pointer_to<T>(s, plan.a) + at[0];
    const auto a_step = static_cast<int>(rows.step[0]);
    if (plan.two) {
      s.call(external::SumWords<T, Rest>{}, terms, a, a_step, pointer_to<T>(s, plan.b) + at[1],
             static_cast<int>(rows.step[1]), s.template operand<T>(plan.y) + at[2], rows.n);
    } else {
      s.call(external::RescaleWords<T, Rest>{}, terms, a, a_step,
             s.template operand<T>(plan.y) + at[1], rows.n);
    }
  });
}

template <class T, class S>
void sum(S& s, const WordSumPlan& plan) {
  if (plan.wide) return sum<T>(s, plan, plan.sum);
  sum<T>(s, plan, narrow(plan.sum));
}

}  // namespace word_sums_detail

template <class S>
void word_sum_kernel(S& s, const WordSumPlan& plan) {
  if (plan.is_unsigned) return word_sums_detail::sum<std::uint16_t>(s, plan);
  word_sums_detail::sum<std::int16_t>(s, plan);
}

// Products of elements. Operands of the nest: a, b, y.
struct WordMulPlan {
  bool is_unsigned = false;
  rt::WordProduct factors{};
  Argument a, b;
  int y = 0;  // operand of the step
  RowNest rows;
};

namespace word_sums_detail {

template <class T, class S>
void multiply(S& s, const WordMulPlan& plan) {
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    s.call(external::MultiplyWords<T>{}, plan.factors, pointer_to<T>(s, plan.a) + at[0],
           static_cast<int>(rows.step[0]), pointer_to<T>(s, plan.b) + at[1],
           static_cast<int>(rows.step[1]), s.template operand<T>(plan.y) + at[2], rows.n);
  });
}

}  // namespace word_sums_detail

template <class S>
void word_mul_kernel(S& s, const WordMulPlan& plan) {
  if (plan.is_unsigned) return word_sums_detail::multiply<std::uint16_t>(s, plan);
  word_sums_detail::multiply<std::int16_t>(s, plan);
}

// MaxPool and AveragePool: operands x, y.
struct WordPoolPlan {
  bool is_unsigned = false, averages = false;
  bool of_axes = false;  // x and y are dense, with other shapes than the geometry's
  rt::PoolShape shape{};
  rt::WordMean mean{};
  Argument x, factors;
  int y = 0;
};

namespace word_sums_detail {

template <class T, class S>
void pool(S& s, const WordPoolPlan& plan) {
  const auto x = pointer_to<T>(s, plan.x);
  const auto y = s.template operand<T>(plan.y);
  if (plan.averages) {
    s.call(external::AveragePoolWords<T>{}, plan.shape, plan.mean,
           pointer_to<std::int32_t>(s, plan.factors), x, y);
  } else {
    s.call(external::MaxPoolWords<T>{}, plan.shape, x, y);
  }
}

}  // namespace word_sums_detail

template <class S>
void word_pool_kernel(S& s, const WordPoolPlan& plan) {
  if (plan.is_unsigned) return word_sums_detail::pool<std::uint16_t>(s, plan);
  word_sums_detail::pool<std::int16_t>(s, plan);
}

}  // namespace etch
