// Add, Sub, Mul, Div, Mod, Max, Min, Sum and Mean by plain loops; see op.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "compiler/ops/arithmetic/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
using Kind = Arithmetic::Kind;

float combine(Kind kind, float a, float b) {
  switch (kind) {
    case Kind::kAdd:
    case Kind::kMean:
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
    case Kind::kRemainder: {
      const float left = std::fmod(a, b);
      return std::isnan(left) ? std::numeric_limits<float>::quiet_NaN() : left;
    }
    default:
      ETCH_CHECK(false);
  }
}

// By one bit at a time. By less than 0 or by the width and more, all bits go.
template <class Int>
Int shifted(Kind kind, Int a, Int b) {
  const bool all = b < 0 || b >= static_cast<Int>(8 * sizeof(Int));
  if (all) return kind == Kind::kShiftRight && a < 0 ? static_cast<Int>(-1) : Int{0};
  for (Int i = 0; i < b; ++i) {
    const auto doubled = static_cast<Int>(static_cast<std::make_unsigned_t<Int>>(a) << 1);
    a = kind == Kind::kShiftLeft ? doubled : static_cast<Int>(a >> 1);
  }
  return a;
}

// What division leaves, with the sign of the divisor or of the dividend.
std::int64_t left_over(Kind kind, std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return 0;
  const std::int64_t left = a % b;
  const bool differs = left != 0 && (left < 0) != (b < 0);
  return kind == Kind::kMod && differs ? left + b : left;
}

// In unsigned arithmetic, where overflow wraps; not narrower than int, to which products of less
// would be promoted, and overflow.
template <class Int>
Int combine_integers(Kind kind, Int a, Int b) {
  using Unsigned =
      std::conditional_t<(sizeof(Int) < sizeof(int)), unsigned, std::make_unsigned_t<Int>>;
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): int8 is a number, whose sign counts
  const auto ua = static_cast<Unsigned>(a), ub = static_cast<Unsigned>(b);
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
    case Kind::kMod:
    case Kind::kRemainder:
      if constexpr (std::is_same_v<Int, std::uint64_t>) return b == 0 ? 0 : a % b;
      return static_cast<Int>(
          left_over(kind, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
    case Kind::kBitAnd:
      return static_cast<Int>(ua & ub);
    case Kind::kBitOr:
      return static_cast<Int>(ua | ub);
    case Kind::kBitXor:
      return static_cast<Int>(ua ^ ub);
    case Kind::kShiftLeft:
    case Kind::kShiftRight:
      return shifted(kind, a, b);
    case Kind::kDiv:
    case Kind::kMean:
      break;
  }
  if (b == 0) return 0;
  const bool negates = std::is_signed_v<Int> && b == static_cast<Int>(-1);
  return negates ? static_cast<Int>(Unsigned{0} - ua) : static_cast<Int>(a / b);
}

template <class Int>
Int combine(Kind kind, Int a, Int b) {
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
  if constexpr (std::is_same_v<T, float>) {
    const float share = 1.0F / static_cast<float>(inputs.size());
    if (params.kind == Kind::kMean) std::ranges::for_each(y.as<T>(), [&](T& v) { v *= share; });
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
    case DType::kU32:
      return {compute<std::uint32_t>(params, inputs)};
    case DType::kU64:
      return {compute<std::uint64_t>(params, inputs)};
    case DType::kU8:
      return {compute<std::uint8_t>(params, inputs)};
    case DType::kS8:
      return {compute<std::int8_t>(params, inputs)};
    case DType::kU16:
      return {compute<std::uint16_t>(params, inputs)};
    case DType::kS16:
      return {compute<std::int16_t>(params, inputs)};
    default:
      ETCH_CHECK(false);
  }
}

}  // namespace etch
