// Lowering of GatherElements: rows of the runtime, which looks up every index.
#include <memory>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/kernels/select/gather.h"
#include "compiler/ops/gather_elements/op.h"
#include "compiler/ops/op.h"

namespace etch {

void lower_gather_elements(Lowering& lowering, const Node& node) {
  if (refuse_empty(lowering, node)) return;
  const auto& params = params_of<GatherElements>(node);
  add_gather_elements(lowering, node, params.axis, params.shape);
}

}  // namespace etch
