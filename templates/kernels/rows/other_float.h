// Rows of float32 from or to float16, bfloat16 or float64, by runtime/etch_half.h.
#pragma once

#include "templates/external/half.h"
#include "templates/kernels/rows/arithmetic.h"

namespace etch {

namespace other_float_detail {

template <external::OtherFloat form, class S>
void convert(S& s, const CastPlan& plan) {
  using Other = external::OtherElement<form>;
  const RowNest& rows = plan.rows;
  const int step = static_cast<int>(rows.step[0]);
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    if (plan.to == DType::kF32) {
      s.call(external::ToFloat<form>{}, s.template operand<const Other>(0) + at[0], step,
             s.template operand<float>(1) + at[1], rows.n);
    } else {
      s.call(external::FromFloat<form>{}, s.template operand<const float>(0) + at[0], step,
             s.template operand<Other>(1) + at[1], rows.n);
    }
  });
}

}  // namespace other_float_detail

// One of the plan's types is float32.
template <class S>
void other_float_kernel(S& s, const CastPlan& plan) {
  switch (plan.from == DType::kF32 ? plan.to : plan.from) {
    case DType::kF16:
      return other_float_detail::convert<external::OtherFloat::kHalf>(s, plan);
    case DType::kBF16:
      return other_float_detail::convert<external::OtherFloat::kBfloat>(s, plan);
    default:
      return other_float_detail::convert<external::OtherFloat::kDouble>(s, plan);
  }
}

}  // namespace etch
