// y = x * factor + offset row by row: calls of runtime/etch_rows.h.
#pragma once

#include "compiler/ir/dtype.h"
#include "templates/external/rows.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Operands of the nest: x, factor, offset, y.
struct AffinePlan {
  DType type = DType::kF32;  // of x: or kS32
  Argument x, factor, offset;
  int y = 0;  // operand of the step
  RowNest rows;
};

namespace affine_detail {

template <class T, class S>
void rows(S& s, const AffinePlan& plan) {
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    s.call(external::Affine<T>{}, pointer_to<T>(s, plan.x) + at[0], static_cast<int>(rows.step[0]),
           pointer_to<float>(s, plan.factor) + at[1], static_cast<int>(rows.step[1]),
           pointer_to<float>(s, plan.offset) + at[2], static_cast<int>(rows.step[2]),
           s.template operand<float>(plan.y) + at[3], rows.n);
  });
}

}  // namespace affine_detail

template <class S>
void affine_kernel(S& s, const AffinePlan& plan) {
  if (plan.type == DType::kS32) return affine_detail::rows<std::int32_t>(s, plan);
  affine_detail::rows<float>(s, plan);
}

}  // namespace etch
