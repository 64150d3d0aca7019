// The kernel of products of two matrices of 16-bit values: calls of runtime/etch_word_matrices.h.
#pragma once

#include <cstdint>

#include "templates/external/word_matrices.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Operands of the nest: a, b, y; one iteration per pair of matrices.
struct WordMatricesPlan {
  bool is_unsigned = false;
  rt::WordMatrices shape{};
  rt::WordProduct factors{};
  Argument a, b;
  int y = 0;         // operand of the step
  RowNest matrices;  // n = 1
};

template <class T, class S>
void multiply_matrices(S& s, const WordMatricesPlan& plan) {
  walk_rows(s, plan.matrices, [&](const RowPlace<S>& at) {
    s.call(external::MatMulWords<T>{}, plan.shape, plan.factors, pointer_to<T>(s, plan.a) + at[0],
           pointer_to<T>(s, plan.b) + at[1], s.template operand<T>(plan.y) + at[2]);
  });
}

template <class S>
void word_matrices_kernel(S& s, const WordMatricesPlan& plan) {
  if (plan.is_unsigned) return multiply_matrices<std::uint16_t>(s, plan);
  multiply_matrices<std::int16_t>(s, plan);
}

}  // namespace etch
