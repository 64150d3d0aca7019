// Resolves Identity; see op.h.
#include "compiler/ops/identity/op.h"

#include "compiler/kernels/move/relabel.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
void resolve_identity(ResolveContext& context) {
  context.set_params(Relabel{context.shape(0)});
  context.set_output(0, context.dtype(0), context.shape(0));
}

constexpr OpName kIdentityNames[] = {{kOnnx, "Identity", 1}};
}  // namespace

extern const OpDef kOp_identity = {.folder = "identity",
                                   .names = kIdentityNames,
                                   .arity = {.min_inputs = 1, .max_inputs = 1},
                                   .resolve = resolve_identity,
                                   .reference = relabel,
                                   .lower = lower_relabel,
                                   .elements = moved_rule,
                                   .layout = relabel_rule};

}  // namespace etch
