// Lowering of QLinearProduct16 to a step of two matrices.
#include "compiler/kernels/products/word_matrices.h"
#include "compiler/ops/qlinear_product16/op.h"

namespace etch {

void lower_qlinear_product16(Lowering& lowering, const Node& node) {
  const auto& p = params_of<QLinearProduct16>(node);
  const WideScale scale = p.scale();
  add_word_matrices(lowering, node, 0, 5, p.geometry,
                    {p.a.zero_point,
                     p.b.zero_point,
                     static_cast<std::uint32_t>(scale.high()),
                     static_cast<std::uint32_t>(scale.low()),
                     scale.shift(),
                     {p.y.zero_point, p.low, p.high}});
}

}  // namespace etch
