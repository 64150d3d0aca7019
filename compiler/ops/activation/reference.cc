// Relu, LeakyRelu, Sigmoid and Round by plain loops; see op.h.
#include <algorithm>
#include <cmath>

#include "compiler/ops/activation/op.h"
#include "compiler/ops/op.h"

namespace etch {

float sigmoid_f32(float x) {
  constexpr float kOdd[] = {4.37031012579801e-11F, 1.15627324459942e-07F, 6.08574864600143e-05F,
                            8.51377133304701e-03F, 2.48287947061529e-01F};
  constexpr float kEven[] = {6.10247389755681e-13F, 5.76102136993427e-09F, 6.29106785017040e-06F,
                             1.70198817374094e-03F, 1.16817656904453e-01F, 9.93151921023180e-01F};
  const float v = std::min(std::max(x, -18.0F), 18.0F);
  const float square = v * v;
  float odd = kOdd[0];
  for (int i = 1; i < 5; ++i) odd = std::fma(odd, square, kOdd[i]);
  float even = kEven[0];
  for (int i = 1; i < 6; ++i) even = std::fma(even, square, kEven[i]);
  return std::min(std::max(odd * v / even + 0.5F, 0.0F), 1.0F);
}

float activate(const Activation& activation, float x) {
  switch (activation.kind) {
    case Activation::Kind::kRelu:
      return x < 0.0F ? 0.0F : x;
    case Activation::Kind::kLeakyRelu:
      return x >= 0.0F ? x : activation.alpha * x;
    case Activation::Kind::kSigmoid:
      return sigmoid_f32(x);
    case Activation::Kind::kRound:
      return std::nearbyint(x);
  }
  ETCH_CHECK(false);
}

namespace {
template <class Int>
std::vector<Tensor> relu(const Tensor& x) {
  Tensor y(x.dtype(), x.shape());
  std::ranges::transform(x.as<Int>(), y.as<Int>().begin(),
                         [](Int value) { return std::max(value, Int{0}); });
  return {y};
}
}  // namespace

std::vector<Tensor> activation_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<Activation>(node);
  switch (inputs[0]->dtype()) {
    case DType::kS8:
      return relu<std::int8_t>(*inputs[0]);
    case DType::kS16:
      return relu<std::int16_t>(*inputs[0]);
    case DType::kS32:
      return relu<std::int32_t>(*inputs[0]);
    case DType::kS64:
      return relu<std::int64_t>(*inputs[0]);
    default:
      break;
  }
  Tensor y(DType::kF32, inputs[0]->shape());
  std::ranges::transform(inputs[0]->as<float>(), y.as<float>().begin(),
                         [&](float x) { return activate(params, x); });
  return {y};
}

}  // namespace etch
