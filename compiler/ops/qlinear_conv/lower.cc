// Lowering of QLinearConv and QLinearConvTranspose to convolution steps.
#include "compiler/ops/qlinear_conv/lower.h"

#include "compiler/ir/four_bits.h"
#include "compiler/kernels/conv/convolution.h"
#include "compiler/kernels/products/general.h"

namespace etch {

LayoutRule qlinear_conv_layout(const QLinearConvParams& params) {
  const bool first = params.geometry.layout == ConvLayout::kChannelsFirst;
  return first ? LayoutRule::kChannelsLast : LayoutRule::kRowMajor;
}

LayoutRule qlinear_conv_layout(const Node& node) {
  return qlinear_conv_layout(params_of<QLinearConvParams>(node));
}

std::optional<HaloWish> qlinear_conv_halo(const Graph& graph, const Node& node,
                                          const QLinearConvParams& params) {
  if (!params.x) return std::nullopt;
  const int flip = graph.value(node.inputs[0]).dtype == DType::kS8 ? 128 : 0;
  std::optional<HaloWish> wish = conv_halo(params.geometry, params.x->zero_point_at(0) + flip);
  const Tensor* const w = graph.value(node.inputs[3]).constant.get();
  if (wish && w != nullptr && params.w)
    keep_halo_of_wide_weights(*wish, params.geometry, *w, params.w->zero_point);
  return wish;
}

std::optional<HaloWish> qlinear_conv_halo(const Graph& graph, const Node& node) {
  return qlinear_conv_halo(graph, node, params_of<QLinearConvParams>(node));
}

bool has_constant_parameters(const Lowering& lowering, const Node& node,
                             const QLinearConvParams& params) {
  const bool has_bias = node.inputs.size() > 8 && node.inputs[8] != kNoValue;
  return params.x && params.w && params.y && lowering.is_constant(node, 3) &&
         !lowering.is_constant(node, 0) && (!has_bias || lowering.is_constant(node, 8));
}

ConvProblem qlinear_conv_problem(Lowering& lowering, const Node& node,
                                 const QLinearConvParams& params) {
  const ConvGeometry& geometry = params.geometry;
  const auto rank = static_cast<int>(geometry.axes.size()) + 2;
  const Order order = conv_order(geometry.layout, rank);
  ConvProblem problem;
  problem.geometry = geometry;
  problem.x = channels_first(lowering.in_arena(node, 0, order), geometry.layout);
  problem.y = channels_first(lowering.new_output(node, 0, order), geometry.layout);
  problem.weights = centred_weights(geometry, lowering.constant(node, 3), params.w->zero_point);
  problem.four_bits = has_four_bits(node);
  problem.bias = bias_or_zero(lowering, node, 8, geometry.out_channels);
  problem.x_zero_point = params.x->zero_point_at(0) + lowering.stored_offset(problem.x);
  problem.scale =
      per_channel(combined_scale(*params.x, *params.w, *params.y), geometry.out_channels);
  problem.out.zero_point = params.y->zero_point_at(0) + lowering.stored_offset(problem.y);
  problem.out.low = params.low + lowering.stored_offset(problem.y);
  problem.out.high = params.high + lowering.stored_offset(problem.y);
  return problem;
}

void lower_qlinear_conv(Lowering& lowering, const Node& node) {
  const auto& params = params_of<QLinearConvParams>(node);
  if (has_constant_parameters(lowering, node, params)) {
    add_convolution(lowering, node, qlinear_conv_problem(lowering, node, params));
    return;
  }
  const DType y_type = *lowering.value(node.outputs[0]).dtype;
  if (params.low > min_of(y_type) || params.high < max_of(y_type)) {
    lowering.unsupported(node, "limits need weights, scales and bias known at compile time");
    return;
  }
  ProductInputs inputs = kQLinearInputs;
  inputs.bias = 8;
  add_general_conv(lowering, node, params.geometry, inputs);
}

}  // namespace etch
