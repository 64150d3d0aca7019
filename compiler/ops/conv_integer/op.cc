// Checks and shapes of ConvInteger; see op.h.
#include "compiler/ops/conv_integer/op.h"

#include "compiler/ops/arguments.h"
#include "compiler/ops/quantization.h"

namespace etch {

namespace {

constexpr OpName kConvIntegerNames[] = {{kOnnx, "ConvInteger", 10}};

void resolve_conv_integer(ResolveContext& context) {
  const bool x_ok = check_dtype(context, 0, "x", {DType::kU8, DType::kS8});
  const bool w_ok = check_dtype(context, 1, "w", {DType::kU8, DType::kS8});
  const auto geometry = resolve_conv_geometry(context, ConvDirection::kForward,
                                              ConvLayout::kChannelsFirst, ConvInputs{0, 1});
  if (!geometry || !x_ok || !w_ok) return;
  ConvIntegerParams params{*geometry, {}, {}};
  params.x_zero_point =
      resolve_zero_points(context, 2, "x_zero_point", context.dtype(0), per_tensor_shapes());
  params.w_zero_point = resolve_zero_points(context, 3, "w_zero_point", context.dtype(1),
                                            per_channel_shapes(geometry->out_channels));
  context.set_output(0, DType::kS32, geometry->output_shape());
  context.set_params(std::move(params));
}

}  // namespace

void lower_conv_integer(Lowering& lowering, const Node& node);
std::optional<HaloWish> conv_integer_halo(const Graph& graph, const Node& node);

extern const OpDef kOp_conv_integer = {.folder = "conv_integer",
                                       .names = kConvIntegerNames,
                                       .arity = {.min_inputs = 2, .max_inputs = 4},
                                       .resolve = resolve_conv_integer,
                                       .reference = reference_conv_integer,
                                       .lower = lower_conv_integer,
                                       .layout = channels_last_rule,
                                       .halo = conv_integer_halo};

}  // namespace etch
