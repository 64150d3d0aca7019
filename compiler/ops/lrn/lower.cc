// Lowering of LRN: one row of channels per pixel.
#include "compiler/kernels/rows/normalize.h"
#include "compiler/ops/lrn/op.h"
#include "compiler/ops/op.h"

namespace etch {

void lower_lrn(Lowering& lowering, const Node& node) {
  const auto& params = params_of<Lrn>(node);
  add_channel_normalization(
      lowering, node,
      {static_cast<std::int32_t>(params.before), static_cast<std::int32_t>(params.after),
       params.factor, params.beta, params.bias});
}

}  // namespace etch
