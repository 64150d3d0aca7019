// BatchNormalization by plain loops; see op.h.
#include <cmath>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/batch_normalization/op.h"
#include "compiler/ops/op.h"

namespace etch {

Affine batch_affine(const BatchNormalization& params, std::span<const Tensor* const> inputs) {
  Affine out;
  for (std::size_t c = 0; c < as_index(params.channels); ++c) {
    const float inverse = 1.0F / std::sqrt(inputs[4]->as<float>()[c] + params.epsilon);
    const float factor = inverse * inputs[1]->as<float>()[c];
    out.factor.push_back(factor);
    out.offset.push_back(inputs[2]->as<float>()[c] - inputs[3]->as<float>()[c] * factor);
  }
  return out;
}

std::vector<Tensor> batch_normalization_reference(const Node& node,
                                                  std::span<const Tensor* const> inputs) {
  const auto& params = params_of<BatchNormalization>(node);
  const Affine affine = batch_affine(params, inputs);
  const auto x = inputs[0]->as<float>();
  Tensor y(DType::kF32, params.shape);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i / as_index(params.inner) % as_index(params.channels);
    y.as<float>()[i] = x[i] * affine.factor[c] + affine.offset[c];
  }
  return {y};
}

}  // namespace etch
