// ReduceMean, ReduceMax, ReduceMin, ReduceSum and ReduceProd by plain loops; see op.h.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "compiler/ops/op.h"
#include "compiler/ops/reduce_mean/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {

bool folds(Reduction::Kind kind) {
  return kind == Reduction::Kind::kMean || kind == Reduction::Kind::kSum ||
         kind == Reduction::Kind::kProduct;
}

// Integers wrap.
template <class T>
T folded(bool is_product, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    const auto left = static_cast<std::uint64_t>(a);
    const auto right = static_cast<std::uint64_t>(b);
    return static_cast<T>(is_product ? left * right : left + right);
  } else {
    return is_product ? a * b : a + b;
  }
}

template <class T>
T combined(Reduction::Kind kind, T so_far, T next) {
  if (kind == Reduction::Kind::kMax) return so_far < next ? next : so_far;
  if (kind == Reduction::Kind::kMin) return next < so_far ? next : so_far;
  return folded(kind == Reduction::Kind::kProduct, so_far, next);
}

// The result of no elements.
template <class T>
T neutral(Reduction::Kind kind) {
  using Limits = std::numeric_limits<T>;
  if (kind == Reduction::Kind::kProduct) return 1;
  if (kind == Reduction::Kind::kSum || kind == Reduction::Kind::kMean) return 0;
  if constexpr (Limits::has_infinity) {
    return kind == Reduction::Kind::kMax ? -Limits::infinity() : Limits::infinity();
  } else {
    return kind == Reduction::Kind::kMax ? Limits::min() : Limits::max();
  }
}

// The sum or product of floats in 16 partial ones.
template <class Fold>
float in_parts(const Reduction& params, std::span<const float> from, std::int64_t first) {
  Fold all;
  for_each<1>(params.reduced, {&params.reduced_view}, [&](const std::array<std::int64_t, 1>& at) {
    all.add(from[as_index(first + at[0])]);
  });
  return all.value();
}

template <class T>
T in_order(const Reduction& params, std::span<const T> from, std::int64_t first) {
  T result = folds(params.kind) ? neutral<T>(params.kind) : from[as_index(first)];
  for_each<1>(params.reduced, {&params.reduced_view}, [&](const std::array<std::int64_t, 1>& at) {
    result = combined(params.kind, result, from[as_index(first + at[0])]);
  });
  return result;
}

template <class T>
T one_result(const Reduction& params, std::span<const T> from, std::int64_t first) {
  if constexpr (std::is_floating_point_v<T>) {
    if (folds(params.kind) && !params.in_order) {
      return params.kind == Reduction::Kind::kProduct ? in_parts<FloatProduct>(params, from, first)
                                                      : in_parts<FloatSum>(params, from, first);
    }
  }
  return in_order(params, from, first);
}

template <class T>
Tensor reduced(const Reduction& params, const Tensor& x) {
  Tensor y(x.dtype(), params.shape);
  const auto from = x.as<T>();
  auto to = y.as<T>().begin();
  const auto count = static_cast<T>(element_count(params.reduced));
  if (element_count(params.reduced) == 0) {
    std::ranges::fill(y.as<T>(), neutral<T>(params.kind));
    return y;
  }
  for_each<1>(params.kept, {&params.kept_view}, [&](const std::array<std::int64_t, 1>& first) {
    const T result = one_result<T>(params, from, first[0]);
    *to++ = params.kind == Reduction::Kind::kMean ? static_cast<T>(result / count) : result;
  });
  return y;
}
}  // namespace

std::vector<Tensor> reduce_mean_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<Reduction>(node);
  switch (inputs[0]->dtype()) {
    case DType::kF32:
      return {reduced<float>(params, *inputs[0])};
    case DType::kS32:
      return {reduced<std::int32_t>(params, *inputs[0])};
    case DType::kS64:
      return {reduced<std::int64_t>(params, *inputs[0])};
    case DType::kS8:
      return {reduced<std::int8_t>(params, *inputs[0])};
    default:
      return {reduced<std::uint8_t>(params, *inputs[0])};
  }
}

}  // namespace etch
