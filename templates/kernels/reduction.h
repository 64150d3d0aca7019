// Reductions of float32 by the runtime, row by row of the output.
#pragma once

#include <cstdint>

#include "runtime/etch_elementwise.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Operands x and y, and so in the nest.
struct ReducePlan {
  enum class Kind { kMean, kMax, kMin };
  Kind kind = Kind::kMean;
  rt::Reduced reduced{{1, 1, 1}, {0, 0, 0}};
  RowNest rows;
};

namespace reduction_detail {

template <class Operation, class S>
void reduce(S& s, const ReducePlan& plan, const char* name) {
  const RowNest& rows = plan.rows;
  std::int64_t read = row_span<float>(rows, 0);
  for (int i = 0; i < 3; ++i) read += 4 * (plan.reduced.n[i] - 1) * plan.reduced.step[i];
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    s.runtime(
        name, [](auto... all) { rt::reduce<Operation>(all...); }, {read, row_span<float>(rows, 1)},
        plan.reduced, s.template operand<const float>(0) + at[0], static_cast<int>(rows.step[0]),
        s.template operand<float>(1) + at[1], rows.n);
  });
}

}  // namespace reduction_detail

template <class S>
void reduce_kernel(S& s, const ReducePlan& plan) {
  switch (plan.kind) {
    case ReducePlan::Kind::kMean:
      return reduction_detail::reduce<rt::Mean>(s, plan, "reduce<rt::Mean>");
    case ReducePlan::Kind::kMax:
      return reduction_detail::reduce<rt::Largest>(s, plan, "reduce<rt::Largest>");
    case ReducePlan::Kind::kMin:
      return reduction_detail::reduce<rt::Smallest>(s, plan, "reduce<rt::Smallest>");
  }
}

}  // namespace etch
