// Reductions by the runtime, row by row of the output.
#pragma once

#include <cstdint>

#include "compiler/ir/dtype.h"
#include "templates/external/rows.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Operands x and y, and so in the nest.
struct ReducePlan {
  enum class Kind { kMean, kMax, kMin, kSum, kProduct };
  Kind kind = Kind::kMean;
  DType type =
      DType::kF32;  // kMax and kMin: also kU8 (as stored), kS32, kS64; kSum, kProduct: the last two
  rt::Reduced reduced{{1, 1, 1}, {0, 0, 0}};
  RowNest rows;
};

namespace reduction_detail {

template <class Operation, class T, class S>
void reduce(S& s, const ReducePlan& plan) {
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    s.call(external::Reduce<Operation, T>{}, plan.reduced, s.template operand<const T>(0) + at[0],
           static_cast<int>(rows.step[0]), s.template operand<T>(1) + at[1], rows.n);
  });
}

template <class Operation, class S>
void extreme(S& s, const ReducePlan& plan) {
  if (plan.type == DType::kU8) return reduce<Operation, std::uint8_t>(s, plan);
  if (plan.type == DType::kS32) return reduce<Operation, std::int32_t>(s, plan);
  if (plan.type == DType::kS64) return reduce<Operation, std::int64_t>(s, plan);
  reduce<Operation, float>(s, plan);
}

template <class Operation, class S>
void fold(S& s, const ReducePlan& plan) {
  if (plan.type == DType::kS32) return reduce<Operation, std::int32_t>(s, plan);
  if (plan.type == DType::kS64) return reduce<Operation, std::int64_t>(s, plan);
  reduce<Operation, float>(s, plan);
}

}  // namespace reduction_detail

template <class S>
void reduce_kernel(S& s, const ReducePlan& plan) {
  switch (plan.kind) {
    case ReducePlan::Kind::kMean:
      return reduction_detail::reduce<rt::Mean, float>(s, plan);
    case ReducePlan::Kind::kMax:
      return reduction_detail::extreme<rt::Largest>(s, plan);
    case ReducePlan::Kind::kMin:
      return reduction_detail::extreme<rt::Smallest>(s, plan);
    case ReducePlan::Kind::kSum:
      return reduction_detail::fold<rt::Sum>(s, plan);
    case ReducePlan::Kind::kProduct:
      return reduction_detail::fold<rt::Product>(s, plan);
  }
}

}  // namespace etch
