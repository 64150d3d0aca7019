// See halves.h.
#include "compiler/lower/halves.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "runtime/etch_half.h"

namespace etch {

namespace {

std::uint16_t narrowed(float x, DType type) {
  return type == DType::kF16 ? rt::half_from_float(x) : rt::bfloat_from_float(x);
}

float widened(std::uint16_t x, DType type) {
  return type == DType::kF16 ? rt::float_from_half(x) : rt::float_from_bfloat(x);
}

bool holds_all(DType type, const Tensor& floats) {
  return std::ranges::all_of(floats.as<float>(), [&](float x) {
    const float back = widened(narrowed(x, type), type);
    return std::bit_cast<std::uint32_t>(back) == std::bit_cast<std::uint32_t>(x);
  });
}

}  // namespace

std::optional<DType> half_type_of(const Tensor& floats) {
  for (const DType type : {DType::kF16, DType::kBF16}) {
    if (holds_all(type, floats)) return type;
  }
  return std::nullopt;
}

std::optional<DType> kept_as_halves(const Tensor& floats) {
  constexpr std::int64_t kLeast = 256;  // elements
  if (floats.dtype() != DType::kF32 || floats.size() < kLeast) return std::nullopt;
  return half_type_of(floats);
}

bool widens_by_instructions(const IsaTraits& isa, DType type) {
  if (isa.lanes == 1) return false;
  // x86 from AVX2 on and 64-bit Arm convert float16; bfloat16 is a shift, where there are vectors.
  const bool arm = isa.verbs().substr(0, 7) == "aarch64";
  const bool x86 = isa.verbs().substr(0, 3) == "avx";
  return arm || x86 || (type == DType::kBF16 && isa.verbs() == "sse41");
}

Tensor as_halves(const Tensor& floats, DType type) {
  Tensor out(DType::kU16, floats.shape());
  std::ranges::transform(floats.as<float>(), out.as<std::uint16_t>().begin(),
                         [&](float x) { return narrowed(x, type); });
  return out;
}

}  // namespace etch
