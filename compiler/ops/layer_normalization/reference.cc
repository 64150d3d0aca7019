// LayerNormalization by plain loops; see op.h.
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/instance_normalization/op.h"
#include "compiler/ops/layer_normalization/op.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> layer_normalization_reference(const Node& node,
                                                  std::span<const Tensor* const> inputs) {
  const auto& params = params_of<LayerNormalization>(node);
  const Tensor* bias = inputs.size() > 2 ? inputs[2] : nullptr;
  Tensor y(DType::kF32, inputs[0]->shape());
  const auto size = as_index(params.size);
  for (std::size_t row = 0; row < as_index(params.rows); ++row) {
    const auto to = y.as<float>().subspan(row * size, size);
    normalize_row(inputs[0]->as<float>().subspan(row * size, size), to, params.epsilon);
    for (std::size_t i = 0; i < size; ++i) {
      to[i] = to[i] * inputs[1]->as<float>()[i];
      if (bias != nullptr) to[i] += bias->as<float>()[i];
    }
  }
  return {y};
}

}  // namespace etch
