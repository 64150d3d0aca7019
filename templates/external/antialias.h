// Descriptors of the functions of runtime/etch_antialias.h; see templates/external.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "compiler/base/check.h"
#include "runtime/etch_antialias.h"
#include "templates/external.h"

namespace etch::external {

// The inputs of all outputs together, and how many weights there are.
struct FilterReach {
  std::int64_t first = 0, end = 0, weights = 0;
};

inline FilterReach reach_of(const std::int32_t* taps, std::int64_t outputs) {
  ETCH_CHECK(taps != nullptr);
  FilterReach out{std::numeric_limits<std::int32_t>::max(), 0, 0};
  for (std::int64_t i = 0; i < outputs; ++i) {
    const std::int64_t first = taps[2 * i], count = taps[2 * i + 1];
    out.first = std::min(out.first, first);
    out.end = std::max(out.end, first + count);
    out.weights += count;
  }
  return out;
}

template <class T>
Span span_of_filtered(const T* x, const FilterReach& reach, const rt::Filtered& f) {
  const Span from = span(x, {{f.rows, f.x_row}, {reach.end - reach.first, f.x_step}}, f.inner);
  const std::int64_t start = reach.first * f.x_step * static_cast<std::int64_t>(sizeof(T));
  return from.bytes() == 0 ? from : Span{from.begin + start, from.end + start};
}

template <class T, class Weight>
struct FilterAxis : RuntimeFunction {
  FilterAxis()
      : RuntimeFunction(instance_name<FilterAxis, T, Weight>("filter_axis"), "etch_antialias.h",
                        floats_among<T, Weight>()) {}
  void operator()(const T* x, T* y, const std::int32_t* taps, const Weight* weights,
                  const rt::Filtered& f, rt::Stored as) const {
    rt::filter_axis<T, Weight>(x, y, taps, weights, f, as);
  }
  auto spans(const T* x, T* y, const std::int32_t* taps, const Weight* weights,
             const rt::Filtered& f, rt::Stored) const {
    const FilterReach reach = reach_of(taps, f.out);
    return spans_of(span_of_filtered(x, reach, f),
                    span(y, {{f.rows, f.y_row}, {f.out, f.y_step}}, f.inner),
                    span(taps, {}, std::int64_t{2} * f.out), span(weights, {}, reach.weights));
  }
};

template <class T, class Weight>
struct FilterTurnedAxis : RuntimeFunction {
  FilterTurnedAxis()
      : RuntimeFunction(instance_name<FilterTurnedAxis, T, Weight>("filter_turned_axis"),
                        "etch_antialias.h", floats_among<T, Weight>()) {}
  void operator()(const T* x, T* memory, T* y, const std::int32_t* taps, const Weight* weights,
                  const rt::Filtered& f, rt::Stored as) const {
    rt::filter_turned_axis<T, Weight>(x, memory, y, taps, weights, f, as);
  }
  auto spans(const T* x, T* memory, T* y, const std::int32_t* taps, const Weight* weights,
             const rt::Filtered& f, rt::Stored) const {
    const FilterReach reach = reach_of(taps, f.out);
    return spans_of(span_of_filtered(x, reach, f), span(memory, {}, rt::memory_of_turned(f)),
                    span(y, {{f.rows, f.y_row}, {f.out, f.y_step}}, f.inner),
                    span(taps, {}, std::int64_t{2} * f.out), span(weights, {}, reach.weights));
  }
};

}  // namespace etch::external
