// Lowering of QLinearConv16 to a step of 16-bit products.
#include "compiler/kernels/products/words.h"
#include "compiler/ops/qlinear_conv16/op.h"

namespace etch {

void lower_qlinear_conv16(Lowering& lowering, const Node& node) {
  const auto& p = params_of<QLinearConv16>(node);
  WordConv conv;
  conv.geometry = p.geometry;
  conv.product = node.op_type == "QLinearMatMul16";
  conv.x_zero = p.x.zero_point_at(0);
  conv.y_zero = p.y.zero_point_at(0);
  conv.low = p.low;
  conv.high = p.high;
  conv.part = p.part;
  for (std::int64_t m = 0; m < p.geometry.out_channels; ++m) {
    const WideScale scale = wide_scale(p.x.scale_at(0), p.w.scale_at(m), p.y.scale_at(0));
    conv.high_parts.push_back(scale.high());
    conv.low_parts.push_back(scale.low());
    conv.shifts.push_back(scale.shift());
    conv.rests.push_back(p.rests.empty() ? 0 : scale.rest(p.rests[static_cast<std::size_t>(m)]));
  }
  conv.w_zero = [&](std::int64_t m) { return p.w.zero_point_at(m); };
  add_word_conv(lowering, node, conv);
}

}  // namespace etch
