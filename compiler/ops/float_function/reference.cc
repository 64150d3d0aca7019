// Functions of one element by plain loops; see op.h. The functions on floats are the runtime's,
// which runtime/etch_functions_test.cc compares with double precision.
#include <algorithm>
#include <cstdint>

#include "compiler/kernels/rows/function.h"
#include "compiler/ops/float_function/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
// Abs and Sign, of which the first changes nothing.
template <class Int>
std::vector<Tensor> of_unsigned(Function function, const Tensor& x) {
  Tensor y = x;
  if (function == Function::kSign)
    std::ranges::transform(x.as<Int>(), y.as<Int>().begin(), [](Int v) { return Int{v != 0}; });
  return {y};
}

// Abs and Neg wrap at the least integer.
template <class Int>
std::vector<Tensor> of_integers(Function function, const Tensor& x) {
  Tensor y(x.dtype(), x.shape());
  std::ranges::transform(x.as<Int>(), y.as<Int>().begin(), [&](Int narrow) {
    const std::int64_t value = narrow;
    if (function == Function::kSign) return static_cast<Int>(value > 0 ? 1 : value < 0 ? -1 : 0);
    const auto negated = static_cast<Int>(std::uint64_t{0} - static_cast<std::uint64_t>(value));
    return function == Function::kNeg || value < 0 ? negated : narrow;
  });
  return {y};
}
}  // namespace

std::vector<Tensor> float_function_reference(const Node& node,
                                             std::span<const Tensor* const> inputs) {
  const auto& params = params_of<FloatFunction>(node);
  const Tensor& x = *inputs[0];
  switch (x.dtype()) {
    case DType::kU8:
      return of_unsigned<std::uint8_t>(params.function, x);
    case DType::kS8:
      return of_integers<std::int8_t>(params.function, x);
    case DType::kU16:
      return of_unsigned<std::uint16_t>(params.function, x);
    case DType::kU32:
      return of_unsigned<std::uint32_t>(params.function, x);
    case DType::kU64:
      return of_unsigned<std::uint64_t>(params.function, x);
    case DType::kS16:
      return of_integers<std::int16_t>(params.function, x);
    case DType::kS32:
      return of_integers<std::int32_t>(params.function, x);
    case DType::kS64:
      return of_integers<std::int64_t>(params.function, x);
    default:
      break;
  }
  Tensor y(DType::kF32, x.shape());
  std::ranges::transform(x.as<float>(), y.as<float>().begin(), [&](float value) {
    return evaluate(params.function, value, params.alpha, params.beta);
  });
  return {y};
}

}  // namespace etch
