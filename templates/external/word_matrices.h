// Descriptor of the function of runtime/etch_word_matrices.h; see templates/external.h.
#pragma once

#include <string>

#include "runtime/etch_word_matrices.h"
#include "templates/external/word_sums.h"

namespace etch {

namespace rt {
inline std::string text_of(const WordMatrices& m) {
  return "rt::WordMatrices" + listed(std::to_string(m.rows), std::to_string(m.depth),
                                     std::to_string(m.cols), std::to_string(m.a_row),
                                     std::to_string(m.b_row), std::to_string(m.y_row));
}
}  // namespace rt

namespace external {

template <class T>
struct MatMulWords : RuntimeFunction {
  MatMulWords() : RuntimeFunction("matmul_words", "etch_word_matrices.h", FloatUse::kNone) {}
  void operator()(const rt::WordMatrices& s, const rt::WordProduct& end, const T* a, const T* b,
                  T* y) const {
    rt::matmul_words(s, end, a, b, y);
  }
  auto spans(const rt::WordMatrices& s, const rt::WordProduct&, const T* a, const T* b,
             T* y) const {
    return spans_of(span(a, {{s.rows, s.a_row}, {s.depth, 1}}),
                    span(b, {{s.depth, s.b_row}, {s.cols, 1}}),
                    span(y, {{s.rows, s.y_row}, {s.cols, 1}}));
  }
};

}  // namespace external
}  // namespace etch
