// Descriptors of the functions of runtime/etch_scatter.h; see templates/external.h. Whatever the
// indices are, they are limited to the rows.
#pragma once

#include "runtime/etch_scatter.h"
#include "templates/external.h"
#include "templates/external/rows.h"

namespace etch {

ETCH_RUNTIME_NAME(rt::Replace, "rt::Replace");

namespace external {

// "scatter<Operation>", which lives as long as the program.
template <class Operation>
const std::string& scatter_name() {
  static const std::string kName = "scatter<" + std::string(RuntimeName<Operation>::kText) + ">";
  return kName;
}
template <class Operation>
const std::string& scan_name() {
  static const std::string kName = "scan<" + std::string(RuntimeName<Operation>::kText) + ">";
  return kName;
}

template <class Operation, class T>
struct Scatter : RuntimeFunction {
  static constexpr bool kCopies = std::is_same_v<Operation, rt::Replace>;
  Scatter()
      : RuntimeFunction(scatter_name<Operation>(), "etch_scatter.h",
                        kCopies ? FloatUse::kNone : floats_among<T>()) {}
  void operator()(const T* x, const std::int64_t* indices, const T* updates, T* y, int size,
                  int width, int count) const {
    rt::scatter<Operation>(x, indices, updates, y, size, width, count);
  }
  auto spans(const T* x, const std::int64_t* indices, const T* updates, T* y, int size, int width,
             int count) const {
    const std::int64_t row = width;
    return spans_of(span(x, {}, row * size), span(indices, {}, count),
                    span(updates, {}, row * count), span(y, {}, row * size));
  }
};

struct ScatterBytes : RuntimeFunction {
  ScatterBytes() : RuntimeFunction("scatter_bytes", "etch_scatter.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* x, int x_flip, const std::int64_t* indices,
                  const std::uint8_t* updates, int updates_flip, std::uint8_t* y, int size,
                  int width, int count) const {
    rt::scatter_bytes(x, x_flip, indices, updates, updates_flip, y, size, width, count);
  }
  auto spans(const std::uint8_t* x, int, const std::int64_t* indices, const std::uint8_t* updates,
             int, std::uint8_t* y, int size, int width, int count) const {
    const std::int64_t row = width;
    return spans_of(span(x, {}, row * size), span(indices, {}, count),
                    span(updates, {}, row * count), span(y, {}, row * size));
  }
};

template <class Operation, class T>
struct Scan : RuntimeFunction {
  Scan() : RuntimeFunction(scan_name<Operation>(), "etch_scatter.h", floats_among<T>()) {}
  void operator()(const T* x, std::ptrdiff_t x_step, T* y, std::ptrdiff_t y_step, int n,
                  int exclusive, int reverse, int first) const {
    rt::scan<Operation>(x, x_step, y, y_step, n, exclusive, reverse, first);
  }
  auto spans(const T* x, std::ptrdiff_t x_step, T* y, std::ptrdiff_t y_step, int n, int, int,
             int) const {
    return spans_of(span(x, {{n, x_step}}), span(y, {{n, y_step}}));
  }
};

template <class Operation>
const std::string& scan_lines_name() {
  static const std::string kName = "scan_lines<" + std::string(RuntimeName<Operation>::kText) + ">";
  return kName;
}

template <class Operation, class T>
struct ScanLines : RuntimeFunction {
  ScanLines()
      : RuntimeFunction(scan_lines_name<Operation>(), "etch_scatter.h", floats_among<T>()) {}
  void operator()(const T* x, std::ptrdiff_t x_step, T* y, std::ptrdiff_t y_step, int n, int lines,
                  int exclusive, int reverse, int first) const {
    rt::scan_lines<Operation>(x, x_step, y, y_step, n, lines, exclusive, reverse, first);
  }
  auto spans(const T* x, std::ptrdiff_t x_step, T* y, std::ptrdiff_t y_step, int n, int lines, int,
             int, int) const {
    return spans_of(span(x, {{n, x_step}}, lines), span(y, {{n, y_step}}, lines));
  }
};

}  // namespace external
}  // namespace etch
