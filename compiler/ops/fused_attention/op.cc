// What can be part of a FusedAttention; see op.h.
#include "compiler/ops/fused_attention/op.h"

#include <algorithm>

#include "compiler/ops/arithmetic/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/softmax/op.h"

namespace etch {

std::vector<Tensor> fused_attention_reference(const Node& node,
                                              std::span<const Tensor* const> inputs);
void lower_fused_attention(Lowering& lowering, const Node& node);

namespace {
void resolve_fused_attention(ResolveContext& context) {
  context.error(DiagKind::kUnsupported, "is made by the compiler; no file can have it");
}

// Of the last two dimensions at most.
bool is_of_one_matrix(const Shape& shape) {
  const std::size_t rank = shape.size();
  return rank <= 2 || std::all_of(shape.begin(), shape.end() - 2, [](auto n) { return n == 1; });
}

constexpr OpName kFusedAttentionNames[] = {{kEtch, "FusedAttention", 1}};
}  // namespace

bool can_change_scores(const Graph& graph, const Node& node, std::size_t slot) {
  using K = Arithmetic::Kind;
  const auto* const arithmetic = std::any_cast<Arithmetic>(&node.params);
  if (arithmetic == nullptr || node.inputs.size() != 2 || node.inputs[0] == node.inputs[1])
    return false;
  const K kind = arithmetic->kind;
  if (kind != K::kAdd && kind != K::kSub && kind != K::kMul && kind != K::kDiv) return false;
  const Value& scores = graph.value(node.inputs[slot]);
  const Value& other = graph.value(node.inputs[1 - slot]);
  return *scores.dtype == DType::kF32 && *scores.shape == arithmetic->shape &&
         is_of_one_matrix(*other.shape);
}

bool is_softmax_of_rows(const Graph& graph, const Node& node) {
  const auto* const softmax = std::any_cast<Softmax>(&node.params);
  if (softmax == nullptr || softmax->kind != Softmax::Kind::kShare) return false;
  return softmax->rows.inner == 1 &&
         softmax->rows.size == graph.value(node.inputs[0]).shape->back();
}

extern const OpDef kOp_fused_attention = {.folder = "fused_attention",
                                          .names = kFusedAttentionNames,
                                          .arity = {.min_inputs = 3, .max_inputs = 8},
                                          .resolve = resolve_fused_attention,
                                          .reference = fused_attention_reference,
                                          .lower = lower_fused_attention};

}  // namespace etch
