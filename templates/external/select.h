// Descriptors of the functions of runtime/etch_select.h and etch_top_k.h; see
// templates/external.h. Whatever the indices are, they are limited to the axis.
#pragma once

#include "runtime/etch_select.h"
#include "runtime/etch_top_k.h"
#include "templates/external.h"
#include "templates/external/rows.h"

namespace etch {

#define ETCH_OPERATION(id) ETCH_RUNTIME_NAME(rt::id, "rt::" #id)
ETCH_OPERATION(Equal);
ETCH_OPERATION(Greater);
ETCH_OPERATION(GreaterOrEqual);
ETCH_OPERATION(And);
ETCH_OPERATION(Or);
ETCH_OPERATION(Xor);
#undef ETCH_OPERATION

namespace external {

template <class Operation, class T>
struct Compare : RuntimeFunction {
  Compare()
      : RuntimeFunction(instance_name<Compare, Operation>("compare"), "etch_select.h",
                        floats_among<T>()) {}
  void operator()(const T* a, std::ptrdiff_t a_step, rt::Stored a_as, const T* b,
                  std::ptrdiff_t b_step, rt::Stored b_as, std::uint8_t* y, std::ptrdiff_t n) const {
    rt::compare<Operation>(a, a_step, a_as, b, b_step, b_as, y, n);
  }
  auto spans(const T* a, std::ptrdiff_t a_step, rt::Stored, const T* b, std::ptrdiff_t b_step,
             rt::Stored, std::uint8_t* y, std::ptrdiff_t n) const {
    return spans_of(span(a, {{n, a_step}}), span(b, {{n, b_step}}), span(y, {}, n));
  }
};

template <class T>
struct Choose : RuntimeFunction {
  Choose() : RuntimeFunction("choose", "etch_select.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* condition, std::ptrdiff_t step, const T* a,
                  std::ptrdiff_t a_step, rt::Stored a_as, const T* b, std::ptrdiff_t b_step,
                  rt::Stored b_as, T* y, rt::Stored y_as, std::ptrdiff_t n) const {
    rt::choose(condition, step, a, a_step, a_as, b, b_step, b_as, y, y_as, n);
  }
  auto spans(const std::uint8_t* condition, std::ptrdiff_t step, const T* a, std::ptrdiff_t a_step,
             rt::Stored, const T* b, std::ptrdiff_t b_step, rt::Stored, T* y, rt::Stored,
             std::ptrdiff_t n) const {
    return spans_of(span(condition, {{n, step}}), span(a, {{n, a_step}}), span(b, {{n, b_step}}),
                    span(y, {}, n));
  }
};

template <class Index>
struct Gather : RuntimeFunction {
  Gather() : RuntimeFunction("gather", "etch_select.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* x, const Index* indices, std::uint8_t* y, int outer, int size,
                  int count, int bytes) const {
    rt::gather(x, indices, y, outer, size, count, bytes);
  }
  auto spans(const std::uint8_t* x, const Index* indices, std::uint8_t* y, int outer, int size,
             int count, int bytes) const {
    const std::int64_t slices = std::int64_t{outer} * bytes;
    return spans_of(span(x, {}, slices * size), span(indices, {}, count),
                    span(y, {}, slices * count));
  }
};

template <class Index>
struct GatherRow : RuntimeFunction {
  GatherRow() : RuntimeFunction("gather_row", "etch_select.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* x, std::ptrdiff_t x_step, std::ptrdiff_t axis_step, int size,
                  const Index* indices, std::ptrdiff_t index_step, std::uint8_t* y,
                  std::ptrdiff_t y_step, int bytes, int n) const {
    rt::gather_row(x, x_step, axis_step, size, indices, index_step, y, y_step, bytes, n);
  }
  auto spans(const std::uint8_t* x, std::ptrdiff_t x_step, std::ptrdiff_t axis_step, int size,
             const Index* indices, std::ptrdiff_t index_step, std::uint8_t* y,
             std::ptrdiff_t y_step, int bytes, int n) const {
    return spans_of(span(x, {{n, x_step}, {size, axis_step}}, bytes),
                    span(indices, {{n, index_step}}), span(y, {{n, y_step}}, bytes));
  }
};

template <class Better, class T>
struct TopK : RuntimeFunction {
  TopK()
      : RuntimeFunction(instance_name<TopK, Better, T>("top_k"), "etch_top_k.h",
                        floats_among<T>()) {}
  void operator()(const T* x, std::ptrdiff_t x_step, rt::Stored x_as, int n, T* y,
                  std::ptrdiff_t y_step, rt::Stored y_as, std::int64_t* positions,
                  std::ptrdiff_t step, int k) const {
    rt::top_k<Better, T>(x, x_step, x_as, n, y, y_step, y_as, positions, step, k);
  }
  auto spans(const T* x, std::ptrdiff_t x_step, rt::Stored, int n, T* y, std::ptrdiff_t y_step,
             rt::Stored, std::int64_t* positions, std::ptrdiff_t step, int k) const {
    return spans_of(span(x, {{n, x_step}}), span(y, {{k, y_step}}), span(positions, {{k, step}}));
  }
};

}  // namespace external
}  // namespace etch
