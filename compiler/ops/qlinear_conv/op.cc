// Checks and shapes of QLinearConv; see op.h.
#include "compiler/ops/qlinear_conv/op.h"

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/result_limits.h"

namespace etch {

namespace {

constexpr OpName kQLinearConvNames[] = {{kOnnx, "QLinearConv", 10},
                                        {kMicrosoft, "QLinearConv", 1},
                                        {kNhwc, "QLinearConv", 1},
                                        {kEtch, "QLinearConv", 1}};

ConvLayout read_layout(ResolveContext& context) {
  if (context.node().domain == kNhwc) return ConvLayout::kChannelsLast;
  if (context.node().domain == kOnnx) return ConvLayout::kChannelsFirst;
  return read_channels_last(context);
}

bool check_conv_types(ResolveContext& context) {
  const bool x = check_dtype(context, 0, "x", {DType::kU8, DType::kS8});
  const bool w = check_dtype(context, 3, "w", {DType::kU8, DType::kS8});
  const bool y = check_dtype(context, 7, "y_zero_point", {DType::kU8, DType::kS8});
  return x && w && y;
}

// Operators of the NHWC domain may carry a fused activation.
void refuse_activation(ResolveContext& context) {
  const std::string activation = context.string_attr("activation", "");
  context.ignore_attr("activation_params");
  if (activation.empty()) return;
  context.error(DiagKind::kUnsupported,
                cat("a fused activation is not supported, got '", printable(activation), "'"));
}

void resolve_forward(ResolveContext& context) {
  resolve_qlinear_conv(context, ConvDirection::kForward, read_layout(context));
}

}  // namespace

ConvLayout read_channels_last(ResolveContext& context) {
  const std::int64_t last = context.int_attr("channels_last", 0);
  if (last != 0 && last != 1) {
    context.attr_error("channels_last", cat("must be 0 or 1, got ", last));
  }
  return last == 1 ? ConvLayout::kChannelsLast : ConvLayout::kChannelsFirst;
}

std::optional<QLinearConvParams> resolve_qlinear_conv_inputs(ResolveContext& context,
                                                             ConvDirection direction,
                                                             ConvLayout layout) {
  if (context.node().domain == kNhwc) refuse_activation(context);
  const bool types_ok = check_conv_types(context);
  const auto geometry = resolve_conv_geometry(context, direction, layout, ConvInputs{0, 3});
  if (!geometry || !types_ok) return std::nullopt;
  const DType y_type = context.dtype(7);
  QLinearConvParams params{*geometry, {}, {}, {}, 0, 255};
  if (const auto limits = read_result_limits(context, y_type)) {
    params.low = limits->low;
    params.high = limits->high;
  }
  params.x = resolve_quantization(context, {"x", 1, 2}, context.dtype(0), per_tensor_shapes());
  params.w = resolve_quantization(context, {"w", 4, 5}, context.dtype(3),
                                  per_channel_shapes(geometry->out_channels));
  params.y = resolve_quantization(context, {"y", 6, 7}, y_type, per_tensor_shapes());
  check_conv_bias(context, 8, DType::kS32, geometry->out_channels);
  if (params.x && params.w && params.y) {
    check_combined_scale(context, combined_scale(*params.x, *params.w, *params.y));
  }
  return params;
}

void resolve_qlinear_conv(ResolveContext& context, ConvDirection direction, ConvLayout layout) {
  auto params = resolve_qlinear_conv_inputs(context, direction, layout);
  if (!params) return;
  context.set_output(0, context.dtype(7), params->geometry.output_shape());
  context.set_params(*std::move(params));
}

void lower_qlinear_conv(Lowering& lowering, const Node& node);
LayoutRule qlinear_conv_layout(const Node& node);
std::optional<HaloWish> qlinear_conv_halo(const Graph& graph, const Node& node);

std::optional<Quantization> qlinear_conv_reads(const Node& node) {
  return params_of<QLinearConvParams>(node).x;
}

std::optional<Quantization> qlinear_conv_writes(const Node& node) {
  return params_of<QLinearConvParams>(node).y;
}

extern const OpDef kOp_qlinear_conv = {.folder = "qlinear_conv",
                                       .names = kQLinearConvNames,
                                       .arity = {.min_inputs = 8, .max_inputs = 9},
                                       .resolve = resolve_forward,
                                       .reference = reference_qlinear_conv,
                                       .lower = lower_qlinear_conv,
                                       .layout = qlinear_conv_layout,
                                       .halo = qlinear_conv_halo,
                                       .reads = qlinear_conv_reads,
                                       .writes = qlinear_conv_writes};

}  // namespace etch
