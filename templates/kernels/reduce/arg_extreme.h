// The position of the largest or smallest element along an axis: calls of runtime/etch_rows.h.
#pragma once

#include <cstdint>

#include "compiler/ir/dtype.h"
#include "runtime/etch_rows.h"
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
void rows(S& s, const ArgExtremePlan& p, const char* name) {
  const std::int64_t read =
      row_span<T>(p.rows, 0) + (p.count - 1) * p.step * static_cast<std::int64_t>(sizeof(T));
  walk_rows(s, p.rows, [&](const RowPlace<S>& at) {
    s.runtime(
        name, [](auto... all) { rt::arg_extreme<Better, T>(all...); },
        {read, row_span<std::int64_t>(p.rows, 1)}, s.template operand<const T>(0) + at[0],
        static_cast<int>(p.rows.step[0]), p.stored, p.count, static_cast<int>(p.step),
        p.last_of_equals, s.template operand<std::int64_t>(1) + at[1], p.rows.n);
  });
}

// Names say the type, by which --strict-integer knows what is done in integers.
template <class T, class S>
void rows(S& s, const ArgExtremePlan& p, const char* largest, const char* smallest) {
  if (p.largest) return rows<rt::Above, T>(s, p, largest);
  rows<rt::Below, T>(s, p, smallest);
}

}  // namespace arg_extreme_detail

template <class S>
void arg_extreme_kernel(S& s, const ArgExtremePlan& p) {
  using arg_extreme_detail::rows;
  switch (p.type) {
    case DType::kF32:
      return rows<float>(s, p, "arg_extreme<rt::Above, float>", "arg_extreme<rt::Below, float>");
    case DType::kS32:
      return rows<std::int32_t>(s, p, "arg_extreme<rt::Above, int32_t>",
                                "arg_extreme<rt::Below, int32_t>");
    case DType::kS64:
      return rows<std::int64_t>(s, p, "arg_extreme<rt::Above, int64_t>",
                                "arg_extreme<rt::Below, int64_t>");
    default:
      return rows<std::uint8_t>(s, p, "arg_extreme<rt::Above, uint8_t>",
                                "arg_extreme<rt::Below, uint8_t>");
  }
}

}  // namespace etch
