// Steps for products of two matrices of 16-bit values; the plan is in
// templates/kernels/products/word_matrices.h.
#pragma once

#include "compiler/ir/geometry/matrix_product.h"
#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/products/word_matrices.h"

namespace etch {

ETCH_PLAN_STEP(WordMatricesStep, WordMatricesPlan, word_matrices_kernel, kDependent);

// y = a b, of inputs `a` and `b` of `node`.
void add_word_matrices(Lowering& lowering, const Node& node, int a, int b,
                       const MatMulGeometry& geometry, const rt::WordProduct& factors);

}  // namespace etch
