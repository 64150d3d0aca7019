// Checks and shapes of Conv; see op.h.
#include "compiler/ops/conv/op.h"

#include "compiler/ops/quantization.h"

namespace etch {

namespace {

constexpr OpName kConvNames[] = {{kOnnx, "Conv", 1}, {kEtch, "ConvRelu", 1}};

void resolve_conv(ResolveContext& context) {
  check_float32(context, 0, "x");
  check_float32(context, 1, "w");
  const auto geometry = resolve_conv_geometry(context, ConvDirection::kForward,
                                              ConvLayout::kChannelsFirst, ConvInputs{0, 1});
  if (!geometry) return;
  check_conv_bias(context, 2, DType::kF32, geometry->out_channels);
  context.set_output(0, DType::kF32, geometry->output_shape());
  const bool relu = context.node().op_type == "ConvRelu";
  const float most = std::numeric_limits<float>::infinity();
  context.set_params(ConvParams{*geometry, relu, relu ? context.float_attr("most", most) : most});
}

}  // namespace

extern const OpDef kOp_conv = {.folder = "conv",
                               .names = kConvNames,
                               .arity = {.min_inputs = 2, .max_inputs = 3},
                               .resolve = resolve_conv,
                               .reference = reference_conv,
                               .lower = lower_conv,
                               .layout = channels_last_rule};

}  // namespace etch
