// See weight_parts.h.
#include "compiler/kernels/conv/portable/weight_parts.h"

#include <algorithm>

namespace etch {

int WeightParts::of(int weight, int part) const {
  weight -= shared;
  for (int p = 0; p < part; ++p) weight -= std::clamp(weight, -128, 127);
  return std::clamp(weight, -128, 127);
}

WeightParts parts_needed(const ConvProblem& problem, const IsaTraits& isa) {
  if (isa.weight_form == WeightForm::kS16EvenOdd) return {1};
  if (problem.shared_addend != 0) return {1, problem.shared_addend};
  WeightParts parts;
  for (const int w : problem.weights)
    parts.count = std::max(parts.count, w > 254 ? 3 : w > 127 || w < -128 ? 2 : 1);
  return parts;
}

}  // namespace etch
