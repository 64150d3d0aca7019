// TopK by sorting whole rows; see op.h.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/ops/op.h"
#include "compiler/ops/top_k/op.h"

namespace etch {

namespace {
bool is_nan(float value) { return std::isnan(value); }
template <class Int>
bool is_nan(Int) {
  return false;
}

// The positions of all elements of one row, best first.
template <class T>
std::vector<std::int64_t> ranked(const std::vector<T>& row, TopK::Kind kind) {
  std::vector<std::int64_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::int64_t i, std::int64_t j) {
    const T a = row[as_index(i)], b = row[as_index(j)];
    if (is_nan(a) || is_nan(b)) return !is_nan(a) && is_nan(b);
    return kind == TopK::Kind::kLargest ? a > b : a < b;
  });
  return order;
}

template <class T>
std::vector<Tensor> best_of(const TopK& params, const Tensor& x) {
  Tensor values(x.dtype(), params.shape);
  Tensor indices(DType::kS64, params.shape);
  std::int64_t inner = 1;
  for (std::size_t d = as_index(params.axis) + 1; d < params.shape.size(); ++d)
    inner *= params.shape[d];
  const std::int64_t size = x.shape()[as_index(params.axis)];
  const std::int64_t count = params.shape[as_index(params.axis)];
  const std::int64_t rows = count == 0 ? 0 : values.size() / count;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t outer = r / inner, place = r % inner;
    std::vector<T> row;
    for (std::int64_t k = 0; k < size; ++k)
      row.push_back(x.as<T>()[as_index((outer * size + k) * inner + place)]);
    const std::vector<std::int64_t> order = ranked(row, params.kind);
    for (std::int64_t k = 0; k < count; ++k) {
      const std::size_t to = as_index((outer * count + k) * inner + place);
      indices.as<std::int64_t>()[to] = order[as_index(k)];
      values.as<T>()[to] = row[as_index(order[as_index(k)])];
    }
  }
  return {std::move(values), std::move(indices)};
}
}  // namespace

std::vector<Tensor> top_k_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<TopK>(node);
  const Tensor& x = *inputs[0];
  switch (x.dtype()) {
    case DType::kF32:
      return best_of<float>(params, x);
    case DType::kS32:
      return best_of<std::int32_t>(params, x);
    case DType::kS64:
      return best_of<std::int64_t>(params, x);
    case DType::kS8:
      return best_of<std::int8_t>(params, x);
    default:
      return best_of<std::uint8_t>(params, x);
  }
}

}  // namespace etch
