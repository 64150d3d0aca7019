// Range proofs from constant weights; see proof.h.
#include "compiler/kernels/conv/proof.h"

#include <algorithm>
#include <limits>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/program/requantization.h"
#include "compiler/program/rounding_proof.h"

namespace etch {

std::int32_t folded_bias(const ConvProblem& problem, std::int64_t m, const std::vector<int>& taps) {
  std::int64_t sum = 0;
  for (const int tap : taps) {
    for (std::int64_t c = 0; c < problem.geometry.in_per_group(); ++c)
      sum += problem.weight(m, tap, c);
  }
  const std::int64_t folded =
      problem.bias[static_cast<std::size_t>(m)] - problem.x_zero_point * sum;
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(folded));
}

void prove_range(const ConvProblem& problem, const IsaTraits& isa, Requantize& out, Step& step) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  AccumulatorRange all;
  std::vector<RequantizeChannel> channels;
  bool clamp = false;
  for (std::int64_t m = 0; m < problem.geometry.out_channels; ++m) {
    AccumulatorRange range = accumulator_range(problem, m);
    all.low = std::min(all.low, range.low);
    all.high = std::max(all.high, range.high);
    if (range.low < kLeast || range.high > kMost) range = {kLeast, kMost};  // wraps
    if (problem.scale.empty()) continue;
    const float scale = problem.scale[static_cast<std::size_t>(m)];
    channels.push_back(requantize_channel(out, scale, range.low, range.high));
    clamp = clamp || may_leave_int32(range.low, range.high, scale);
  }
  step.accumulators = AccumulatorBounds{all.low, all.high};
  step.facts.push_back(cat("accumulators stay within [", all.low, ", ", all.high, "]: ",
                           all.low >= kLeast && all.high <= kMost
                               ? "int32 cannot overflow"
                               : "int32 may wrap, as the operator's arithmetic does"));
  if (problem.scale.empty()) {
    out.kind = Requantize::Kind::kInt32;
    return;
  }
  if (!isa.float_requantization) {
    requantize_without_floats(channels, out, step);
    return;
  }
  out.kind = clamp ? Requantize::Kind::kFloatClamp : Requantize::Kind::kFloat;
  step.facts.push_back(
      clamp ? "scaled accumulators may leave int32: clamped before rounding"
            : "scaled accumulators stay below 2^31: the packs saturate, no clamp is needed");
}

void prove_products(const IsaTraits& isa, Step& step) {
  const auto weights = std::find_if(step.constants.begin(), step.constants.end(),
                                    [](const ConstantArray& c) { return c.suffix == "weights"; });
  if (weights == step.constants.end()) return;
  const bool words = isa.weight_form == WeightForm::kS16EvenOdd;
  const auto byte = [&](std::size_t i) { return std::to_integer<std::uint8_t>(weights->bytes[i]); };
  const auto weight = [&](std::size_t i) -> std::int64_t {
    if (!words) return static_cast<std::int8_t>(byte(i));
    return static_cast<std::int16_t>(byte(2 * i) | byte(2 * i + 1) << 8);
  };
  ProductSums sums;
  sums.terms = words ? 2 : 4;  // pmaddwd; vpdpbusd, or four products in plain C++
  const auto terms = static_cast<std::size_t>(sums.terms);
  const std::size_t count = weights->bytes.size() / (words ? 2 : 1);
  ETCH_CHECK(count % terms == 0);
  for (std::size_t first = 0; first < count; first += terms) {
    std::int64_t low = 0;
    std::int64_t high = 0;
    for (std::size_t i = first; i < first + terms; ++i) {
      low += 255 * std::min<std::int64_t>(weight(i), 0);
      high += 255 * std::max<std::int64_t>(weight(i), 0);
    }
    sums.low = std::min(sums.low, low);
    sums.high = std::max(sums.high, high);
  }
  using Int32 = std::numeric_limits<std::int32_t>;
  using Int16 = std::numeric_limits<std::int16_t>;
  ETCH_CHECK(sums.low >= Int32::min() && sums.high <= Int32::max());
  step.products = sums;
  step.facts.push_back(cat(
      sums.terms, " products at a time add up to [", sums.low, ", ", sums.high, "]: exact in int32",
      sums.low >= Int16::min() && sums.high <= Int16::max() ? ""
                                                            : ", where 16 bits would saturate"));
}

}  // namespace etch
