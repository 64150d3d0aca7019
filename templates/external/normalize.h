// Descriptors of the functions of runtime/etch_normalize.h and etch_softmax.h; see
// templates/external.h.
#pragma once

#include "runtime/etch_normalize.h"
#include "templates/external.h"

namespace etch::external {

inline Span span_of_x(const float* x, const rt::RowsShape& s) {
  return span(x, {{s.rows, s.x_next}, {s.n, s.x_step}});
}
inline Span span_of_y(const float* y, const rt::RowsShape& s) {
  return span(y, {{s.rows, s.y_next}, {s.n, s.y_step}});
}

struct LrnRows : RuntimeFunction {
  LrnRows() : RuntimeFunction("lrn_rows", "etch_normalize.h", FloatUse::kUsed) {}
  void operator()(const rt::RowsShape& s, const rt::LrnShape& lrn, const float* x, float* y) const {
    rt::lrn_rows(s, lrn, x, y);
  }
  auto spans(const rt::RowsShape& s, const rt::LrnShape&, const float* x, float* y) const {
    return spans_of(span_of_x(x, s), span_of_y(y, s));
  }
};

struct SoftmaxRows : RuntimeFunction {
  SoftmaxRows() : RuntimeFunction("softmax_rows", "etch_softmax.h", FloatUse::kUsed) {}
  void operator()(const rt::RowsShape& s, const float* x, float* y) const {
    rt::softmax_rows(s, x, y);
  }
  auto spans(const rt::RowsShape& s, const float* x, float* y) const {
    return spans_of(span_of_x(x, s), span_of_y(y, s));
  }
};

struct LogSoftmaxRows : RuntimeFunction {
  LogSoftmaxRows() : RuntimeFunction("log_softmax_rows", "etch_softmax.h", FloatUse::kUsed) {}
  void operator()(const rt::RowsShape& s, const float* x, float* y) const {
    rt::log_softmax_rows(s, x, y);
  }
  auto spans(const rt::RowsShape& s, const float* x, float* y) const {
    return spans_of(span_of_x(x, s), span_of_y(y, s));
  }
};

struct NormalizeRows : RuntimeFunction {
  NormalizeRows() : RuntimeFunction("normalize_rows", "etch_normalize.h", FloatUse::kUsed) {}
  void operator()(const rt::RowsShape& s, const rt::RowAffine& a, float epsilon, const float* x,
                  const float* factor, const float* addend, float* y) const {
    rt::normalize_rows(s, a, epsilon, x, factor, addend, y);
  }
  auto spans(const rt::RowsShape& s, const rt::RowAffine& a, float, const float* x,
             const float* factor, const float* addend, float* y) const {
    return spans_of(span_of_x(x, s), span(factor, {{s.rows, a.factor_next}, {s.n, a.factor_step}}),
                    span(addend, {{s.rows, a.addend_next}, {s.n, a.addend_step}}), span_of_y(y, s));
  }
};

}  // namespace etch::external
