// Range proofs from constant weights; see proof.h.
#include "compiler/kernels/conv/proof.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/program/requantization.h"
#include "compiler/program/rounding_proof.h"

namespace etch {

std::int32_t folded_bias(const ConvProblem& problem, std::int64_t m, const std::vector<int>& taps,
                         int moved) {
  std::int64_t sum = 0;
  for (const int tap : taps) {
    for (std::int64_t c = 0; c < problem.geometry.in_per_group(); ++c)
      sum += problem.weight(m, tap, c);
  }
  const int zero_point = problem.x_zero_point - (problem.zero_point_at_run_time ? 0 : moved);
  const std::int64_t folded = problem.bias[static_cast<std::size_t>(m)] - zero_point * sum;
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(folded));
}

namespace {

constexpr std::int64_t kMostInt32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kLeastInt32 = std::numeric_limits<std::int32_t>::min();

bool is_int32(const AccumulatorRange& range) {
  return range.low >= kLeastInt32 && range.high <= kMostInt32;
}

// Of every output channel, in order.
std::vector<AccumulatorRange> ranges_of(const ConvProblem& problem) {
  std::vector<AccumulatorRange> out;
  for (std::int64_t m = 0; m < problem.geometry.out_channels; ++m)
    out.push_back(accumulator_range(problem, m));
  return out;
}

AccumulatorRange hull(const std::vector<AccumulatorRange>& ranges) {
  AccumulatorRange all;
  for (const AccumulatorRange& range : ranges) {
    all.low = std::min(all.low, range.low);
    all.high = std::max(all.high, range.high);
  }
  return all;
}

void choose_integers(const ConvProblem& problem, const std::vector<AccumulatorRange>& ranges,
                     RangeProof& proof) {
  std::vector<RequantizeChannel> channels;
  for (std::size_t m = 0; m < ranges.size(); ++m) {
    channels.push_back(
        requantize_channel(problem.out, problem.scale[m], ranges[m].low, ranges[m].high));
  }
  IntegerRequantization found = requantize_without_floats(channels);
  proof.out.kind = Requantize::Kind::kInteger;
  proof.out.integer = found.layout;
  proof.requantized = std::move(found.channels);
  proof.facts.push_back(std::move(found.fact));
}

void choose_floats(const ConvProblem& problem, const std::vector<AccumulatorRange>& ranges,
                   RangeProof& proof) {
  bool clamp = false;
  for (std::size_t m = 0; m < ranges.size(); ++m) {
    const AccumulatorRange range =
        is_int32(ranges[m]) ? ranges[m] : AccumulatorRange{kLeastInt32, kMostInt32};
    clamp = clamp || may_leave_int32(range.low, range.high, problem.scale[m]);
  }
  proof.out.kind = clamp ? Requantize::Kind::kFloatClamp : Requantize::Kind::kFloat;
  proof.facts.emplace_back(
      clamp ? "scaled accumulators may leave int32: clamped before rounding"
            : "scaled accumulators stay below 2^31: the packs saturate, no clamp is needed");
}

}  // namespace

RangeProof prove_range(const ConvProblem& problem, const IsaTraits& isa) {
  const std::vector<AccumulatorRange> ranges = ranges_of(problem);
  const AccumulatorRange all = hull(ranges);
  RangeProof proof;
  proof.out = problem.out;
  proof.accumulators = {all.low, all.high};
  proof.facts.push_back(cat("accumulators stay within [", all.low, ", ", all.high, "]: ",
                            is_int32(all) ? "int32 cannot overflow"
                                          : "int32 may wrap, as the operator's arithmetic does"));
  if (problem.scale.empty()) {
    proof.out.kind = Requantize::Kind::kInt32;
  } else if (isa.float_requantization) {
    choose_floats(problem, ranges, proof);
  } else {
    choose_integers(problem, ranges, proof);
  }
  return proof;
}

void prove_products(const IsaTraits& isa, Step& step) {
  const auto weights = std::find_if(step.constants.begin(), step.constants.end(),
                                    [](const ConstantArray& c) { return c.suffix == "weights"; });
  if (weights == step.constants.end()) return;
  const bool pairs = isa.weight_form == WeightForm::kS16EvenOdd;
  const bool words = pairs && !weights->widened && !weights->sums16;
  const auto byte = [&](std::size_t i) { return std::to_integer<std::uint8_t>(weights->bytes[i]); };
  const auto weight = [&](std::size_t i) -> std::int64_t {
    if (!words) return static_cast<std::int8_t>(byte(i));
    return static_cast<std::int16_t>(byte(2 * i) | byte(2 * i + 1) << 8);
  };
  ProductSums sums;
  sums.terms = pairs ? 2 : 4;  // pmaddwd; vpdpbusd, or four products in plain C++
  const auto terms = static_cast<std::size_t>(sums.terms);
  const std::size_t count = weights->bytes.size() / (words ? 2 : 1);
  ETCH_CHECK(count % terms == 0);
  auto other = weights->no_weights.begin();
  for (std::size_t first = 0; first < count; first += terms) {
    if (other != weights->no_weights.end() && first == other->begin) {
      first = (other++)->end - terms;
      continue;
    }
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
  const bool fit = sums.low >= Int16::min() && sums.high <= Int16::max();
  ETCH_CHECK(fit || !weights->sums16);
  step.products = sums;
  step.facts.push_back(cat(counted(sums.terms, "product"), " at a time add up to [", sums.low, ", ",
                           sums.high, "]: exact in ", weights->sums16 ? "int16" : "int32",
                           fit ? "" : ", where 16 bits would saturate"));
}

}  // namespace etch
