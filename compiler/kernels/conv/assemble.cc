// See assemble.h.
#include "compiler/kernels/conv/assemble.h"

#include <algorithm>
#include <utility>

namespace etch {

std::string use(AssemblyFunction function, std::vector<AssemblyFunction>& functions) {
  std::string name = function.name;
  const bool known = std::any_of(functions.begin(), functions.end(),
                                 [&](const AssemblyFunction& each) { return each.name == name; });
  if (!known) functions.push_back(std::move(function));
  return name;
}

void assemble(Step& step, RangeProof proof, std::vector<ConstantArray> constants,
              Description description) {
  step.accumulators = proof.accumulators;
  step.requantized = std::move(proof.requantized);
  step.facts = std::move(proof.facts);
  for (std::string& fact : description.facts) step.facts.push_back(std::move(fact));
  step.constants = std::move(constants);
  step.macs = description.macs;
  step.schedule = std::move(description.schedule);
  step.overlaps = std::move(description.overlaps);
}

}  // namespace etch
