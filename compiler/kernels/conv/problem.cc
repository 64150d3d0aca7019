// See problem.h.
#include "compiler/kernels/conv/problem.h"

namespace etch {

std::int64_t ConvProblem::taps() const {
  std::int64_t count = 1;
  for (const ConvAxis& axis : geometry.axes) count *= axis.kernel;
  return count;
}

std::int64_t ConvProblem::macs() const {
  const auto pixels = [](const View& view) { return element_count(view.shape) / view.shape[1]; };
  if (geometry.direction == ConvDirection::kTransposed)
    return pixels(x) * geometry.in_channels * geometry.out_per_group() * taps();
  return pixels(y) * geometry.out_channels * geometry.in_per_group() * taps();
}

AccumulatorRange accumulator_range(const ConvProblem& problem, std::int64_t channel) {
  if (problem.run_time) return problem.run_time->range;
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

}  // namespace etch
