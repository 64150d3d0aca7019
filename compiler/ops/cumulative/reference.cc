// CumSum and CumProd by plain loops; see op.h.
#include <type_traits>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/cumulative/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
template <class T>
T next(bool multiplies, T so_far, T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return multiplies ? so_far * x : so_far + x;
  } else {
    using Unsigned = std::make_unsigned_t<T>;
    const auto a = static_cast<Unsigned>(so_far), b = static_cast<Unsigned>(x);
    return static_cast<T>(multiplies ? a * b : a + b);
  }
}

template <class T>
Tensor computed(const Cumulative& params, const Tensor& x) {
  Tensor y(x.dtype(), x.shape());
  const std::int64_t size = x.shape()[params.axis];
  const std::int64_t step = dense_strides(x.shape())[params.axis];
  const auto from = x.as<T>();
  const auto to = y.as<T>();
  for (std::int64_t flat = 0; flat < x.size(); ++flat) {
    if (flat / step % size != 0) continue;  // not the first element of its line
    T so_far = params.multiplies ? T{1} : T{0};
    for (std::int64_t k = 0; k < size; ++k) {
      const std::int64_t at = flat + (params.reverse ? size - 1 - k : k) * step;
      const T after = next(params.multiplies, so_far, from[as_index(at)]);
      to[as_index(at)] = params.exclusive ? so_far : after;
      so_far = after;
    }
  }
  return y;
}
}  // namespace

std::vector<Tensor> cumulative_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<Cumulative>(node);
  if (inputs[0]->dtype() == DType::kS64) return {computed<std::int64_t>(params, *inputs[0])};
  if (inputs[0]->dtype() == DType::kS32) return {computed<std::int32_t>(params, *inputs[0])};
  return {computed<float>(params, *inputs[0])};
}

}  // namespace etch
