// ReduceMean, ReduceMax, ReduceMin and ReduceSum by plain loops; see op.h.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "compiler/base/check.h"
#include "compiler/ops/op.h"
#include "compiler/ops/reduce_mean/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {

template <class T>
T added(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    ETCH_CHECK(false);  // see FloatSum
  }
}

template <class T>
T combined(Reduction::Kind kind, T so_far, T next) {
  if (kind == Reduction::Kind::kMax) return so_far < next ? next : so_far;
  if (kind == Reduction::Kind::kMin) return next < so_far ? next : so_far;
  return added(so_far, next);
}

// The result of no elements.
template <class T>
T neutral(Reduction::Kind kind) {
  using Limits = std::numeric_limits<T>;
  if (kind == Reduction::Kind::kSum) return 0;
  if constexpr (Limits::has_infinity) {
    return kind == Reduction::Kind::kMax ? -Limits::infinity() : Limits::infinity();
  } else {
    return kind == Reduction::Kind::kMax ? Limits::min() : Limits::max();
  }
}

template <class T>
Tensor reduced(const Reduction& params, const Tensor& x) {
  const bool sums = params.kind == Reduction::Kind::kMean || params.kind == Reduction::Kind::kSum;
  Tensor y(x.dtype(), params.shape);
  const auto from = x.as<T>();
  auto to = y.as<T>().begin();
  const auto count = static_cast<T>(element_count(params.reduced));
  if (element_count(params.reduced) == 0) {
    std::ranges::fill(y.as<T>(), neutral<T>(params.kind));
    return y;
  }
  for_each<1>(params.kept, {&params.kept_view}, [&](const std::array<std::int64_t, 1>& first) {
    T result = sums ? T{0} : from[as_index(first[0])];
    FloatSum sum;
    for_each<1>(params.reduced, {&params.reduced_view}, [&](const std::array<std::int64_t, 1>& at) {
      const T next = from[as_index(first[0] + at[0])];
      if constexpr (std::is_floating_point_v<T>) {
        if (sums && !params.in_order) return sum.add(next);
        if (sums) return static_cast<void>(result += next);
      }
      result = combined(params.kind, result, next);
    });
    if constexpr (std::is_floating_point_v<T>) {
      if (sums && !params.in_order) result = sum.value();
    }
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
