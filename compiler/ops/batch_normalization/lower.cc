// Lowering of BatchNormalization with constant statistics: one factor and one offset per channel.
#include "compiler/base/text.h"
#include "compiler/kernels/rows/affine.h"
#include "compiler/ops/batch_normalization/op.h"
#include "compiler/ops/op.h"

namespace etch {

void lower_batch_normalization(Lowering& lowering, const Node& node) {
  const auto& params = params_of<BatchNormalization>(node);
  std::vector<const Tensor*> inputs(node.inputs.size(), nullptr);
  for (int i = 1; i < 5; ++i) {
    if (!lowering.is_constant(node, i)) {
      lowering.unsupported(node, "scale, B, input_mean and input_var must be constant");
      return;
    }
    inputs[static_cast<std::size_t>(i)] = &lowering.constant(node, i);
  }
  const Affine affine = batch_affine(params, inputs);
  Shape channels(params.shape.size(), 1);
  if (channels.size() > 1) channels[1] = params.channels;
  add_affine(lowering, node, Tensor::of<float>(channels, affine.factor),
             Tensor::of<float>(channels, affine.offset),
             cat("x * factor + offset, ", counted(params.channels, "channel")));
}

}  // namespace etch
