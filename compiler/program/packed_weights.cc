// See packed_weights.h.
#include "compiler/program/packed_weights.h"

#include "compiler/program/sized_step.h"

namespace etch {

int weight_bits(const Step& step) {
  const SizedStep* const of_sizes = sized(step);
  const Step& code = of_sizes == nullptr ? step : of_sizes->code();
  const auto* const packs = dynamic_cast<const PacksWeights*>(&code);
  return packs == nullptr ? 0 : packs->weight_bits();
}

}  // namespace etch
