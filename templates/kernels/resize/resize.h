// Linear and cubic Resize: one call of the runtime for each element of the axes that are copied;
// see runtime/etch_resize.h.
#pragma once

#include <cstdint>

#include "templates/external/move.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Operands: x, y. Constants: "positions", two (cubic: four) per output position and loop, and
// "weights", as many floats, or parts of 1024 in fixed point.
struct ResizePlan {
  bool is_float = true;      // float32, else stored uint8
  bool fixed_point = false;  // of 8 bits
  bool divides = false;      // cubic: weights are parts of other totals than 1
  rt::Grid grid{};
  float outside = 0;     // of float32
  int outside_byte = 0;  // as stored
  rt::Stored stored{};   // of x and y
  RowNest rows;          // around the calls: operands x, y; rows of one element
};

namespace resize_detail {

template <class T, class Weight, class S, class Outside>
void calls(S& s, const ResizePlan& plan, Outside outside) {
  const auto positions = s.template constant<const std::int32_t>("positions");
  const auto weights = s.template constant<const Weight>("weights");
  walk_rows(s, plan.rows, [&](const RowPlace<S>& at) {
    s.call(external::ResizeLinear<T, Weight>{}, s.template operand<const T>(0) + at[0],
           s.template operand<T>(1) + at[1], positions, weights, plan.grid, outside, plan.stored);
  });
}

}  // namespace resize_detail

template <class S>
void resize_kernel(S& s, const ResizePlan& plan) {
  if (plan.is_float) {
    resize_detail::calls<float, float>(s, plan, plan.outside);
  } else if (plan.fixed_point) {
    resize_detail::calls<std::uint8_t, std::int32_t>(s, plan, plan.outside_byte);
  } else {
    resize_detail::calls<std::uint8_t, float>(s, plan, plan.outside_byte);
  }
}

namespace resize_detail {

template <bool divides, class S>
void cubic_calls(S& s, const ResizePlan& plan) {
  const auto positions = s.template constant<const std::int32_t>("positions");
  const auto weights = s.template constant<const float>("weights");
  walk_rows(s, plan.rows, [&](const RowPlace<S>& at) {
    s.call(external::ResizeCubic<divides>{}, s.template operand<const float>(0) + at[0],
           s.template operand<float>(1) + at[1], positions, weights, plan.grid, plan.outside);
  });
}

}  // namespace resize_detail

// The first loop of the grid is not used; the totals of the rows follow the weights.
template <class S>
void cubic_resize_kernel(S& s, const ResizePlan& plan) {
  if (plan.divides) return resize_detail::cubic_calls<true>(s, plan);
  resize_detail::cubic_calls<false>(s, plan);
}

}  // namespace etch
