// Add, Sub, Mul, Div, Max, Min and Sum by plain loops; see op.h.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "compiler/ops/arithmetic/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
using Kind = Arithmetic::Kind;

float combine(Kind kind, float a, float b) {
  switch (kind) {
    case Kind::kAdd:
      return a + b;
    case Kind::kSub:
      return a - b;
    case Kind::kMul:
      return a * b;
    case Kind::kDiv:
      return a / b;
    case Kind::kMax:
      return a > b || std::isnan(a) ? a : b;
    case Kind::kMin:
      return a < b || std::isnan(a) ? a : b;
  }
  ETCH_CHECK(false);
}

// In unsigned arithmetic, where overflow wraps.
template <class Int>
Int combine_integers(Kind kind, Int a, Int b) {
  using Unsigned = std::make_unsigned_t<Int>;
  const auto ua = static_cast<Unsigned>(a);
  const auto ub = static_cast<Unsigned>(b);
  switch (kind) {
    case Kind::kAdd:
      return static_cast<Int>(ua + ub);
    case Kind::kSub:
      return static_cast<Int>(ua - ub);
    case Kind::kMul:
      return static_cast<Int>(ua * ub);
    case Kind::kMax:
      return std::max(a, b);
    case Kind::kMin:
      return std::min(a, b);
    case Kind::kDiv:
      break;
  }
  if (b == 0) return 0;
  return b == -1 ? static_cast<Int>(Unsigned{0} - ua) : static_cast<Int>(a / b);
}

std::int32_t combine(Kind kind, std::int32_t a, std::int32_t b) {
  return combine_integers(kind, a, b);
}
std::int64_t combine(Kind kind, std::int64_t a, std::int64_t b) {
  return combine_integers(kind, a, b);
}

template <class T>
Tensor compute(const Arithmetic& params, std::span<const Tensor* const> inputs) {
  Tensor y = copy_of(*inputs[0], params.shape, params.inputs[0]);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const auto from = inputs[i]->as<T>();
    auto to = y.as<T>().begin();
    for_each<1>(params.shape, {&params.inputs[i]}, [&](const std::array<std::int64_t, 1>& at) {
      *to = combine(params.kind, *to, from[as_index(at[0])]);
      ++to;
    });
  }
  return y;
}
}  // namespace

std::vector<Tensor> arithmetic_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<Arithmetic>(node);
  switch (inputs[0]->dtype()) {
    case DType::kF32:
      return {compute<float>(params, inputs)};
    case DType::kS32:
      return {compute<std::int32_t>(params, inputs)};
    case DType::kS64:
      return {compute<std::int64_t>(params, inputs)};
    default:
      ETCH_CHECK(false);
  }
}

}  // namespace etch
