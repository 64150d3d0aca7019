// InstanceNormalization by plain loops; see op.h.
#include <cmath>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/instance_normalization/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

void normalize_row(std::span<const float> x, std::span<float> y, float epsilon) {
  const auto count = static_cast<float>(x.size());
  FloatSum sum;
  for (const float value : x) sum.add(value);
  const float mean = sum.value() / count;
  FloatSum squares;
  for (const float value : x) squares.add((value - mean) * (value - mean));
  const float inverse = 1.0F / std::sqrt(squares.value() / count + epsilon);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = (x[i] - mean) * inverse;
}

std::vector<Tensor> instance_normalization_reference(const Node& node,
                                                     std::span<const Tensor* const> inputs) {
  const auto& params = params_of<InstanceNormalization>(node);
  Tensor y(DType::kF32, inputs[0]->shape());
  const auto plane = as_index(params.plane);
  for (std::size_t row = 0; row * plane < y.as<float>().size(); ++row) {
    const auto to = y.as<float>().subspan(row * plane, plane);
    normalize_row(inputs[0]->as<float>().subspan(row * plane, plane), to, params.epsilon);
    const std::size_t c = row % as_index(params.channels);
    for (float& value : to) {
      value = value * inputs[1]->as<float>()[c] + inputs[2]->as<float>()[c];
    }
  }
  return {y};
}

}  // namespace etch
