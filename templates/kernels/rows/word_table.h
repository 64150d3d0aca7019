// The kernel of functions of 16-bit values: calls of runtime/etch_word_table.h.
#pragma once

#include <cstdint>

#include "templates/external/word_table.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Operands of the nest: x, y; along a row both are dense.
struct WordTablePlan {
  bool is_unsigned = false;
  int bits = 0, steps = 0, even = 0;  // see there
  std::int64_t pieces = 1;
  Argument x, index, cubics;
  int y = 0;  // operand of the step
  RowNest rows;
};

namespace word_table_detail {

template <class T, class S>
void look_up(S& s, const WordTablePlan& plan) {
  const auto index = pointer_to<std::uint16_t>(s, plan.index);
  const auto cubics = pointer_to<std::int32_t>(s, plan.cubics);
  walk_rows(s, plan.rows, [&](const RowPlace<S>& at) {
    s.call(external::TableWords<T>{plan.pieces}, plan.bits, plan.steps, plan.even, index, cubics,
           pointer_to<T>(s, plan.x) + at[0], s.template operand<T>(plan.y) + at[1], plan.rows.n);
  });
}

}  // namespace word_table_detail

template <class S>
void word_table_kernel(S& s, const WordTablePlan& plan) {
  if (plan.is_unsigned) return word_table_detail::look_up<std::uint16_t>(s, plan);
  word_table_detail::look_up<std::int16_t>(s, plan);
}

}  // namespace etch
