// What the operators that multiply by constant weights share when they describe their problem:
// views in the kernels' axes, weights without zero points in K order, factors per channel, and the
// halo that would spare border code.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/layout_rule.h"
#include "compiler/ir/quantization.h"
#include "compiler/kernels/conv/problem.h"
#include "compiler/lower/lowering.h"

namespace etch {

// The view with its dimensions in the order N, C, spatial...
View channels_first(const View& view, ConvLayout layout);

// The memory order that the convolution kernels want for a tensor of `rank` dimensions.
Order conv_order(ConvLayout layout, int rank);

// w - w_zero_point in ConvProblem's order. Forward: w is [M, C/group, k...]; transposed: [C,
// M/group, k...]. `zero_point` has 1 or M entries.
std::vector<int> centred_weights(const ConvGeometry& geometry, const Tensor& w,
                                 const std::vector<int>& zero_point);

// Where kernels in assembly copy rows, and so want no halo, they do not do it for all weights:
// depthwise ones have to be int8, others within a range of 8 bits.
void keep_halo_of_wide_weights(HaloWish& wish, const ConvGeometry& geometry, const Tensor& w,
                               const std::vector<int>& zero_point);

// B as int32 [M], zeros when the input is absent.
std::vector<std::int32_t> bias_or_zero(const Lowering& lowering, const Node& node, int input,
                                       std::int64_t channels);

// One factor per output channel from the factors of the weights (1 or M entries).
std::vector<float> per_channel(const std::vector<float>& scale, std::int64_t channels);

// A product of a [rows, depth] matrix with constant weights as a convolution over one axis.
// `x` and `y` are row-major views of `rows` times depth and columns (leading dimensions merged).
ConvProblem matrix_problem(const View& x, const View& y, std::int64_t rows, std::int64_t depth,
                           std::int64_t columns);

// The halo that spares a convolution border code; nothing where it would cost too much.
std::optional<HaloWish> conv_halo(const ConvGeometry& geometry, int stored_zero_point);

}  // namespace etch
