// Gemm by its definition; see op.h for the order of the sum.
#include "compiler/ops/gemm/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> reference_gemm(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<GemmParams>(node);
  const GemmGeometry& g = params.geometry;
  const auto a = inputs[0]->as<float>();
  const auto b = inputs[1]->as<float>();
  const Tensor* c = inputs.size() > 2 ? inputs[2] : nullptr;
  Tensor y(DType::kF32, {g.rows, g.cols});
  const auto out = y.as<float>();
  for (std::int64_t m = 0; m < g.rows; ++m) {
    for (std::int64_t n = 0; n < g.cols; ++n) {
      TermSum sum;
      for (std::int64_t k = 0; k < g.depth; ++k)
        sum += FloatTerm{a[g.a_index(m, k)], b[g.b_index(k, n)], node.float_steps};
      float value = params.alpha * sum.value();
      if (c != nullptr) value += params.beta * c->as<float>()[g.c_index(m, n)];
      out[as_index(m * g.cols + n)] = value;
    }
  }
  return {y};
}

}  // namespace etch
