// Resolves Size: the output is a constant; see op.h.
#include "compiler/ops/size/op.h"

#include "compiler/ops/op.h"

namespace etch {

namespace {
void resolve_size(ResolveContext& context) {
  context.set_constant_output(0, Tensor::of<std::int64_t>({}, {element_count(context.shape(0))}));
}

constexpr OpName kSizeNames[] = {{kOnnx, "Size", 1}};
}  // namespace

extern const OpDef kOp_size = {.folder = "size",
                               .names = kSizeNames,
                               .arity = {.min_inputs = 1, .max_inputs = 1},
                               .resolve = resolve_size};

}  // namespace etch
