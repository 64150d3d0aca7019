// PRelu by a plain loop; see op.h.
#include "compiler/ops/op.h"
#include "compiler/ops/prelu/op.h"

namespace etch {

std::vector<Tensor> prelu_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<PRelu>(node);
  const auto x = inputs[0]->as<float>();
  const auto slope = inputs[1]->as<float>();
  Tensor y(DType::kF32, params.shape);
  std::size_t i = 0;
  for_each<1>(params.shape, {&params.slope}, [&](const std::array<std::int64_t, 1>& at) {
    y.as<float>()[i] = x[i] >= 0 ? x[i] : slope[as_index(at[0])] * x[i];
    ++i;
  });
  return {y};
}

}  // namespace etch
