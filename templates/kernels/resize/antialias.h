// Resize with antialias along one axis: one call of the runtime for each element of the axes that
// are neither rows nor neighbours in memory; see runtime/etch_antialias.h.
#pragma once

#include <cstdint>

#include "templates/external/antialias.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Operands: x, memory where rows are turned, y. Constants: "taps", the first input of each output
// and how many there are; "weights", float32 or parts of 2^22.
struct AntialiasPlan {
  bool is_float = true;  // float32, else stored uint8
  rt::Filtered shape{};
  rt::Stored stored{};  // of x and y
  RowNest rows;         // around the calls: operands x, y
};

namespace antialias_detail {

template <class T, class Weight, class S>
void calls(S& s, const AntialiasPlan& plan) {
  const auto taps = s.template constant<const std::int32_t>("taps");
  const auto weights = s.template constant<const Weight>("weights");
  walk_rows(s, plan.rows, [&](const RowPlace<S>& at) {
    const auto x = s.template operand<const T>(0) + at[0];
    if (plan.shape.turned == 0) {
      s.call(external::FilterAxis<T, Weight>{}, x, s.template operand<T>(1) + at[1], taps, weights,
             plan.shape, plan.stored);
    } else {
      s.call(external::FilterTurnedAxis<T, Weight>{}, x, s.template operand<T>(1),
             s.template operand<T>(2) + at[1], taps, weights, plan.shape, plan.stored);
    }
  });
}

}  // namespace antialias_detail

template <class S>
void antialias_kernel(S& s, const AntialiasPlan& plan) {
  if (plan.is_float) return antialias_detail::calls<float, float>(s, plan);
  antialias_detail::calls<std::uint8_t, std::int32_t>(s, plan);
}

}  // namespace etch
