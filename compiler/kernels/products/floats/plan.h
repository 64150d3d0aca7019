// The first stage of a float product: the tensors and the geometry as what its kernel is told,
// except which arguments hold them, what is added and limits: building decides.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/geometry/convolution.h"
#include "compiler/ir/geometry/matrix_product.h"
#include "compiler/program/view.h"
#include "templates/kernels/products/attention.h"
#include "templates/kernels/products/float_products.h"

namespace etch {

// A size as the shapes of kernels have it.
inline std::int32_t as_size(std::int64_t n) { return static_cast<std::int32_t>(n); }

// Whether channels are not mixed, so that a kernel runs along them.
bool is_depthwise(const ConvGeometry& g);

// Whether each output position has the input position of the same number alone.
bool is_pointwise(const ConvGeometry& g);

// x and y have the dimensions N, C, spatial...
FloatProductPlan plan_float_conv(const ConvGeometry& g, bool depthwise, const View& x,
                                 const View& y);
// Whether axis 0 has one position, which is in x: kernels of images leave the axis out. An axis of
// size 1 may also be padded.
bool has_images(const rt::FloatConvShape& shape);
// Taps of the last axis whose pixels are side by side, and all inside, become channels: one long
// loop instead of one per tap. Patches of images, as vision transformers begin with. Not for plans
// whose constants have rows or pairs per tap (16-bit sums).
void merge_taps(rt::FloatConvShape& shape);

// Of a convolution whose channels are neighbours: whether tiles of pixels wherever they are take
// less time than those of neighbours (etch_float_indirect.h). Positions in the padding become
// products with 0, so weights have to be finite.
bool takes_indirect_tiles(const FloatProductPlan& plan, int lanes);

// Of a depthwise convolution whose channels are neighbours: whether etch_float_depthwise_lines.h
// has its kernel. Weights have to be finite.
bool takes_depthwise_lines(const FloatProductPlan& plan);

// Channels as planes on both sides, whose neighbouring positions fill vectors: nothing where that
// is not possible, or where it is faster to turn x and y. Positions in the padding become products
// with 0, so weights have to be finite.
std::optional<FloatProductPlan> plan_planes(const ConvGeometry& g, const View& x, const View& y,
                                            int lanes);
// The same of a transposed convolution, whose y may have one channel; x may be turned first.
std::optional<FloatProductPlan> plan_transposed_planes(const ConvGeometry& g, const View& x,
                                                       const View& y, int lanes, bool turned);
// The memory that such plans take besides.
std::int64_t floats_of_lines(const FloatProductPlan& plan);

// Whether each output position of a transposed convolution has one tap: these are products of the
// pixels and matrices, one per position of the kernel or, where they are contiguous in y, per row
// of positions.
bool taps_stay_apart(const ConvGeometry& g);
// Of such a convolution: how many positions of the kernel on the last axis have their columns side
// by side, and the plan with so many in a matrix.
std::int64_t adjacent_taps(const ConvGeometry& g, const View& y);
FloatProductPlan plan_columns_of_taps(const ConvGeometry& g, const View& x, const View& y,
                                      std::int64_t inner);

// A one-dimensional a is one row and a one-dimensional b one column, which y does not have.
enum class RightHandSide { kMatrix, kColumn };
FloatProductPlan plan_float_matmul(const MatMulGeometry& g, const View& a, RightHandSide b,
                                   const View& y);
// Whether a is one row for each b, whose columns are dense in memory (the keys of attention, as one
// step of a decoder has them): b is not packed then, its columns are rows of a product with a.
bool has_dense_columns(const MatMulGeometry& g, const View& b, int lanes);
FloatProductPlan plan_single_row(const MatMulGeometry& g, const View& b, const View& y);
// Of a product with one column: vectors of rows, if there are enough.
void take_rows_as_lanes(FloatProductPlan& plan, int lanes);
FloatProductPlan plan_float_gemm(const GemmGeometry& g, const View& a, const View& y);

// Attention with scores of `scores`, whose product with the values is `mixed`: shapes, steps and
// loops over matrices; what the scores are made of are views of the model's order.
AttentionPlan plan_attention(const MatMulGeometry& scores, const MatMulGeometry& mixed,
                             const View& queries, const View& y);

}  // namespace etch
