// Lowering of ConvInteger: packed weights where they are constant, else the general loops.
#include "compiler/kernels/conv/convolution.h"
#include "compiler/kernels/products/general.h"
#include "compiler/ops/conv_integer/op.h"

namespace etch {

namespace {
bool has_input(const Node& node, std::size_t i) {
  return i < node.inputs.size() && node.inputs[i] != kNoValue;
}
}  // namespace

std::optional<HaloWish> conv_integer_halo(const Graph& graph, const Node& node) {
  const auto& params = params_of<ConvIntegerParams>(node);
  const Tensor* const w = graph.value(node.inputs[1]).constant.get();
  if (!params.w_zero_point || w == nullptr) return std::nullopt;
  if (!params.x_zero_point && has_input(node, 2)) {
    std::optional<HaloWish> wish = conv_halo(params.geometry, 0);
    if (!wish) return std::nullopt;
    wish->source = node.inputs[2];
    wish->forward_convolution = wish->per_channel = false;  // assembly takes it on a halo only
    return wish;
  }
  if (!params.x_zero_point) return std::nullopt;
  const int flip = graph.value(node.inputs[0]).dtype == DType::kS8 ? 128 : 0;
  std::optional<HaloWish> wish = conv_halo(params.geometry, params.x_zero_point->front() + flip);
  if (wish) keep_halo_of_wide_weights(*wish, params.geometry, *w, *params.w_zero_point);
  return wish;
}

void lower_conv_integer(Lowering& lowering, const Node& node) {
  const auto& params = params_of<ConvIntegerParams>(node);
  const ConvGeometry& geometry = params.geometry;
  if (!params.w_zero_point || !lowering.is_constant(node, 1) || lowering.is_constant(node, 0)) {
    add_general_conv(lowering, node, geometry,
                     {.x = 0, .x_zero_point = 2, .w = 1, .w_zero_point = 3});
    return;
  }
  const Order order = conv_order(geometry.layout, static_cast<int>(geometry.axes.size()) + 2);
  ConvProblem problem;
  problem.geometry = geometry;
  problem.x = lowering.in_arena(node, 0, order);
  problem.y = lowering.new_output(node, 0, order);
  problem.weights = centred_weights(geometry, lowering.constant(node, 1), *params.w_zero_point);
  problem.bias.assign(static_cast<std::size_t>(geometry.out_channels), 0);
  if (!params.x_zero_point && has_input(node, 2)) {
    add_convolution(lowering, node, std::move(problem), 2);
    return;
  }
  problem.x_zero_point = params.x_zero_point->front() + lowering.stored_offset(problem.x);
  add_convolution(lowering, node, problem);
}

}  // namespace etch
