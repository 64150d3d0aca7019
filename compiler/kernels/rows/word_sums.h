// Steps for sums, products and rescaling of 16-bit values and for windows of them; the plans are in
// templates/kernels/rows/word_sums.h.
#pragma once

#include "compiler/ir/geometry/pooling.h"
#include "compiler/lower/lowering.h"
#include "compiler/program/certificate.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/rows/word_sums.h"

namespace etch {

ETCH_PLAN_STEP(WordSumStep, WordSumPlan, word_sum_kernel, kDivisible);
ETCH_PLAN_STEP(WordMulStep, WordMulPlan, word_mul_kernel, kDivisible);
ETCH_PLAN_STEP(WordPoolStep, WordPoolPlan, word_pool_kernel, kDependent);

// y = a, or a + b with broadcasting, of inputs `a` and `b` of `node`; b is -1 for one term. The
// plan has its factors.
void add_word_sum(Lowering& lowering, const Node& node, int a, int b, WordSumPlan plan);

// y = a * b with broadcasting, of inputs `a` and `b` of `node`. The plan has its factors.
void add_word_mul(Lowering& lowering, const Node& node, int a, int b, WordMulPlan plan);

// What evidence says of sums of `depth` products of values of `type`.
WordPairCertificate pair_certificate(const rt::WordProduct& factors, std::int64_t depth,
                                     DType type);

// Windows of input 0; the means, where the plan has them, by `factors`.
void add_word_pool(Lowering& lowering, const Node& node, const PoolGeometry& geometry,
                   WordPoolPlan plan, const std::vector<std::int32_t>& factors);

}  // namespace etch
