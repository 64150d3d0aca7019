// Descriptors of the functions of runtime/etch_word_sums.h; see templates/external.h. Of x all
// positions that the geometry names count, whether a stride skips them or not.
#pragma once

#include <string>

#include "runtime/etch_word_sums.h"
#include "templates/external.h"

namespace etch {

ETCH_RUNTIME_NAME(std::uint32_t, "uint32_t");
ETCH_RUNTIME_NAME(std::uint64_t, "uint64_t");

namespace rt {
template <class... Each>
std::string listed(const Each&... each) {
  std::string out;
  for (const std::string& text : {std::string(each)...})
    out.append(out.empty() ? "{" : ", ").append(text);
  return out.append("}");
}
inline std::string text_of(const WordLimits& y) {
  return listed(std::to_string(y.zero), std::to_string(y.low), std::to_string(y.high));
}
template <class Rest>
std::string text_of(const WordTerm<Rest>& t) {
  return listed(std::to_string(t.zero), std::to_string(t.factor), std::to_string(t.part) + "u");
}
template <class Rest>
std::string text_of(const WordSum<Rest>& s) {
  return std::string("rt::WordSum<")
      .append(RuntimeName<Rest>::kText)
      .append(">")
      .append(listed(text_of(s.a), text_of(s.b), std::to_string(s.unit) + "u",
                     std::to_string(s.shift), text_of(s.y)));
}
inline std::string text_of(const WordProduct& p) {
  return "rt::WordProduct" + listed(std::to_string(p.a_zero), std::to_string(p.b_zero),
                                    std::to_string(p.high) + "u", std::to_string(p.low) + "u",
                                    std::to_string(p.shift), text_of(p.y));
}
inline std::string text_of(const WordMean& m) {
  return "rt::WordMean" + listed(std::to_string(m.x_zero), std::to_string(m.least),
                                 std::to_string(m.counts), std::to_string(m.shift),
                                 std::to_string(m.part) + "u", std::to_string(m.unit) + "u",
                                 text_of(m.y));
}
}  // namespace rt

namespace external {

template <class T, class Rest>
struct SumWords : RuntimeFunction {
  SumWords() : RuntimeFunction("sum_words", "etch_word_sums.h", FloatUse::kNone) {}
  void operator()(const rt::WordSum<Rest>& s, const T* a, std::ptrdiff_t a_step, const T* b,
                  std::ptrdiff_t b_step, T* y, std::ptrdiff_t n) const {
    rt::sum_words(s, a, a_step, b, b_step, y, n);
  }
  auto spans(const rt::WordSum<Rest>&, const T* a, std::ptrdiff_t a_step, const T* b,
             std::ptrdiff_t b_step, T* y, std::ptrdiff_t n) const {
    return spans_of(span(a, {{n, a_step}}), span(b, {{n, b_step}}), span(y, {}, n));
  }
};

template <class T>
struct MultiplyWords : RuntimeFunction {
  MultiplyWords() : RuntimeFunction("multiply_words", "etch_word_sums.h", FloatUse::kNone) {}
  void operator()(const rt::WordProduct& s, const T* a, std::ptrdiff_t a_step, const T* b,
                  std::ptrdiff_t b_step, T* y, std::ptrdiff_t n) const {
    rt::multiply_words(s, a, a_step, b, b_step, y, n);
  }
  auto spans(const rt::WordProduct&, const T* a, std::ptrdiff_t a_step, const T* b,
             std::ptrdiff_t b_step, T* y, std::ptrdiff_t n) const {
    return spans_of(span(a, {{n, a_step}}), span(b, {{n, b_step}}), span(y, {}, n));
  }
};

template <class T, class Rest>
struct RescaleWords : RuntimeFunction {
  RescaleWords() : RuntimeFunction("rescale_words", "etch_word_sums.h", FloatUse::kNone) {}
  void operator()(const rt::WordSum<Rest>& s, const T* x, std::ptrdiff_t step, T* y,
                  std::ptrdiff_t n) const {
    rt::rescale_words(s, x, step, y, n);
  }
  auto spans(const rt::WordSum<Rest>&, const T* x, std::ptrdiff_t step, T* y,
             std::ptrdiff_t n) const {
    return spans_of(span(x, {{n, step}}), span(y, {}, n));
  }
};

template <class T>
Span pooled_from(const rt::PoolShape& s, const T* x) {
  return span(x, {{s.batch, s.x_image},
                  {s.channels, s.x_channel},
                  {s.axis[0].in, s.axis[0].x_step},
                  {s.axis[1].in, s.axis[1].x_step},
                  {s.axis[2].in, s.axis[2].x_step}});
}
template <class T>
Span pooled_to(const rt::PoolShape& s, T* y) {
  return span(y, {{s.batch, s.y_image},
                  {s.channels, s.y_channel},
                  {s.axis[0].out, s.axis[0].y_step},
                  {s.axis[1].out, s.axis[1].y_step},
                  {s.axis[2].out, s.axis[2].y_step}});
}

template <class T>
struct MaxPoolWords : RuntimeFunction {
  MaxPoolWords() : RuntimeFunction("max_pool_words", "etch_word_sums.h", FloatUse::kNone) {}
  void operator()(const rt::PoolShape& s, const T* x, T* y) const { rt::max_pool_words(s, x, y); }
  auto spans(const rt::PoolShape& s, const T* x, T* y) const {
    return spans_of(pooled_from(s, x), pooled_to(s, y));
  }
};

template <class T>
struct AveragePoolWords : RuntimeFunction {
  AveragePoolWords() : RuntimeFunction("average_pool_words", "etch_word_sums.h", FloatUse::kNone) {}
  void operator()(const rt::PoolShape& s, const rt::WordMean& m, const std::int32_t* factors,
                  const T* x, T* y) const {
    rt::average_pool_words(s, m, factors, x, y);
  }
  auto spans(const rt::PoolShape& s, const rt::WordMean& m, const std::int32_t* factors, const T* x,
             T* y) const {
    return spans_of(span(factors, {}, m.counts), pooled_from(s, x), pooled_to(s, y));
  }
};

}  // namespace external
}  // namespace etch
