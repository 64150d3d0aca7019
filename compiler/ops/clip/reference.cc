// Clip by plain loops; see op.h.
#include <algorithm>

#include "compiler/ops/clip/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
template <class T>
Tensor compute(const Clip& params, const Tensor& x) {
  Tensor y(x.dtype(), x.shape());
  const T low = static_cast<T>(params.low);
  const T high = static_cast<T>(params.high);
  std::ranges::transform(x.as<T>(), y.as<T>().begin(), [&](T value) {
    const T above = value < low ? low : value;
    return high < above ? high : above;
  });
  return y;
}
}  // namespace

std::vector<Tensor> clip_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<Clip>(node);
  switch (inputs[0]->dtype()) {
    case DType::kF32:
      return {compute<float>(params, *inputs[0])};
    case DType::kS8:
      return {compute<std::int8_t>(params, *inputs[0])};
    case DType::kU8:
      return {compute<std::uint8_t>(params, *inputs[0])};
    case DType::kS32:
      return {compute<std::int32_t>(params, *inputs[0])};
    default:
      ETCH_CHECK(false);
  }
}

}  // namespace etch
