// Range proofs from constant weights; see proof.h.
#include "compiler/steps/proof.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/base/text.h"
#include "compiler/steps/requantization.h"

namespace etch {

AccumulatorRange accumulator_range(const ConvProblem& problem, std::int64_t channel) {
  const std::int64_t least = 0 - problem.x_zero_point;
  const std::int64_t most = 255 - problem.x_zero_point;
  AccumulatorRange range;
  const std::int64_t bias = problem.bias[static_cast<std::size_t>(channel)];
  range.low = range.high = bias;
  const std::int64_t terms = problem.taps() * problem.geometry.in_per_group();
  for (std::int64_t i = 0; i < terms; ++i) {
    const std::int64_t w = problem.weights[static_cast<std::size_t>(channel * terms + i)];
    range.low += std::min(w * least, w * most);
    range.high += std::max(w * least, w * most);
  }
  return range;
}

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
    // One float product of a rounded int32: a factor of 2 covers both roundings.
    const double reach =
        std::max(std::fabs(static_cast<double>(range.low)), static_cast<double>(range.high));
    clamp = clamp || 2 * reach * static_cast<double>(scale) > static_cast<double>(kMost);
  }
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

}  // namespace etch
