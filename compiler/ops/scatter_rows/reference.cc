// ScatterRows by plain loops; see op.h.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/ops/scatter_rows/op.h"

namespace etch {

namespace {
using Kind = ScatterRows::Kind;

template <class T>
T combined(Kind kind, T old, T update) {
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

// The row of the data that row i of the updates is for.
std::int64_t row_of(const ScatterRows& params, const Tensor& indices, std::int64_t i) {
  const std::int64_t row = indices.integer(i);
  return std::clamp<std::int64_t>(row < 0 ? row + params.rows : row, 0, params.rows - 1);
}

// Elements of any type.
Tensor replaced(const ScatterRows& params, std::span<const Tensor* const> inputs) {
  Tensor y = *inputs[0];
  const auto row_bytes = params.width * bytes_of(y.dtype());
  for (std::int64_t i = 0; i < inputs[1]->size() && row_bytes > 0; ++i) {
    const std::int64_t row = row_of(params, *inputs[1], i);
    std::memcpy(y.mutable_bytes().data() + as_index(row * row_bytes),
                inputs[2]->bytes().data() + as_index(i * row_bytes), as_index(row_bytes));
  }
  return y;
}

template <class T>
Tensor scattered(const ScatterRows& params, std::span<const Tensor* const> inputs) {
  Tensor y = *inputs[0];
  const auto to = y.as<T>();
  const auto from = inputs[2]->as<T>();
  for (std::int64_t i = 0; i < inputs[1]->size(); ++i) {
    const std::int64_t row = row_of(params, *inputs[1], i);
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
  if (params.kind == Kind::kReplace) return {replaced(params, inputs)};
  if (inputs[0]->dtype() == DType::kS64) return {scattered<std::int64_t>(params, inputs)};
  if (inputs[0]->dtype() == DType::kS32) return {scattered<std::int32_t>(params, inputs)};
  return {scattered<float>(params, inputs)};
}

}  // namespace etch
