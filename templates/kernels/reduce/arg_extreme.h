// The position of the largest or smallest element along an axis: calls of runtime/etch_extreme.h.
#pragma once

#include <cstdint>

#include "compiler/ir/dtype.h"
#include "templates/external/rows.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Operands x and y (int64), and so in the nest, which runs over what is not compared.
struct ArgExtremePlan {
  bool largest = true;
  int last_of_equals = 0;
  DType type = DType::kF32;  // kF32, kS32, kS64, or kU8 for both 8-bit types
  rt::Stored stored{0, 0};
  int count = 1;          // elements to compare
  std::int64_t step = 0;  // from one to the next
  RowNest rows;
};

namespace arg_extreme_detail {

template <class Better, class T, class S>
void calls(S& s, const ArgExtremePlan& p) {
  walk_rows(s, p.rows, [&](const RowPlace<S>& at) {
    s.call(external::ArgExtreme<Better, T>{}, s.template operand<const T>(0) + at[0],
           static_cast<int>(p.rows.step[0]), p.stored, p.count, static_cast<int>(p.step),
           p.last_of_equals, s.template operand<std::int64_t>(1) + at[1], p.rows.n);
  });
}

template <class T, class S>
void rows(S& s, const ArgExtremePlan& p) {
  if (p.largest) return calls<rt::Above, T>(s, p);
  calls<rt::Below, T>(s, p);
}

}  // namespace arg_extreme_detail

template <class S>
void arg_extreme_kernel(S& s, const ArgExtremePlan& p) {
  using arg_extreme_detail::rows;
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
