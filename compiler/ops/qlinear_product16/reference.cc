// QLinearProduct16 by its definition, with a product of digits; see op.h.
#include <algorithm>
#include <array>

#include "compiler/ops/qlinear_product16/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {

// The 128 bits of a product, in digits of 32, the lowest first.
std::array<std::uint32_t, 4> digits_of_product(std::uint64_t a, std::uint64_t b) {
  std::array<std::uint32_t, 4> out{};
  for (int i = 0; i < 2; ++i) {
    std::uint64_t carry = 0;
    for (int j = 0; j < 2; ++j) {
      const std::uint64_t product = (a >> (32 * i) & 0xffffffffU) * (b >> (32 * j) & 0xffffffffU);
      const auto at = static_cast<std::size_t>(i + j);
      const std::uint64_t sum = product + out[at] + carry;
      out[at] = static_cast<std::uint32_t>(sum);
      carry = sum >> 32;
    }
    out[static_cast<std::size_t>(i) + 2] = static_cast<std::uint32_t>(carry);
  }
  return out;
}

}  // namespace

std::int64_t scaled_total(std::int64_t sum, const WideScale& scale) {
  constexpr int kBits = 128;
  constexpr std::int64_t kMost = std::int64_t{1} << 17;
  const std::uint64_t size = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  const auto digits = digits_of_product(size, static_cast<std::uint64_t>(scale.factor));
  const auto bit = [&](int i) {
    return (digits[static_cast<std::size_t>(i / 32)] >> (i % 32)) & 1;
  };
  std::int64_t quotient = 0;
  for (int i = kBits - 1; i >= scale.exponent; --i)
    quotient = std::min(quotient * 2 + bit(i), kMost);
  bool rest = false;  // below one half
  for (int i = 0; i + 1 < scale.exponent; ++i) rest = rest || bit(i) != 0;
  const bool half = bit(scale.exponent - 1) != 0;
  if (half && (rest || quotient % 2 != 0)) ++quotient;
  return sum < 0 ? -std::min(quotient, kMost) : std::min(quotient, kMost);
}

std::vector<Tensor> reference_qlinear_product16(const Node& node,
                                                std::span<const Tensor* const> inputs) {
  const auto& p = params_of<QLinearProduct16>(node);
  const std::vector<std::int32_t> a = widened(*inputs[0]), b = widened(*inputs[5]);
  const WideScale scale = p.scale();
  std::vector<std::int32_t> y(as_index(element_count(p.geometry.output)));
  run_matmul<std::int64_t>(
      p.geometry,
      [&](std::size_t ai, std::size_t bi, const MatMulElement&) {
        return std::int64_t{a[ai] - p.a.zero_point} * (b[bi] - p.b.zero_point);
      },
      [&](const MatMulElement& element, std::int64_t sum) {
        const std::int64_t q = scaled_total(sum, scale) + p.y.zero_point;
        y[element.y] = static_cast<std::int32_t>(std::clamp<std::int64_t>(q, p.low, p.high));
      });
  return {narrowed(p.dtype, p.geometry.output, y)};
}

}  // namespace etch
