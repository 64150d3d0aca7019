// Cases of operators that compute on float32, and of some that share their steps. Their data rounds
// at every step, so that any other order of a sum, or a fused one, gives other bits.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

// Conv and ConvTranspose in one to three dimensions: groups, depthwise, padding, strides,
// dilations; weights constant or not, with and without bias.
std::vector<Case> float_convolutions(int count);
// ConvTranspose to one to three output channels per group, which planes compute.
std::vector<Case> float_decoders(int count);

// MatMul with batches and vectors, Gemm with all its attributes; right-hand sides constant or not.
std::vector<Case> float_matrices(int count);

// MatMul, and Conv with padding, of numbers whose products are halfway between two floats, less
// than half of the least one, or 0: sums that are ties, subnormal, or 0 of either sign.
std::vector<Case> float_edges(int count);

// AveragePool, PRelu, BatchNormalization, reductions, ArgMax and ArgMin in all their types.
std::vector<Case> float_rows(int count);

// Softmax and LogSoftmax along any axis, in their old and new meaning; QLinearSoftmax, LRN,
// InstanceNormalization and LayerNormalization.
std::vector<Case> normalized_rows(int count);

// Operators that write rows, followed by a convolution, which wants its input channels last.
std::vector<Case> rows_before_convolutions(int count);

// MatMulIntegerToFloat and DynamicQuantizeMatMul of com.microsoft.
std::vector<Case> integer_to_float_products(int count);

}  // namespace etch
