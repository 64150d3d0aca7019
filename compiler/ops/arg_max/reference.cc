// ArgMax and ArgMin by plain loops; see op.h.
#include "compiler/ops/arg_max/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
template <class T>
std::vector<std::int64_t> positions(const ArgExtreme& params, const Tensor& x) {
  const Shape& shape = x.shape();
  const auto values = x.as<T>();
  std::int64_t inner = 1;
  for (std::size_t d = as_index(params.axis) + 1; d < shape.size(); ++d) inner *= shape[d];
  const std::int64_t count = shape[as_index(params.axis)];
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < element_count(params.shape); ++i) {
    const std::int64_t start = i / inner * count * inner + i % inner;
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < count; ++k) {
      const T value = values[as_index(start + k * inner)];
      const T so_far = values[as_index(start + best * inner)];
      const bool better = params.kind == ArgExtreme::Kind::kMax ? value > so_far : value < so_far;
      if (better || (params.tie == ArgExtreme::Tie::kLast && value == so_far)) best = k;
    }
    out.push_back(best);
  }
  return out;
}

std::vector<std::int64_t> positions(const ArgExtreme& params, const Tensor& x) {
  switch (x.dtype()) {
    case DType::kF32:
      return positions<float>(params, x);
    case DType::kS32:
      return positions<std::int32_t>(params, x);
    case DType::kS64:
      return positions<std::int64_t>(params, x);
    case DType::kS8:
      return positions<std::int8_t>(params, x);
    default:
      return positions<std::uint8_t>(params, x);
  }
}
}  // namespace

std::vector<Tensor> arg_extreme_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<ArgExtreme>(node);
  return {Tensor::of<std::int64_t>(params.shape, positions(params, *inputs[0]))};
}

}  // namespace etch
