// Refuses NonMaxSuppression and says what to do instead; see op.h.
#include "compiler/ops/non_max_suppression/op.h"

#include "compiler/base/text.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
void resolve(ResolveContext& context) {
  const std::string boxes = printable(context.input(0).name);
  const std::string scores = printable(context.input(1).name);
  context.error(
      DiagKind::kUnsupported,
      cat("how many boxes are left is known at run time only, and shapes are not; cut the "
          "network before it (--cut '",
          boxes, "' --cut '", scores, "') and select boxes in your own code"));
}

constexpr OpName kNames[] = {{kOnnx, "NonMaxSuppression", 10}};
}  // namespace

extern const OpDef kOp_non_max_suppression = {.folder = "non_max_suppression",
                                              .names = kNames,
                                              .arity = {.min_inputs = 2, .max_inputs = 5},
                                              .resolve = resolve};

}  // namespace etch
