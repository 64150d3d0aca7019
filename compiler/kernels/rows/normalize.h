// Softmax and its logarithm along any axis, and normalization to mean 0 and variance 1.
#pragma once

#include <cstdint>

#include "compiler/lower/lowering.h"
#include "runtime/etch_normalize.h"

namespace etch {

// Element k of row (o, i) is element (o * size + k) * inner + i of the row-major tensor. Several
// trailing axes may count as one: then inner is 1.
struct AxisRows {
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;
};

enum class SoftmaxResult { kShare, kLogarithm };

// Input 0 of `node` to output 0.
void add_softmax_rows(Lowering& lowering, const Node& node, const AxisRows& rows,
                      SoftmaxResult result);

// Local response normalization of input 0 along its channels.
void add_channel_normalization(Lowering& lowering, const Node& node, const rt::LrnShape& lrn);

// Input 0 over its spatial dimensions, with the factors and addends [C] of inputs 1 and 2.
void add_plane_normalization(Lowering& lowering, const Node& node, float epsilon);

// Input 0 in `rows` of trailing dimensions, with the factors of input 1 and the addends of input 2
// (which may be omitted), one per element of a row.
void add_row_normalization(Lowering& lowering, const Node& node, const AxisRows& rows,
                           float epsilon);

}  // namespace etch
