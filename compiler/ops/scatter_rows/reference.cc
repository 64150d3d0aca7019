// ScatterRows by plain loops; see op.h.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/ops/scatter_rows/op.h"

namespace etch {

namespace {
using Kind = ScatterRows::Kind;

template <class T>
T combined(Kind kind, T old, T update) {
  if (kind == Kind::kReplace) return update;
  if constexpr (std::is_floating_point_v<T>) {
    if (kind == Kind::kAdd) return old + update;
    if (kind == Kind::kMul) return old * update;
    if (std::isnan(old)) return old;
    if (std::isnan(update)) return update;
  } else {
    using Unsigned = std::make_unsigned_t<T>;
    const auto a = static_cast<Unsigned>(old), b = static_cast<Unsigned>(update);
    if (kind == Kind::kAdd) return static_cast<T>(a + b);
    if (kind == Kind::kMul) return static_cast<T>(a * b);
  }
  if (kind == Kind::kMax) return update < old ? old : update;
  return old < update ? old : update;
}

template <class T>
Tensor scattered(const ScatterRows& params, std::span<const Tensor* const> inputs) {
  Tensor y = *inputs[0];
  const auto to = y.as<T>();
  const auto from = inputs[2]->as<T>();
  for (std::int64_t i = 0; i < inputs[1]->size(); ++i) {
    std::int64_t row = inputs[1]->integer(i);
    if (row < 0) row += params.rows;
    row = std::clamp<std::int64_t>(row, 0, params.rows - 1);
    for (std::int64_t k = 0; k < params.width; ++k) {
      T& element = to[as_index(row * params.width + k)];
      element = combined(params.kind, element, from[as_index(i * params.width + k)]);
    }
  }
  return y;
}
}  // namespace

std::vector<Tensor> scatter_rows_reference(const Node& node,
                                           std::span<const Tensor* const> inputs) {
  const auto& params = params_of<ScatterRows>(node);
  if (inputs[0]->dtype() == DType::kS64) return {scattered<std::int64_t>(params, inputs)};
  if (inputs[0]->dtype() == DType::kS32) return {scattered<std::int32_t>(params, inputs)};
  if (inputs[0]->dtype() == DType::kS8) return {scattered<std::int8_t>(params, inputs)};
  if (bytes_of(inputs[0]->dtype()) == 1) return {scattered<std::uint8_t>(params, inputs)};
  return {scattered<float>(params, inputs)};
}

}  // namespace etch
