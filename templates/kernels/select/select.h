// Kernels over rows that pick, compare or choose at run time; see runtime/etch_select.h.
#pragma once

#include <cstdint>

#include "compiler/ir/dtype.h"
#include "templates/external/half_weights.h"
#include "templates/external/select.h"
#include "templates/kernels/arguments.h"

namespace etch {

// y = a op b as 0 or 1; operands of the nest: a, b, y.
struct ComparePlan {
  enum class Kind { kEqual, kGreater, kGreaterOrEqual, kAnd, kOr, kXor };
  Kind kind = Kind::kEqual;
  DType type = DType::kF32;  // or kS32, kS64, kU8: bytes as stored
  Argument a, b;
  int y = 0;  // operand of the step
  RowNest rows;
};

// y = condition ? a : b; operands of the nest: condition, a, b, y.
struct WherePlan {
  DType type =
      DType::kF32;  // or kS32, kS64, kS16, kU16: 16 bits of a float too, kU8: bytes as stored
  Argument condition, a, b;
  int y = 0;
  rt::Stored y_stored{0, 0};
  RowNest rows;
};

// Slices of x picked by indices; all dense.
struct GatherPlan {
  bool wide = true;  // int64 indices, else int32
  Argument x, indices;
  int y = 0;
  int outer = 1, size = 1, count = 1, bytes = 1;
};

// Slices of a constant table of floats that is kept as `type`, kF16 or kBF16; all dense.
struct GatherHalvesPlan {
  DType type = DType::kF16;
  bool wide = true;  // int64 indices, else int32
  Argument x, indices;
  int y = 0;
  int outer = 1, size = 1, count = 1, inner = 1;
};

// Single elements of x picked by indices; operands of the nest: x in bytes, indices, y in bytes.
struct GatherElementsPlan {
  bool wide = true;
  Argument x, indices;
  int y = 0;
  int size = 1, bytes = 1;
  int x_step = 0, axis_step = 0, index_step = 0, y_step = 0;  // in a row
  RowNest rows;
};

namespace select_detail {

template <class T, class Operation, class S>
void compare_rows(S& s, const ComparePlan& plan) {
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    s.call(external::Compare<Operation, T>{}, pointer_to<T>(s, plan.a) + at[0],
           static_cast<int>(rows.step[0]), plan.a.stored, pointer_to<T>(s, plan.b) + at[1],
           static_cast<int>(rows.step[1]), plan.b.stored,
           s.template operand<std::uint8_t>(plan.y) + at[2], rows.n);
  });
}

template <class T, class S>
void compare(S& s, const ComparePlan& plan) {
  switch (plan.kind) {
    case ComparePlan::Kind::kEqual:
      return compare_rows<T, rt::Equal>(s, plan);
    case ComparePlan::Kind::kGreater:
      return compare_rows<T, rt::Greater>(s, plan);
    case ComparePlan::Kind::kGreaterOrEqual:
      return compare_rows<T, rt::GreaterOrEqual>(s, plan);
    case ComparePlan::Kind::kAnd:
      return compare_rows<T, rt::And>(s, plan);
    case ComparePlan::Kind::kOr:
      return compare_rows<T, rt::Or>(s, plan);
    case ComparePlan::Kind::kXor:
      return compare_rows<T, rt::Xor>(s, plan);
  }
}

template <class T, class S>
void choose(S& s, const WherePlan& plan) {
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    s.call(external::Choose<T>{}, pointer_to<std::uint8_t>(s, plan.condition) + at[0],
           static_cast<int>(rows.step[0]), pointer_to<T>(s, plan.a) + at[1],
           static_cast<int>(rows.step[1]), plan.a.stored, pointer_to<T>(s, plan.b) + at[2],
           static_cast<int>(rows.step[2]), plan.b.stored, s.template operand<T>(plan.y) + at[3],
           plan.y_stored, rows.n);
  });
}

template <class Index, class S>
void gather(S& s, const GatherPlan& plan) {
  s.call(external::Gather<Index>{}, pointer_to<std::uint8_t>(s, plan.x),
         pointer_to<Index>(s, plan.indices), s.template operand<std::uint8_t>(plan.y), plan.outer,
         plan.size, plan.count, plan.bytes);
}

template <class Form, class Index, class S>
void gather_halves(S& s, const GatherHalvesPlan& plan) {
  s.call(external::GatherHalves<Form, Index>{}, pointer_to<std::uint16_t>(s, plan.x),
         pointer_to<Index>(s, plan.indices), s.template operand<float>(plan.y), plan.outer,
         plan.size, plan.count, plan.inner);
}

template <class Form, class S>
void gather_halves(S& s, const GatherHalvesPlan& plan) {
  if (plan.wide) return gather_halves<Form, std::int64_t>(s, plan);
  gather_halves<Form, std::int32_t>(s, plan);
}

template <class Index, class S>
void gather_elements(S& s, const GatherElementsPlan& plan) {
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    s.call(external::GatherRow<Index>{}, pointer_to<std::uint8_t>(s, plan.x) + at[0], plan.x_step,
           plan.axis_step, plan.size, pointer_to<Index>(s, plan.indices) + at[1], plan.index_step,
           s.template operand<std::uint8_t>(plan.y) + at[2], plan.y_step, plan.bytes, rows.n);
  });
}

}  // namespace select_detail

template <class S>
void compare_kernel(S& s, const ComparePlan& plan) {
  if (plan.type == DType::kS64) return select_detail::compare<std::int64_t>(s, plan);
  if (plan.type == DType::kS32) return select_detail::compare<std::int32_t>(s, plan);
  if (plan.type == DType::kF32) return select_detail::compare<float>(s, plan);
  select_detail::compare<std::uint8_t>(s, plan);
}

template <class S>
void where_kernel(S& s, const WherePlan& plan) {
  if (plan.type == DType::kS64) return select_detail::choose<std::int64_t>(s, plan);
  if (plan.type == DType::kS32) return select_detail::choose<std::int32_t>(s, plan);
  if (plan.type == DType::kF32) return select_detail::choose<float>(s, plan);
  if (plan.type == DType::kU16) return select_detail::choose<std::uint16_t>(s, plan);
  if (plan.type == DType::kS16) return select_detail::choose<std::int16_t>(s, plan);
  select_detail::choose<std::uint8_t>(s, plan);
}

template <class S>
void gather_kernel(S& s, const GatherPlan& plan) {
  if (plan.wide) return select_detail::gather<std::int64_t>(s, plan);
  select_detail::gather<std::int32_t>(s, plan);
}

template <class S>
void gather_halves_kernel(S& s, const GatherHalvesPlan& plan) {
  if (plan.type == DType::kF16) return select_detail::gather_halves<rt::WidenHalf>(s, plan);
  select_detail::gather_halves<rt::WidenBfloat>(s, plan);
}

template <class S>
void gather_elements_kernel(S& s, const GatherElementsPlan& plan) {
  if (plan.wide) return select_detail::gather_elements<std::int64_t>(s, plan);
  select_detail::gather_elements<std::int32_t>(s, plan);
}

}  // namespace etch
