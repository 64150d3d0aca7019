// MatMul by its definition; see op.h for the order of the sum.
#include "compiler/ops/matmul/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> reference_matmul(const Node& node, std::span<const Tensor* const> inputs) {
  const MatMulGeometry& geometry = params_of<MatMulParams>(node).geometry;
  const auto a = inputs[0]->as<float>();
  const auto b = inputs[1]->as<float>();
  Tensor y(DType::kF32, geometry.output);
  const auto out = y.as<float>();
  run_matmul<TermSum>(
      geometry,
      [&](std::size_t ai, std::size_t bi, const MatMulElement&) {
        return FloatTerm{a[ai], b[bi], node.float_steps};
      },
      [&](const MatMulElement& element, const TermSum& sum) { out[element.y] = sum.value(); });
  return {y};
}

}  // namespace etch
