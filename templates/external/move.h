// Descriptors of the functions of runtime/etch_move.h and etch_resize.h; see templates/external.h.
// Positions that come from a table are known when compiling: spans() reads them.
#pragma once

#include <algorithm>

#include "compiler/base/check.h"
#include "runtime/etch_move.h"
#include "runtime/etch_resize.h"
#include "runtime/etch_transpose.h"
#include "runtime/etch_transpose_elements.h"
#include "templates/external.h"

namespace etch::external {

struct CopySpread : RuntimeFunction {
  CopySpread() : RuntimeFunction("copy_spread", "etch_move.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* x, std::ptrdiff_t x_step, std::uint8_t* y,
                  std::ptrdiff_t y_step, int size, int n) const {
    rt::copy_spread(x, x_step, y, y_step, size, n);
  }
  auto spans(const std::uint8_t* x, std::ptrdiff_t x_step, std::uint8_t* y, std::ptrdiff_t y_step,
             int size, int n) const {
    return spans_of(span(x, {{n, x_step}}, size), span(y, {{n, y_step}}, size));
  }
};

struct CopyRun : RuntimeFunction {
  CopyRun() : RuntimeFunction("copy_run", "etch_move.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* x, std::uint8_t* y, int n) const { rt::copy_run(x, y, n); }
  auto spans(const std::uint8_t* x, std::uint8_t* y, int n) const {
    return spans_of(span(x, {}, n), span(y, {}, n));
  }
};

struct FlipRun : RuntimeFunction {
  FlipRun() : RuntimeFunction("flip_run", "etch_move.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* x, std::uint8_t* y, int n, int flip) const {
    rt::flip_run(x, y, n, flip);
  }
  auto spans(const std::uint8_t* x, std::uint8_t* y, int n, int) const {
    return spans_of(span(x, {}, n), span(y, {}, n));
  }
};

struct CopyBlock : RuntimeFunction {
  CopyBlock() : RuntimeFunction("copy_block", "etch_move.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* x, std::uint8_t* y, int n) const { rt::copy_block(x, y, n); }
  auto spans(const std::uint8_t* x, std::uint8_t* y, int n) const {
    return spans_of(span(x, {}, n), span(y, {}, n));
  }
};

struct RepeatElement : RuntimeFunction {
  RepeatElement() : RuntimeFunction("repeat", "etch_move.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* x, std::uint8_t* y, int size, int n) const {
    rt::repeat(x, y, size, n);
  }
  auto spans(const std::uint8_t* x, std::uint8_t* y, int size, int n) const {
    return spans_of(span(x, {}, size), span(y, {}, std::int64_t{size} * n));
  }
};

struct RepeatEach : RuntimeFunction {
  RepeatEach() : RuntimeFunction("repeat_each", "etch_move.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* x, std::uint8_t* y, int size, int times, int n) const {
    rt::repeat_each(x, y, size, times, n);
  }
  auto spans(const std::uint8_t* x, std::uint8_t* y, int size, int times, int n) const {
    const std::int64_t bytes = std::int64_t{size} * n;
    return spans_of(span(x, {}, bytes), span(y, {}, bytes * times));
  }
};

// Rows of x become columns of y.
struct TransposeBytes : RuntimeFunction {
  TransposeBytes() : RuntimeFunction("transpose_bytes", "etch_transpose.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* x, std::ptrdiff_t x_row, std::uint8_t* y,
                  std::ptrdiff_t y_row, int rows, int columns, int flip) const {
    rt::transpose_bytes(x, x_row, y, y_row, rows, columns, flip);
  }
  auto spans(const std::uint8_t* x, std::ptrdiff_t x_row, std::uint8_t* y, std::ptrdiff_t y_row,
             int rows, int columns, int) const {
    return spans_of(span(x, {{rows, x_row}}, columns), span(y, {{columns, y_row}}, rows));
  }
};

// The same in elements of `size` bytes.
template <int size>
struct TransposeElements : RuntimeFunction {
  static_assert(size == 2 || size == 4 || size == 8);
  TransposeElements()
      : RuntimeFunction(size == 2   ? "transpose_pairs"
                        : size == 4 ? "transpose_words"
                                    : "transpose_longs",
                        size == 4 ? "etch_transpose.h" : "etch_transpose_elements.h",
                        FloatUse::kNone) {}
  void operator()(const std::uint8_t* x, std::ptrdiff_t x_row, std::uint8_t* y,
                  std::ptrdiff_t y_row, int rows, int columns) const {
    if constexpr (size == 2) rt::transpose_pairs(x, x_row, y, y_row, rows, columns);
    if constexpr (size == 4) rt::transpose_words(x, x_row, y, y_row, rows, columns);
    if constexpr (size == 8) rt::transpose_longs(x, x_row, y, y_row, rows, columns);
  }
  auto spans(const std::uint8_t* x, std::ptrdiff_t x_row, std::uint8_t* y, std::ptrdiff_t y_row,
             int rows, int columns) const {
    return spans_of(span(x, {{rows, x_row}}, std::int64_t{size} * columns),
                    span(y, {{columns, y_row}}, std::int64_t{size} * rows));
  }
};

struct LookupSpread : RuntimeFunction {
  LookupSpread() : RuntimeFunction("lookup_spread", "etch_move.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* x, std::ptrdiff_t x_step, std::uint8_t* y,
                  std::ptrdiff_t y_step, const std::uint8_t* table, int n) const {
    rt::lookup_spread(x, x_step, y, y_step, table, n);
  }
  auto spans(const std::uint8_t* x, std::ptrdiff_t x_step, std::uint8_t* y, std::ptrdiff_t y_step,
             const std::uint8_t* table, int n) const {
    return spans_of(span(x, {{n, x_step}}), span(y, {{n, y_step}}), span(table, {}, 256));
  }
};

struct Pick : RuntimeFunction {
  Pick() : RuntimeFunction("pick", "etch_move.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* x, std::uint8_t* y, const std::int32_t* table,
                  const rt::Picked& picked) const {
    rt::pick(x, y, table, picked);
  }
  auto spans(const std::uint8_t*, std::uint8_t* y, const std::int32_t* table,
             const rt::Picked& p) const {
    ETCH_CHECK(table != nullptr);
    Span from{0, p.size};
    std::int64_t entries = 0;
    for (const std::int32_t n : p.n) {
      const auto [least, greatest] = std::minmax_element(table + entries, table + entries + n);
      from.begin += *least;
      from.end += *greatest;
      entries += n;
    }
    return spans_of(from,
                    span(y,
                         {{p.n[0], p.y_step[0]},
                          {p.n[1], p.y_step[1]},
                          {p.n[2], p.y_step[2]},
                          {p.n[3], p.y_step[3]}},
                         p.size),
                    span(table, {}, entries));
  }
};

template <class T>
Span span_of_grid(T* y, const rt::Grid& g) {
  return span(y,
              {{g.n[0], g.y_step[0]}, {g.n[1], g.y_step[1]}, {g.n[2], g.y_step[2]}, {g.inner, 1}});
}

// What a row of the grid reads from the greatest positions of the loops [first, 3) on, `neighbours`
// positions for each place.
template <class T>
Span span_of_positions(const T* x, const std::int32_t* positions, const rt::Grid& g, int first,
                       int neighbours) {
  ETCH_CHECK(positions != nullptr);
  std::int64_t farthest = 0;
  for (int loop = first; loop < 3; ++loop) {
    const std::int64_t n = std::int64_t{neighbours} * g.n[loop];
    farthest += std::max(0, *std::max_element(positions, positions + n));
    positions += n;
  }
  return span(x, {{2, farthest}, {g.inner, 1}});
}

template <class T, class Weight>
struct ResizeLinear : RuntimeFunction {
  ResizeLinear()
      : RuntimeFunction(instance_name<ResizeLinear, T, Weight>("resize_linear"), "etch_resize.h",
                        floats_among<T, Weight>()) {}
  template <class Outside>
  void operator()(const T* x, T* y, const std::int32_t* positions, const Weight* weights,
                  const rt::Grid& grid, Outside outside, rt::Stored as) const {
    rt::resize_linear<T, Weight>(x, y, positions, weights, grid, static_cast<T>(outside), as);
  }
  template <class Outside>
  auto spans(const T* x, T* y, const std::int32_t* positions, const Weight* weights,
             const rt::Grid& g, Outside, rt::Stored) const {
    const std::int64_t entries = std::int64_t{2} * g.n[0] + 2 * g.n[1] + 2 * g.n[2];
    return spans_of(span_of_positions(x, positions, g, 0, 2), span_of_grid(y, g),
                    span(positions, {}, entries), span(weights, {}, entries));
  }
};

template <bool divides>
struct ResizeCubic : RuntimeFunction {
  ResizeCubic()
      : RuntimeFunction(divides ? "resize_cubic<true>" : "resize_cubic<false>", "etch_resize.h",
                        FloatUse::kUsed) {}
  void operator()(const float* x, float* y, const std::int32_t* positions, const float* weights,
                  const rt::Grid& grid, float outside) const {
    rt::resize_cubic<divides>(x, y, positions, weights, grid, outside);
  }
  auto spans(const float* x, float* y, const std::int32_t* positions, const float* weights,
             const rt::Grid& g, float) const {
    const std::int64_t entries = std::int64_t{4} * g.n[1] + 4 * g.n[2];
    return spans_of(span_of_positions(x, positions, g, 1, 4),
                    span(y, {{g.n[1], g.y_step[1]}, {g.n[2], g.y_step[2]}, {g.inner, 1}}),
                    span(positions, {}, entries), span(weights, {}, entries + g.n[1]));
  }
};

}  // namespace etch::external
