// Constant tensors; see tensor.h.
#include "compiler/ir/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "compiler/base/text.h"

namespace etch {

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

std::string to_string(const Shape& shape) {
  constexpr std::size_t kMost = 16;  // more than any tensor has; a file can ask for thousands
  std::string out = "[";
  for (std::size_t i = 0; i < std::min(shape.size(), kMost); ++i) {
    out += cat(i == 0 ? "" : ", ", shape[i]);
  }
  if (shape.size() > kMost) out += cat(", ... ", shape.size(), " in all");
  return out + "]";
}

Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  bytes_.resize(static_cast<std::size_t>(size() * bytes_of(dtype_)));
}

std::int64_t Tensor::integer(std::int64_t index) const {
  const auto i = static_cast<std::size_t>(index);
  switch (dtype_) {
    case DType::kU8:
    case DType::kU4:
    case DType::kBool:
      return as<std::uint8_t>()[i];
    case DType::kS8:
    case DType::kS4:
      return as<std::int8_t>()[i];
    case DType::kU16:
      return as<std::uint16_t>()[i];
    case DType::kS16:
      return as<std::int16_t>()[i];
    case DType::kU32:
      return as<std::uint32_t>()[i];
    case DType::kS32:
      return as<std::int32_t>()[i];
    case DType::kU64:
      return static_cast<std::int64_t>(as<std::uint64_t>()[i]);
    case DType::kS64:
      return as<std::int64_t>()[i];
    case DType::kF32:
    case DType::kF64:
    case DType::kF16:
    case DType::kBF16:
      break;
  }
  ETCH_CHECK(false);
}

std::vector<std::int64_t> Tensor::integers() const {
  std::vector<std::int64_t> out(static_cast<std::size_t>(size()));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = integer(static_cast<std::int64_t>(i));
  return out;
}

namespace {
float from_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return fraction == 0 ? sign * HUGE_VALF : std::nanf("");
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}
}  // namespace

float Tensor::real(std::int64_t index) const {
  const auto i = static_cast<std::size_t>(index);
  switch (dtype_) {
    case DType::kF32:
      return as<float>()[i];
    case DType::kF64:
      return static_cast<float>(as<double>()[i]);
    case DType::kF16:
      return from_half(as<std::uint16_t>()[i]);
    case DType::kBF16:
      return std::bit_cast<float>(std::uint32_t{as<std::uint16_t>()[i]} << 16);
    default:
      ETCH_CHECK(false);
  }
}

Tensor Tensor::reshaped(Shape shape) const {
  ETCH_CHECK(element_count(shape) == size());
  Tensor out = *this;
  out.shape_ = std::move(shape);
  return out;
}

}  // namespace etch
