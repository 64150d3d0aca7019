// Kernels that write at indices known at run time, and running sums and products; see
// runtime/etch_scatter.h.
#pragma once

#include "compiler/ir/dtype.h"
#include "templates/external/scatter.h"
#include "templates/kernels/arguments.h"

namespace etch {

// y = x with rows combined with those of the updates; all dense.
struct ScatterPlan {
  enum class Kind { kReplace, kAdd, kMul, kMax, kMin };
  Kind kind = Kind::kReplace;
  // Or kS32, kS64; and, which are only replaced, kU8 (all types of 8 bits), kS16 and kU16 (uint16
  // and floats of 16 bits).
  DType type = DType::kF32;
  Argument x, indices, updates;
  int y = 0;  // operand of the step
  rt::Stored y_stored{0, 0};
  int size = 1, width = 1, count = 1;  // rows of y, elements in a row, rows of updates
};

// Operands x and y, and so in the nest, which runs over the other axes, one line after the other.
struct ScanPlan {
  bool multiplies = false;
  DType type = DType::kF32;  // or kS32, kS64
  bool exclusive = false, reverse = false;
  int n = 1, x_step = 0, y_step = 0;  // along the axis
  int lines = 1;                      // side by side, at once
  RowNest rows;
};

namespace scatter_detail {

template <class Operation, class T, class S>
void call(S& s, const ScatterPlan& p) {
  s.call(external::Scatter<Operation, T>{}, pointer_to<T>(s, p.x),
         pointer_to<std::int64_t>(s, p.indices), pointer_to<T>(s, p.updates),
         s.template operand<T>(p.y), p.size, p.width, p.count);
}

template <class S>
void scatter_bytes(S& s, const ScatterPlan& p) {
  s.call(external::ScatterBytes{}, pointer_to<std::uint8_t>(s, p.x),
         p.x.stored.flip ^ p.y_stored.flip, pointer_to<std::int64_t>(s, p.indices),
         pointer_to<std::uint8_t>(s, p.updates), p.updates.stored.flip ^ p.y_stored.flip,
         s.template operand<std::uint8_t>(p.y), p.size, p.width, p.count);
}

template <class T, class S>
void scatter(S& s, const ScatterPlan& p) {
  switch (p.kind) {
    case ScatterPlan::Kind::kReplace:
      return call<rt::Replace, T>(s, p);
    case ScatterPlan::Kind::kAdd:
      return call<rt::Add, T>(s, p);
    case ScatterPlan::Kind::kMul:
      return call<rt::Mul, T>(s, p);
    case ScatterPlan::Kind::kMax:
      return call<rt::Max, T>(s, p);
    case ScatterPlan::Kind::kMin:
      return call<rt::Min, T>(s, p);
  }
}

template <class Operation, class T, class S>
void scan_lines(S& s, const ScanPlan& p) {
  walk_rows(s, p.rows, [&](const RowPlace<S>& at) {
    if (p.lines > 1) {
      s.call(external::ScanLines<Operation, T>{}, s.template operand<const T>(0) + at[0], p.x_step,
             s.template operand<T>(1) + at[1], p.y_step, p.n, p.lines, p.exclusive ? 1 : 0,
             p.reverse ? 1 : 0, p.multiplies ? 1 : 0);
      return;
    }
    s.call(external::Scan<Operation, T>{}, s.template operand<const T>(0) + at[0], p.x_step,
           s.template operand<T>(1) + at[1], p.y_step, p.n, p.exclusive ? 1 : 0, p.reverse ? 1 : 0,
           p.multiplies ? 1 : 0);
  });
}

template <class T, class S>
void scan(S& s, const ScanPlan& p) {
  if (p.multiplies) return scan_lines<rt::Mul, T>(s, p);
  scan_lines<rt::Add, T>(s, p);
}

}  // namespace scatter_detail

template <class S>
void scatter_kernel(S& s, const ScatterPlan& p) {
  if (p.type == DType::kU8) return scatter_detail::scatter_bytes(s, p);
  if (p.type == DType::kU16) return scatter_detail::call<rt::Replace, std::uint16_t>(s, p);
  if (p.type == DType::kS16) return scatter_detail::call<rt::Replace, std::int16_t>(s, p);
  if (p.type == DType::kS64) return scatter_detail::scatter<std::int64_t>(s, p);
  if (p.type == DType::kS32) return scatter_detail::scatter<std::int32_t>(s, p);
  scatter_detail::scatter<float>(s, p);
}

template <class S>
void scan_kernel(S& s, const ScanPlan& p) {
  if (p.type == DType::kS64) return scatter_detail::scan<std::int64_t>(s, p);
  if (p.type == DType::kS32) return scatter_detail::scan<std::int32_t>(s, p);
  scatter_detail::scan<float>(s, p);
}

}  // namespace etch
