// ReduceMean by plain loops; see op.h.
#include "compiler/ops/op.h"
#include "compiler/ops/reduce_mean/op.h"

namespace etch {

std::vector<Tensor> reduce_mean_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<ReduceMean>(node);
  Tensor y(DType::kF32, params.shape);
  const auto from = inputs[0]->as<float>();
  auto to = y.as<float>().begin();
  const auto count = static_cast<float>(element_count(params.reduced));
  for_each<1>(params.kept, {&params.kept_view}, [&](const std::array<std::int64_t, 1>& first) {
    float sum = 0.0F;
    for_each<1>(params.reduced, {&params.reduced_view}, [&](const std::array<std::int64_t, 1>& at) {
      sum += from[as_index(first[0] + at[0])];
    });
    *to++ = sum / count;
  });
  return {y};
}

}  // namespace etch
