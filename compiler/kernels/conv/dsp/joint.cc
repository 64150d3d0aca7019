// See joint.h.
#include "compiler/kernels/conv/dsp/joint.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "compiler/kernels/conv/dsp/stream.h"

namespace etch {

namespace {

using Form = DspConvPlan::Form;

constexpr std::int64_t kMostSum = std::int64_t{1} << 23;
constexpr std::int64_t kMostNibbleSum = std::int64_t{1} << 27;
constexpr int kNibbles = 15;                // between the least weight and the largest one
constexpr std::size_t kLeastForSize = 256;  // fewer save less than the code for them takes

// One widening less per pair of elements of K and two channels, one or two instructions more per
// sum of a second channel.
bool saves_instructions(const DspConvPlan& plan) {
  const int pixels = plan.form == Form::kRow ? 1 : 4;
  return 2 * plan.groups() > pixels * (plan.store.result == rt::kDspFloat ? 1 : 2);
}

// Of what the function computes: the stream's bias and products of bytes of x, whatever they are.
bool sum_fits(const ConvProblem& problem, std::int64_t channel, std::int64_t most) {
  const std::int64_t elements = problem.taps() * problem.geometry.in_per_group();
  std::int64_t low = stream_bias(problem, channel), high = low;
  for (std::int64_t i = 0; i < elements; ++i) {
    const std::int64_t w = problem.weights[static_cast<std::size_t>(channel * elements + i)];
    low += std::min<std::int64_t>(0, UINT8_MAX * w);
    high += std::max<std::int64_t>(0, UINT8_MAX * w);
  }
  return low >= -most && high < most;
}

bool pairs_fit(const ConvProblem& problem, std::int64_t first, std::int64_t second) {
  const std::int64_t elements = problem.taps() * problem.geometry.in_per_group();
  for (std::int64_t i = 0; i < elements; ++i) {
    const int w0 = problem.weights[static_cast<std::size_t>(first * elements + i)];
    const int w1 = problem.weights[static_cast<std::size_t>(second * elements + i)];
    if (w0 + kJointFactor * w1 < INT16_MIN) return false;
  }
  return true;
}

// A product by a power of two is exact unless its result is subnormal.
bool scale_fits(const ConvProblem& problem, std::int64_t channel, int factor) {
  const float scale = problem.scale[static_cast<std::size_t>(channel)];
  return scale >= static_cast<float>(factor) * std::numeric_limits<float>::min();
}

// Every second channel of each group.
std::vector<std::int64_t> second_channels(const ConvGeometry& g) {
  std::vector<std::int64_t> out;
  for (std::int64_t m = 0; m < g.out_channels; ++m) {
    if (m % g.out_per_group() % 2 == 1) out.push_back(m);
  }
  return out;
}

}  // namespace

bool has_joint_weights(const ConvProblem& problem, const DspConvPlan& plan) {
  const bool serves = plan.form == Form::kTiles || plan.form == Form::kRow;
  if (!serves || plan.moved != 0 || !saves_instructions(plan)) return false;
  for (const std::int64_t m : second_channels(problem.geometry)) {
    if (!pairs_fit(problem, m - 1, m) || !sum_fits(problem, m, kMostSum)) return false;
    if (plan.store.result == rt::kDspFloat && !scale_fits(problem, m, kJointFactor)) return false;
  }
  return true;
}

std::optional<int> nibbles_moved(const ConvProblem& problem, const DspConvPlan& plan) {
  const bool serves = plan.form == Form::kTiles || plan.form == Form::kRow;
  const bool wanted =
      problem.four_bits || (plan.compact && problem.weights.size() >= kLeastForSize);
  if (!serves || !wanted || problem.weights.empty()) return std::nullopt;
  const auto ends = std::ranges::minmax(problem.weights);
  const int least = std::min(ends.min, 0);  // what fills words up is 0
  const int most = std::max(ends.max, 0);
  if (most - least > kNibbles) return std::nullopt;
  for (const std::int64_t m : second_channels(problem.geometry)) {
    if (!sum_fits(problem, m, kMostNibbleSum)) return std::nullopt;
    if (plan.store.result == rt::kDspFloat && !scale_fits(problem, m, kNibbleFactor))
      return std::nullopt;
  }
  return std::clamp(-kNibbleMoved, most - kNibbles, least);  // then the second channel's are not
}

}  // namespace etch
