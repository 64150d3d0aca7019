// Cast by plain loops; see op.h.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/cast/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
bool is_float(DType type) {
  return type == DType::kF32 || type == DType::kF64 || type == DType::kF16 || type == DType::kBF16;
}

double float_element(const Tensor& x, std::int64_t i) {
  return x.dtype() == DType::kF64 ? x.as<double>()[as_index(i)] : double{x.real(i)};
}

// Truncation to Int as the conversion instructions of x64 do it.
template <class Int>
Int truncated(double x) {
  constexpr double kLeast = static_cast<double>(std::numeric_limits<Int>::min());
  const bool fits = x > kLeast - 1 && x < -kLeast;
  return fits ? static_cast<Int>(x) : std::numeric_limits<Int>::min();
}

std::uint64_t low_bits(double x, DType to) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  const bool wide = to == DType::kS64 || to == DType::kU64 || to == DType::kU32;
  if (!wide) return static_cast<std::uint64_t>(truncated<std::int32_t>(x));
  const bool high = to == DType::kU64 && x >= kTwoTo63;
  const auto low = static_cast<std::uint64_t>(truncated<std::int64_t>(high ? x - kTwoTo63 : x));
  return high ? low ^ (std::uint64_t{1} << 63) : low;
}

// Stores the low bytes of `bits`, whatever the integer type of y.
void store_bits(Tensor& y, std::int64_t i, std::uint64_t bits) {
  if (y.dtype() == DType::kU4) bits &= 15;
  if (y.dtype() == DType::kS4) bits = (bits & 7) - (bits & 8);
  switch (bytes_of(y.dtype())) {
    case 1: {
      const auto value = static_cast<std::uint8_t>(bits);
      std::memcpy(y.mutable_bytes().data() + i, &value, 1);
      return;
    }
    case 2: {
      const auto value = static_cast<std::uint16_t>(bits);
      std::memcpy(y.mutable_bytes().data() + 2 * i, &value, 2);
      return;
    }
    case 4: {
      const auto value = static_cast<std::uint32_t>(bits);
      std::memcpy(y.mutable_bytes().data() + 4 * i, &value, 4);
      return;
    }
    default:
      std::memcpy(y.mutable_bytes().data() + 8 * i, &bits, 8);
  }
}

// The bits of x rounded to nearest, ties to even, in a float of `fraction` bits after the leading
// one, of which `least` is the exponent of the least, and `infinite` the bits of infinity.
std::uint16_t short_bits(double x, int fraction, int least, std::uint16_t infinite) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  if (std::isnan(x)) {  // quiet; bfloat16 keeps the upper bits
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16;
    return static_cast<std::uint16_t>(infinite == 0x7C00 ? sign | 0x7E00U : bits | 0x40U);
  }
  const double size = std::fabs(x);
  if (size == 0) return sign;
  int exponent = 0;
  std::frexp(size, &exponent);  // size < 2^exponent
  const int unit = std::max(exponent - 1, least) - fraction;
  const double scaled = std::nearbyint(std::ldexp(size, -unit));  // even on ties
  // Rounding up to the next power of two carries into the exponent.
  const double bits = scaled + std::ldexp(unit - least + fraction, fraction);
  if (std::isinf(x) || bits >= infinite) return static_cast<std::uint16_t>(sign | infinite);
  return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(bits));
}

void cast_element(const Tensor& x, std::int64_t i, Tensor& y) {
  const bool from_float = is_float(x.dtype());
  const auto at = as_index(i);
  const bool is_u64 = x.dtype() == DType::kU64;
  if (is_float(y.dtype())) {
    if (y.dtype() == DType::kF64) {
      const double integer = from_float ? 0.0
                             : is_u64   ? static_cast<double>(x.as<std::uint64_t>()[at])
                                        : static_cast<double>(x.integer(i));
      y.as<double>()[at] = from_float ? float_element(x, i) : integer;
    } else if (y.dtype() == DType::kF16 || y.dtype() == DType::kBF16) {
      // Integers become float32 first, as generated code has them.
      const double value = from_float ? float_element(x, i)
                           : is_u64   ? double{static_cast<float>(x.as<std::uint64_t>()[at])}
                                      : double{static_cast<float>(x.integer(i))};
      y.as<std::uint16_t>()[at] = y.dtype() == DType::kF16 ? short_bits(value, 10, -14, 0x7C00)
                                                           : short_bits(value, 7, -126, 0x7F80);
    } else {
      const float integer = from_float ? 0.0F
                            : is_u64   ? static_cast<float>(x.as<std::uint64_t>()[at])
                                       : static_cast<float>(x.integer(i));
      y.as<float>()[at] = from_float ? static_cast<float>(float_element(x, i)) : integer;
    }
  } else if (y.dtype() == DType::kBool) {
    const bool set = from_float ? float_element(x, i) != 0.0 : x.integer(i) != 0;
    y.as<std::uint8_t>()[at] = set ? 1 : 0;
  } else {
    store_bits(y, i,
               from_float ? low_bits(float_element(x, i), y.dtype())
                          : static_cast<std::uint64_t>(x.integer(i)));
  }
}
}  // namespace

std::vector<Tensor> cast_reference(const Node& node, std::span<const Tensor* const> inputs) {
  Tensor y(params_of<Cast>(node).to, inputs[0]->shape());
  for (std::int64_t i = 0; i < y.size(); ++i) cast_element(*inputs[0], i, y);
  return {y};
}

}  // namespace etch
