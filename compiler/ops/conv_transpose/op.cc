// Checks and shapes of ConvTranspose; see op.h.
#include "compiler/ops/conv_transpose/op.h"

#include "compiler/ops/quantization.h"

namespace etch {

namespace {

constexpr OpName kConvTransposeNames[] = {{kOnnx, "ConvTranspose", 1}};

void resolve_conv_transpose(ResolveContext& context) {
  check_float32(context, 0, "x");
  check_float32(context, 1, "w");
  const auto geometry = resolve_conv_geometry(context, ConvDirection::kTransposed,
                                              ConvLayout::kChannelsFirst, ConvInputs{0, 1});
  if (!geometry) return;
  check_conv_bias(context, 2, DType::kF32, geometry->out_channels);
  context.set_output(0, DType::kF32, geometry->output_shape());
  context.set_params(ConvTransposeParams{*geometry});
}

}  // namespace

extern const OpDef kOp_conv_transpose = {.folder = "conv_transpose",
                                         .names = kConvTransposeNames,
                                         .arity = {.min_inputs = 2, .max_inputs = 3},
                                         .resolve = resolve_conv_transpose,
                                         .reference = reference_conv_transpose,
                                         .lower = lower_conv_transpose,
                                         .layout = channels_last_rule};

}  // namespace etch
