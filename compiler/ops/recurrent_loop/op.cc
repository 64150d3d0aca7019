// What RecurrentLoop is; see op.h.
#include "compiler/ops/recurrent_loop/op.h"

#include "compiler/ops/op.h"

namespace etch {

namespace {
void resolve_recurrent_loop(ResolveContext& context) {
  context.error(DiagKind::kUnsupported, "is made by the compiler; no file can have it");
}

constexpr OpName kRecurrentLoopNames[] = {{kEtch, "RecurrentLoop", 1}};
}  // namespace

std::vector<Tensor> reference_recurrent_loop(const Node& node,
                                             std::span<const Tensor* const> inputs) {
  std::vector<Tensor> outputs =
      recurrent_loop(params_of<RecurrentParams>(node).recurrence, node.float_steps, inputs);
  outputs.resize(node.outputs.size());
  return outputs;
}

void lower_recurrent_loop(Lowering& lowering, const Node& node) {
  add_recurrence(lowering, node, params_of<RecurrentParams>(node).recurrence);
}

extern const OpDef kOp_recurrent_loop = {
    .folder = "recurrent_loop",
    .names = kRecurrentLoopNames,
    .arity = {.min_inputs = 2, .max_inputs = 9, .min_outputs = 0, .max_outputs = 3},
    .resolve = resolve_recurrent_loop,
    .reference = reference_recurrent_loop,
    .lower = lower_recurrent_loop};

}  // namespace etch
