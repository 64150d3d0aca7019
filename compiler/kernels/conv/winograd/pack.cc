// See pack.h.
#include "compiler/kernels/conv/winograd/pack.h"

#include "compiler/kernels/conv/dsp/stream.h"
#include "compiler/kernels/conv/winograd/plan.h"

namespace etch {

int transformed_weight(const ConvProblem& problem, std::int64_t m, std::int64_t c, int position) {
  constexpr int kTwiceG[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
  int sum = 0;
  for (int row = 0; row < 3; ++row) {
    for (int col = 0; col < 3; ++col) {
      sum += kTwiceG[position % 4][row] * kTwiceG[position / 4][col] *
             problem.weight(m, 3 * row + col, c);
    }
  }
  return sum;
}

namespace {

// Of the channels `first` and first + 1.
std::vector<std::int32_t> weights_at(const ConvProblem& problem, std::int64_t first, int position) {
  std::vector<std::int32_t> out;
  for (int pair = 0; pair < problem.geometry.in_channels / 2; ++pair) {
    const std::int64_t c = pair / 2 * 4 + pair % 2;
    for (std::int64_t m = first; m < first + 2; ++m) {
      const auto low = static_cast<std::uint32_t>(transformed_weight(problem, m, c, position));
      const auto high = static_cast<std::uint32_t>(transformed_weight(problem, m, c + 2, position));
      out.push_back(static_cast<std::int32_t>((low & 0xffff) | high << 16));
    }
  }
  return out;
}

}  // namespace

std::vector<std::int32_t> pack_winograd(const ConvProblem& problem, const PlannedDspConv& direct) {
  std::vector<std::int32_t> stream;
  const auto append = [&](const std::vector<std::int32_t>& words) {
    stream.insert(stream.end(), words.begin(), words.end());
  };
  for (std::int64_t first = 0; first < problem.geometry.out_channels; first += 2) {
    for (int position = 0; position < kWinogradPositions; ++position)
      append(weights_at(problem, first, position));
    for (const std::int64_t m : {first, first + 1}) append({stream_bias(problem, m)});
    for (const std::int64_t m : {first, first + 1})
      append(stream_factors(problem, direct.plan, direct.proof.requantized, m));
  }
  return stream;
}

}  // namespace etch
