// QLinearAveragePool16, QLinearGlobalAveragePool16 and QLinearReduceMean16 (org.etch): the mean of
// each window of a 16-bit image, or over axes of a tensor, in units of the output, which
// passes/fuse_qdq makes of DequantizeLinear, AveragePool, GlobalAveragePool or ReduceMean, and
// QuantizeLinear.
//
//   Inputs x, x_scale, x_zero_point, y_scale, y_zero_point; x and y of one type, int16 or uint16;
//   all but x constant. Attributes of AveragePool since opset 19; QLinearReduceMean16 has axes,
//   side by side except for those of one element, and keepdims.
//
//   y = limits of rne( sum of (x - x_zero) * x_scale / (count * y_scale) ) + y_zero
// of real numbers: one rounding, ties to even. count as in AveragePool; a window without elements
// is 0. Windows of more than 32767 elements and extreme ratios of scales are refused.
#pragma once

#include <optional>

#include "compiler/ops/average_pool/op.h"
#include "compiler/ops/scalar_quantization.h"
#include "compiler/ops/word_ratio.h"

namespace etch {

struct QLinearPool16 {
  DType dtype = DType::kS16;
  PoolGeometry geometry;  // of axes: one window over the rows of [before, axes, after]
  Shape shape;            // of y
  bool of_axes = false;
  CountPadding count_padding = CountPadding::kNo;
  ScalarQuantization x, y;
};

// [before, axes, after], channels last, as [1, before, axes] where nothing is after them; nothing
// where another axis of several elements is between them, or without elements.
std::optional<PoolGeometry> planes_of_axes(const Shape& shape, const std::vector<bool>& goes);

// What the kernel takes: one factor in units of 2^-bits per number of elements from `least` on.
struct MeanFactors16 {
  ExactRatios exact;
  int least = 1, bits = 0;
  std::vector<std::int32_t> factors;
};
std::optional<MeanFactors16> mean_factors16(const QLinearPool16& pool);

std::vector<Tensor> reference_qlinear_pool16(const Node& node,
                                             std::span<const Tensor* const> inputs);
void lower_qlinear_pool16(Lowering& lowering, const Node& node);

}  // namespace etch
