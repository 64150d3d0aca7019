// Wrap-around, rounding and saturation of the reference functions; see reference_math.h.
#include "compiler/ops/reference_math.h"

#include <cmath>
#include <utility>

#include "compiler/base/check.h"

namespace etch {

std::int32_t wrap_to_int32(std::int64_t value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

std::int32_t round_and_saturate(float value, int zero_point, DType type) {
  // Bounds of at most 17 bits, so exact as float. The comparison is written so that NaN fails it.
  const auto least = static_cast<float>(min_of(type) - zero_point);
  const auto most = static_cast<float>(max_of(type) - zero_point);
  float clamped = value > least ? value : least;
  if (clamped > most) clamped = most;
  return static_cast<std::int32_t>(std::nearbyintf(clamped)) + zero_point;
}

std::int32_t requantize(std::int32_t accumulator, float scale, int zero_point, DType type) {
  return round_and_saturate(static_cast<float>(accumulator) * scale, zero_point, type);
}

float FloatSum::value() const {
  float half[8];
  for (std::size_t i = 0; i < 8; ++i) half[i] = part_[i + 8] + part_[i];
  return ((half[0] + half[1]) + (half[2] + half[3])) + ((half[4] + half[5]) + (half[6] + half[7]));
}

void FloatProduct::add(float x) {
  float& part = part_[count_++ % 16];
  part = part * x;
}

float FloatProduct::value() const {
  float half[8];
  for (std::size_t i = 0; i < 8; ++i) half[i] = part_[i + 8] * part_[i];
  return ((half[0] * half[1]) * (half[2] * half[3])) * ((half[4] * half[5]) * (half[6] * half[7]));
}

void TermSum::operator+=(const FloatTerm& term) {
  if (term.steps == FloatSteps::kFused) {
    sum_ = std::fma(term.x, term.w, sum_);
  } else {
    sum_ += term.x * term.w;
  }
}

std::vector<std::int32_t> widened(const Tensor& tensor) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(tensor.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::int32_t>(tensor.integer(static_cast<std::int64_t>(i)));
  }
  return out;
}

namespace {
template <class T>
void copy_into(Tensor& tensor, const std::vector<std::int32_t>& values) {
  const std::span<T> out = tensor.as<T>();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(values[i]);
}
}  // namespace

Tensor narrowed(DType type, Shape shape, const std::vector<std::int32_t>& values) {
  Tensor out(type, std::move(shape));
  ETCH_CHECK(static_cast<std::int64_t>(values.size()) == out.size());
  switch (type) {
    case DType::kU8:
    case DType::kU4:
      copy_into<std::uint8_t>(out, values);
      return out;
    case DType::kS8:
    case DType::kS4:
      copy_into<std::int8_t>(out, values);
      return out;
    case DType::kU16:
      copy_into<std::uint16_t>(out, values);
      return out;
    case DType::kS16:
      copy_into<std::int16_t>(out, values);
      return out;
    case DType::kS32:
      copy_into<std::int32_t>(out, values);
      return out;
    default:
      ETCH_CHECK(false);
  }
}

}  // namespace etch
