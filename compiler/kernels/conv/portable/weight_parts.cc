// See weight_parts.h.
#include "compiler/kernels/conv/portable/weight_parts.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace etch {

int WeightParts::of(int weight, int part) const {
  weight -= shared;
  for (int p = 0; p < part; ++p) weight -= std::clamp(weight, -128, 127);
  return std::clamp(weight, -128, 127);
}

// Measured on Zen 3 (L1 32 KiB, L2 512 KiB): from here on bytes are faster, with three pixels and
// more the products take as long.
bool widening_pays(const ConvProblem& problem, const IsaTraits& isa, const Tuning& tuning) {
  constexpr std::int64_t kLeastOfOne = 32 * 1024, kLeastOfTwo = 256 * 1024;
  if (!isa.widens_weights || problem.run_time || problem.shares_weights || tuning.for_all_sizes)
    return false;
  std::int64_t pixels = problem.geometry.batch;
  for (const ConvAxis& axis : problem.geometry.axes) pixels *= axis.out;
  const std::int64_t least = pixels == 1 ? kLeastOfOne : kLeastOfTwo;
  return pixels <= 2 && std::ssize(problem.weights) >= least;
}

WeightParts parts_needed(const ConvProblem& problem, const IsaTraits& isa) {
  if (problem.shared_addend != 0) return {1, problem.shared_addend};
  if (isa.weight_form == WeightForm::kS16EvenOdd) return {1};
  WeightParts parts;
  for (const int w : problem.weights)
    parts.count = std::max(parts.count, w > 254 ? 3 : w > 127 || w < -128 ? 2 : 1);
  return parts;
}

}  // namespace etch
