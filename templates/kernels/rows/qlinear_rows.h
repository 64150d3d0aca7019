// QLinearAdd and QLinearMul with everything as arguments, row by row in the runtime.
#pragma once

#include <cstdint>

#include "templates/external/convert.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Operands of the nest: a, b, y. For sums a is the operand that is multiplied last.
struct QLinearRowsPlan {
  bool add = true;
  Argument a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero;
  int y = 0;  // operand of the step
  rt::Stored y_as{0, 0};
  rt::Range range{0, 255};
  RowNest rows;
};

template <class S>
void qlinear_rows_kernel(S& s, const QLinearRowsPlan& plan) {
  using Byte = std::uint8_t;
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    const auto call = [&](const auto& function) {
      s.call(function, pointer_to<Byte>(s, plan.a) + at[0], static_cast<int>(rows.step[0]),
             plan.a.stored, pointer_to<float>(s, plan.a_scale), pointer_to<Byte>(s, plan.a_zero),
             plan.a_zero.stored, pointer_to<Byte>(s, plan.b) + at[1],
             static_cast<int>(rows.step[1]), plan.b.stored, pointer_to<float>(s, plan.b_scale),
             pointer_to<Byte>(s, plan.b_zero), plan.b_zero.stored,
             pointer_to<float>(s, plan.c_scale), pointer_to<Byte>(s, plan.c_zero),
             plan.c_zero.stored, s.template operand<Byte>(plan.y) + at[2], plan.y_as, plan.range,
             rows.n);
    };
    if (plan.add) {
      call(external::QLinearRows<true>{});
    } else {
      call(external::QLinearRows<false>{});
    }
  });
}

}  // namespace etch
