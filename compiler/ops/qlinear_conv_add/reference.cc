// QLinearConvAdd: one operator after the other; see op.h.
#include <algorithm>

#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_conv_add/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> reference_qlinear_conv_add(const Node& node,
                                               std::span<const Tensor* const> inputs) {
  const auto& params = params_of<QLinearConvAdd>(node);
  const Tensor y = reference_qlinear_conv(params.conv, inputs.first(9));
  const ScalarQuantization own{params.conv.y->scale_at(0), params.conv.y->zero_point_at(0)};
  QLinearBinary sum;
  sum.dtype = params.dtype;
  sum.a = params.residual_is_a ? params.residual : own;
  sum.b = params.residual_is_a ? own : params.residual;
  sum.c = params.sum;
  const QLinearBinaryFunction function(sum);
  const std::vector<std::int32_t> mine = widened(y);
  const std::vector<std::int32_t> other = widened(*inputs[9]);
  std::vector<std::int32_t> out(mine.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int32_t c =
        params.residual_is_a ? function(other[i], mine[i]) : function(mine[i], other[i]);
    out[i] = std::clamp(c, params.low, params.high);
  }
  return {narrowed(params.dtype, y.shape(), out)};
}

}  // namespace etch
