// The largest or smallest elements along an axis with their positions: calls of
// runtime/etch_top_k.h.
#pragma once

#include <cstdint>

#include "compiler/ir/dtype.h"
#include "templates/external/select.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Operands x, y and positions (int64), and so in the nest, which runs over what is not compared,
// one row after the other. Steps in elements, from one to the next along the axis.
struct TopKPlan {
  bool largest = true;
  DType type = DType::kF32;  // kF32, kS32, kS64, or kU8 for both 8-bit types
  rt::Stored x_stored{0, 0}, y_stored{0, 0};
  int size = 1, k = 1;
  std::int64_t x_step = 0, y_step = 0, position_step = 0;
  RowNest rows;
};

namespace top_k_detail {

template <class Better, class T, class S>
void calls(S& s, const TopKPlan& p) {
  walk_rows(s, p.rows, [&](const RowPlace<S>& at) {
    s.call(external::TopK<Better, T>{}, s.template operand<const T>(0) + at[0],
           static_cast<int>(p.x_step), p.x_stored, p.size, s.template operand<T>(1) + at[1],
           static_cast<int>(p.y_step), p.y_stored, s.template operand<std::int64_t>(2) + at[2],
           static_cast<int>(p.position_step), p.k);
  });
}

template <class T, class S>
void rows(S& s, const TopKPlan& p) {
  if (p.largest) return calls<rt::Above, T>(s, p);
  calls<rt::Below, T>(s, p);
}

}  // namespace top_k_detail

template <class S>
void top_k_kernel(S& s, const TopKPlan& p) {
  using top_k_detail::rows;
  switch (p.type) {
    case DType::kF32:
      return rows<float>(s, p);
    case DType::kS32:
      return rows<std::int32_t>(s, p);
    case DType::kS64:
      return rows<std::int64_t>(s, p);
    default:
      return rows<std::uint8_t>(s, p);
  }
}

}  // namespace etch
