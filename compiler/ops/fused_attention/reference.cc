// FusedAttention by its operators' own reference functions; see op.h.
#include "compiler/ir/op_def.h"
#include "compiler/ops/fused_attention/op.h"

namespace etch {

std::vector<Tensor> fused_attention_reference(const Node& node,
                                              std::span<const Tensor* const> inputs) {
  std::vector<Tensor> results = results_of(params_of<FusedAttention>(node).parts, inputs);
  return {std::move(results.back())};
}

}  // namespace etch
