// Products with arguments; see general.h.
#include "compiler/kernels/products/general.h"

#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/kernels/conv/convolution.h"
#include "compiler/kernels/products/packed_product.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(GeneralConvStep);
ETCH_INSTANTIATE_STEP(GeneralMatMulStep);
ETCH_INSTANTIATE_STEP(FoldStep);
ETCH_INSTANTIATE_STEP(AddToRowsStep);
ETCH_INSTANTIATE_STEP(FillZeroPointStep);
ETCH_INSTANTIATE_STEP(FloatPoolStep);

void set_runtime_axes(rt::ConvAxis (&out)[3], const std::vector<ConvAxis>& axes, const View& x,
                      const View& y) {
  const auto narrow = [](std::int64_t n) { return static_cast<std::int32_t>(n); };
  for (rt::ConvAxis& axis : out) axis = {1, 1, 1, 1, 1, 0, 0, 0, 0};
  const std::vector<std::int64_t> x_steps = steps_of(x);
  const std::vector<std::int64_t> y_steps = steps_of(y);
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const ConvAxis& from = axes[a];
    out[3 - axes.size() + a] = {
        narrow(from.in),       narrow(from.kernel),    narrow(from.out), narrow(from.stride),
        narrow(from.dilation), narrow(from.pad_begin), x_steps[a + 2],   0,
        y_steps[a + 2]};
  }
}

namespace {

// Takes scales, zero point of y and bias: the order of QLinearConv's and QLinearMatMul's inputs.
RequantizeArguments requantize_arguments(StepArguments& arguments, const ProductInputs& inputs) {
  RequantizeArguments out;
  out.x_scale = arguments.parameter(inputs.x_scale, "x_scale").argument;
  const Input w_scale = arguments.parameter(inputs.w_scale, "w_scale");
  out.w_scale = w_scale.argument;
  out.how.scale_step = w_scale.parameter_step();
  out.y_scale = arguments.parameter(inputs.y_scale, "y_scale").argument;
  out.y_zero = arguments.parameter(inputs.y_zero_point, "y_zero_point").argument;
  out.how.y_zero = out.y_zero.stored;
  const Input bias = arguments.parameter(inputs.bias, "bias", DType::kS32);
  out.bias = bias.argument;
  out.how.bias_step = bias.parameter_step();
  return out;
}

void set_output_form(rt::Requantized& how, const View& y, DType type) {
  how.y = stored_as(y);
  how.range = {static_cast<std::int32_t>(min_of(type)), static_cast<std::int32_t>(max_of(type))};
}

rt::ConvShape conv_shape(const ConvGeometry& g, const View& x, const Input& w, const View& y) {
  rt::ConvShape shape{};
  shape.transposed = g.direction == ConvDirection::kTransposed;
  shape.batch = static_cast<std::int32_t>(g.batch);
  shape.group = static_cast<std::int32_t>(g.group);
  shape.in = static_cast<std::int32_t>(g.in_per_group());
  shape.out = static_cast<std::int32_t>(g.out_per_group());
  const std::vector<std::int64_t> x_steps = steps_of(x);
  const std::vector<std::int64_t> y_steps = steps_of(y);
  const std::vector<std::int64_t> w_steps = steps_of(w.view);
  shape.x_image = x_steps[0];
  shape.x_channel = x_steps[1];
  shape.y_image = y_steps[0];
  shape.y_channel = y_steps[1];
  shape.w_out = w_steps[shape.transposed ? 1 : 0];
  shape.w_in = w_steps[shape.transposed ? 0 : 1];
  shape.w_group =
      shape.transposed ? g.in_per_group() * shape.w_in : g.out_per_group() * shape.w_out;
  set_runtime_axes(shape.axis, g.axes, x, y);
  for (std::size_t a = 0; a < g.axes.size(); ++a)
    shape.axis[3 - g.axes.size() + a].w_step = w_steps[a + 2];
  return shape;
}

}  // namespace

void add_general_conv(Lowering& lowering, const Node& node, const ConvGeometry& geometry,
                      const ProductInputs& inputs) {
  if (refuse_empty(lowering, node)) return;
  const DType type = *lowering.value(node.outputs[0]).dtype;
  auto step = std::make_unique<GeneralConvStep>();
  step->kind = "conv";
  step->summary = cat("convolution with run-time arguments, ", geometry.in_channels, " -> ",
                      counted(geometry.out_channels, "channel"));
  StepArguments arguments(lowering, node, *step);
  GeneralConvPlan& plan = step->plan;
  plan.requantized = type != DType::kS32;
  const Input x = arguments.input(inputs.x, "x");
  const Input x_zero = arguments.parameter(inputs.x_zero_point, "x_zero_point");
  const Input w = arguments.input(inputs.w, "w");
  const Input w_zero = arguments.parameter(inputs.w_zero_point, "w_zero_point");
  if (plan.requantized) plan.out = requantize_arguments(arguments, inputs);
  const View y_as_is = lowering.new_output(node, 0, order_like(x.view));
  set_output_form(plan.out.how, y_as_is, type);
  plan.y = arguments.output("y", y_as_is);
  plan.shape = conv_shape(geometry, channels_first(x.view, geometry.layout), w,
                          channels_first(y_as_is, geometry.layout));
  plan.shape.x = x.argument.stored;
  plan.shape.x_zero = x_zero.argument.stored;
  plan.shape.w = w.argument.stored;
  plan.shape.w_zero = w_zero.argument.stored;
  plan.shape.w_zero_step = w_zero.parameter_step();
  plan.x = x.argument;
  plan.x_zero = x_zero.argument;
  plan.w = w.argument;
  plan.w_zero = w_zero.argument;
  arguments.add(std::move(step));
}

namespace {

// The step from one row (column) to the next of a parameter that belongs to `size` rows of each
// matrix, and its steps along the batch when every matrix has its own.
struct ParameterSteps {
  std::int64_t step = 0;
  std::vector<std::int64_t> batch;
};

ParameterSteps parameter_steps(const Input& parameter, std::int64_t size, const Shape& own_batch,
                               const Shape& batch) {
  ParameterSteps out{0, std::vector<std::int64_t>(batch.size(), 0)};
  const std::int64_t entries = element_count(parameter.view.shape);
  if (entries == 1) return out;
  out.step = size == 1 ? 0 : 1;
  if (entries == size) return out;
  out.batch = broadcast_view(own_batch, batch).strides;
  for (std::int64_t& step : out.batch) step *= size;
  return out;
}

}  // namespace

void add_general_matmul(Lowering& lowering, const Node& node, const MatMulGeometry& g,
                        const ProductInputs& inputs) {
  if (refuse_empty(lowering, node)) return;
  const DType type = *lowering.value(node.outputs[0]).dtype;
  auto step = std::make_unique<GeneralMatMulStep>();
  step->kind = "matmul";
  step->summary = cat("matrix product with run-time arguments, ", g.rows, " x ", g.depth, " by ",
                      g.depth, " x ", g.cols);
  StepArguments arguments(lowering, node, *step);
  GeneralMatMulPlan& plan = step->plan;
  plan.requantized = type != DType::kS32;
  const Input a = arguments.input(inputs.x, "a");
  const Input a_zero = arguments.parameter(inputs.x_zero_point, "a_zero_point");
  const Input b = arguments.input(inputs.w, "b");
  const Input b_zero = arguments.parameter(inputs.w_zero_point, "b_zero_point");
  ParameterSteps b_scale{0, std::vector<std::int64_t>(g.batch.size(), 0)};
  if (plan.requantized) {
    plan.out.x_scale = arguments.parameter(inputs.x_scale, "a_scale").argument;
    const Input scale = arguments.parameter(inputs.w_scale, "b_scale");
    plan.out.w_scale = scale.argument;
    b_scale = parameter_steps(scale, g.cols, g.b_batch, g.batch);
    plan.out.how.scale_step = b_scale.step;
    plan.out.y_scale = arguments.parameter(inputs.y_scale, "y_scale").argument;
    plan.out.y_zero = arguments.parameter(inputs.y_zero_point, "y_zero_point").argument;
    plan.out.how.y_zero = plan.out.y_zero.stored;
  }
  const View y = lowering.new_output(node, 0, row_major(static_cast<int>(g.output.size())));
  set_output_form(plan.out.how, y, type);
  plan.y = arguments.output("y", y);

  const ParameterSteps a_rows = parameter_steps(a_zero, g.rows, g.a_batch, g.batch);
  const ParameterSteps b_cols = parameter_steps(b_zero, g.cols, g.b_batch, g.batch);
  const bool is_row = a.view.rank() == 1;
  const bool is_column = b.view.rank() == 1;
  std::vector<std::int64_t> y_steps = steps_of(y);
  rt::MatMulShape& shape = plan.shape;
  shape.rows = static_cast<std::int32_t>(g.rows);
  shape.depth = static_cast<std::int32_t>(g.depth);
  shape.cols = static_cast<std::int32_t>(g.cols);
  shape.a_row = is_row ? 0 : steps_of(a.view)[static_cast<std::size_t>(a.view.rank() - 2)];
  shape.a_depth = steps_of(a.view).back();
  shape.b_depth = is_column ? steps_of(b.view)[0]
                            : steps_of(b.view)[static_cast<std::size_t>(b.view.rank() - 2)];
  shape.b_col = is_column ? 0 : steps_of(b.view).back();
  shape.y_col = is_column ? 0 : y_steps.back();
  if (!is_column) y_steps.pop_back();
  shape.y_row = is_row ? 0 : y_steps.back();
  if (!is_row) y_steps.pop_back();
  shape.a = a.argument.stored;
  shape.a_zero = a_zero.argument.stored;
  shape.b = b.argument.stored;
  shape.b_zero = b_zero.argument.stored;
  shape.a_zero_step = a_rows.step;
  shape.b_zero_step = b_cols.step;
  plan.a = a.argument;
  plan.a_zero = a_zero.argument;
  plan.b = b.argument;
  plan.b_zero = b_zero.argument;
  const std::vector<std::int64_t> a_batch = batch_steps(a.view, g.batch);
  const std::vector<std::int64_t> b_batch = batch_steps(b.view, g.batch);
  for (std::size_t d = 0; d < g.batch.size(); ++d) {
    if (g.batch[d] == 1) continue;
    plan.matrices.axes.push_back(
        {static_cast<int>(g.batch[d]), {a_batch[d], b_batch[d], y_steps[d], 0}});
    plan.parameters.push_back({a_rows.batch[d], b_cols.batch[d], b_scale.batch[d], 0});
  }
  arguments.add(std::move(step));
}

}  // namespace etch
