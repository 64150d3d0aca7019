// See rules.h.
#include "compiler/passes/compositions/rules.h"

#include <algorithm>

namespace etch {

const Rule* composition_rule(const Graph* graph, const Node& node) {
  if (!node.domain.empty()) return nullptr;
  for (const auto& rules :
       {reduction_rules(), pointwise_rules(), power_rules(), indexing_rules(), scatter_rules(),
        product_rules(), normalization_rules(), window_rules(), grid_sample_rules(),
        deformable_rules(), determinant_rules(), loss_rules(), spectrum_rules(), constant_rules(),
        experimental_rules(), transformer_rules()}) {
    const auto found = std::ranges::find(rules, node.op_type, &Rule::op_type);
    if (found == rules.end()) continue;
    const bool applies = graph == nullptr || found->applies == nullptr;
    return applies || found->applies(*graph, node) ? &*found : nullptr;
  }
  return nullptr;
}

}  // namespace etch
