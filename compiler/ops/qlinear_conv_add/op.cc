// Checks and shapes of QLinearConvAdd; see op.h.
#include "compiler/ops/qlinear_conv_add/op.h"

#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/qlinear_conv/lower.h"

namespace etch {

namespace {

constexpr OpName kQLinearConvAddNames[] = {{kEtch, "QLinearConvAdd", 1}};
constexpr int kResidual = 9;

void read_limits(ResolveContext& context, QLinearConvAdd& params) {
  const std::int64_t least = min_of(params.dtype), most = max_of(params.dtype);
  const std::int64_t low = context.int_attr("sum_low", least);
  const std::int64_t high = context.int_attr("sum_high", most);
  if (low < least || high > most || low > high) {
    context.attr_error("sum_low", cat("and sum_high must be a range within ", name_of(params.dtype),
                                      ", got ", low, " and ", high));
    return;
  }
  params.low = static_cast<int>(low);
  params.high = static_cast<int>(high);
}

bool check_residual(ResolveContext& context, const Shape& shape, DType dtype) {
  if (!context.has_input(kResidual)) {
    context.error(DiagKind::kGraph, "input 9 (residual) is missing");
    return false;
  }
  if (!check_dtype(context, kResidual, "residual", {dtype})) return false;
  if (context.shape(kResidual) == shape) return true;
  context.input_error(DiagKind::kShape, kResidual, "residual",
                      cat("must be ", to_string(shape), " like the convolution's result, got ",
                          to_string(context.shape(kResidual))));
  return false;
}

void resolve_qlinear_conv_add(ResolveContext& context) {
  const ConvLayout layout = read_channels_last(context);
  auto conv = resolve_qlinear_conv_inputs(context, ConvDirection::kForward, layout);
  if (!conv) return;
  QLinearConvAdd params{*std::move(conv), context.dtype(7), {}, {}, false, 0, 255};
  params.residual_is_a = context.int_attr("residual_is_a", 0) != 0;
  read_limits(context, params);
  const Shape shape = params.conv.geometry.output_shape();
  if (!check_residual(context, shape, params.dtype)) return;
  const auto residual = scalar_quantization(context, {"residual", 10, 11}, params.dtype);
  const auto sum = scalar_quantization(context, {"sum", 12, 13}, params.dtype);
  if (!residual || !sum) return;
  if (!params.conv.x || !params.conv.w || !params.conv.y) {
    context.error(DiagKind::kUnsupported, "scales and zero points must be known at compile time");
    return;
  }
  params.residual = *residual;
  params.sum = *sum;
  check_sum_ratios(context, params.conv.y->scale_at(0), params.residual.scale, params.sum.scale);
  context.set_output(0, params.dtype, shape);
  context.set_params(std::move(params));
}

LayoutRule conv_add_layout(const Node& node) {
  return qlinear_conv_layout(params_of<QLinearConvAdd>(node).conv);
}

std::optional<HaloWish> halo(const Graph& graph, const Node& node) {
  return qlinear_conv_halo(graph, node, params_of<QLinearConvAdd>(node).conv);
}

}  // namespace

std::vector<Tensor> reference_qlinear_conv_add(const Node& node,
                                               std::span<const Tensor* const> inputs);
void lower_qlinear_conv_add(Lowering& lowering, const Node& node);

extern const OpDef kOp_qlinear_conv_add = {.folder = "qlinear_conv_add",
                                           .names = kQLinearConvAddNames,
                                           .arity = {.min_inputs = 8, .max_inputs = 14},
                                           .resolve = resolve_qlinear_conv_add,
                                           .reference = reference_qlinear_conv_add,
                                           .lower = lower_qlinear_conv_add,
                                           .layout = conv_add_layout,
                                           .halo = halo};

}  // namespace etch
