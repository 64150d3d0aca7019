// Float products; see float_products.h.
#include "compiler/kernels/products/float_products.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/convolution.h"
#include "compiler/kernels/products/general.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step_impl.h"
#include "templates/kernels/products/float_products.h"

namespace etch {

namespace {

class FloatProductStep : public StagedStep<FloatProductStep> {
 public:
  FloatProductPlan plan;
  template <class S>
  void kernel(S& s) const {
    float_product_kernel(s, plan);
  }
};

class PackStep : public StagedStep<PackStep> {
 public:
  PackPlan plan;
  template <class S>
  void kernel(S& s) const {
    pack_kernel(s, plan);
  }
};

std::int32_t narrow(std::int64_t n) { return static_cast<std::int32_t>(n); }

}  // namespace

ETCH_INSTANTIATE_STEP(FloatProductStep);
ETCH_INSTANTIATE_STEP(PackStep);

namespace {

// Input `i`, dense and row-major, in memory and in panels.
View pack_at_run_time(Lowering& lowering, const Node& node, int i, const rt::PackShape& shape) {
  auto step = std::make_unique<PackStep>();
  step->kind = "pack";
  step->plan.shape = shape;
  StepArguments arguments(lowering, node, *step);
  const std::int64_t n = arguments.parameter(i, "w").argument.elements;
  step->summary = cat("put ", n, " weights into the order of the product");
  View packed = lowering.scratch(DType::kF32, n);
  arguments.output("packed", packed);
  arguments.add(std::move(step));
  return packed;
}

// Input `i` of `node` in panels, as an argument of a step.
Input packed_weights(Lowering& lowering, const Node& node, int i, const rt::PackShape& shape,
                     StepArguments& arguments) {
  if (!lowering.is_constant(node, i))
    return arguments.memory(pack_at_run_time(lowering, node, i, shape), "w");
  const Tensor& w = lowering.constant(node, i);
  Tensor packed(DType::kF32, {w.size()});
  rt::pack_panels(shape, w.as<float>().data(), packed.as<float>().data());
  return arguments.data(packed, "weights", "panels of columns, see etch_float_products.h");
}

// What is added to the sums: input `i`, or nothing.
Input addend(const Node& node, int i, StepArguments& arguments) {
  const auto at = static_cast<std::size_t>(i);
  if (at < node.inputs.size() && node.inputs[at] != kNoValue) return arguments.parameter(i, "bias");
  return arguments.data(Tensor::of<float>({1}, {-0.0F}), "nothing", "-0, which changes no sum");
}

std::unique_ptr<FloatProductStep> make_step(const char* kind) {
  auto step = std::make_unique<FloatProductStep>();
  step->kind = kind;
  for (rt::ConvAxis& axis : step->plan.shape.axis) axis = {1, 1, 1, 1, 1, 0, 0, 0, 0};
  step->plan.shape.batch = step->plan.shape.group = 1;
  step->plan.shape.along = 2;
  step->facts.emplace_back("sums in order of kernel position, then of channel, each step rounded");
  return step;
}

// ---- convolutions ----

rt::PackShape pack_shape(const ConvGeometry& g, bool depthwise) {
  std::int64_t taps = 1;
  for (const ConvAxis& axis : g.axes) taps *= axis.kernel;
  const std::int64_t in = g.in_per_group();
  const std::int64_t out = g.out_per_group();
  rt::PackShape shape{};
  shape.taps = narrow(taps);
  shape.tap_step = 1;
  if (depthwise) {
    shape.group = shape.in = 1;
    shape.out = shape.panel = narrow(g.group);
    shape.out_step = taps;
    return shape;
  }
  const bool transposed = g.direction == ConvDirection::kTransposed;
  shape.group = narrow(g.group);
  shape.in = narrow(in);
  shape.out = narrow(out);
  shape.panel = rt::kPanel;
  shape.group_step = in * out * taps;
  shape.in_step = transposed ? out * taps : taps;
  shape.out_step = transposed ? taps : in * taps;
  return shape;
}

bool is_pointwise(const ConvGeometry& g) {
  return std::all_of(g.axes.begin(), g.axes.end(), [](const ConvAxis& a) {
    return a.kernel == 1 && a.stride == 1 && a.pad_begin == 0 && a.in == a.out;
  });
}

// Axes without windows that continue each other become one, so that rows of tiles are long.
void merge_axes(rt::FloatConvShape& shape) {
  rt::ConvAxis& last = shape.axis[2];
  for (int a = 1; a >= 0; --a) {
    const rt::ConvAxis& outer = shape.axis[a];
    const bool follows =
        outer.x_step == last.out * last.x_step && outer.y_step == last.out * last.y_step;
    if (outer.out != 1 && !follows) return;
    last.in = last.out = last.out * outer.out;
    shape.axis[a] = {1, 1, 1, 1, 1, 0, 0, 0, 0};
  }
}

// Tiles run along the inner axis unless most of its positions see the border: that of a spectrogram
// may have five.
int axis_of_tiles(const rt::FloatConvShape& shape) {
  const auto inside = [&](int a) {
    const rt::Interior interior = rt::interior_of(shape.axis[a], shape.transposed);
    return interior.last - interior.first;
  };
  constexpr int kTile = 6;
  return inside(2) < kTile && inside(1) > inside(2) ? 1 : 2;
}

std::string describe(const ConvGeometry& g, bool depthwise) {
  std::string kernel;
  for (const ConvAxis& axis : g.axes) kernel += cat(kernel.empty() ? "" : "x", axis.kernel);
  return cat("float ", kernel, g.direction == ConvDirection::kTransposed ? " transposed" : "",
             depthwise ? " depthwise" : "", " convolution, ", g.in_channels, " -> ", g.out_channels,
             " channels");
}

void set_shape(rt::FloatConvShape& shape, const ConvGeometry& g, const View& x, const View& y) {
  shape.transposed = g.direction == ConvDirection::kTransposed;
  shape.batch = narrow(g.batch);
  shape.group = narrow(g.group);
  shape.in = narrow(g.in_per_group());
  shape.out = narrow(g.out_per_group());
  shape.x_image = steps_of(x)[0];
  shape.x_channel = steps_of(x)[1];
  shape.y_image = steps_of(y)[0];
  shape.y_channel = steps_of(y)[1];
  set_runtime_axes(shape.axis, g.axes, x, y);
  if (is_pointwise(g)) merge_axes(shape);
  shape.along = axis_of_tiles(shape);
}

std::int64_t count_macs(const ConvGeometry& g, std::int64_t taps) {
  const bool transposed = g.direction == ConvDirection::kTransposed;
  std::int64_t count = g.batch * taps;
  for (const ConvAxis& axis : g.axes) count *= transposed ? axis.in : axis.out;
  return count * g.in_per_group() * g.out_channels;
}

// ---- transposed convolutions whose taps do not meet ----

// Each output position of these has one tap: they are products of the pixels and matrices, one per
// position of the kernel or, where they are contiguous in y, per row of positions.
bool taps_stay_apart(const ConvGeometry& g) {
  return g.direction == ConvDirection::kTransposed && g.group == 1 &&
         std::all_of(g.axes.begin(), g.axes.end(), [](const ConvAxis& a) {
           return a.kernel == a.stride && a.dilation == 1 && a.pad_begin == 0 &&
                  a.out == a.in * a.stride;
         });
}

// [channel][output channel][position] -> [outer position][channel][inner position][output channel]
Tensor columns_of_taps(const ConvGeometry& g, const Tensor& weights, std::int64_t inner) {
  const std::int64_t taps = element_count(weights.shape()) / (g.in_channels * g.out_channels);
  const auto from = weights.as<float>();
  Tensor out(DType::kF32, {weights.size()});
  auto to = out.as<float>().begin();
  for (std::int64_t outer = 0; outer < taps / inner; ++outer) {
    for (std::int64_t c = 0; c < g.in_channels; ++c) {
      for (std::int64_t j = 0; j < inner; ++j) {
        for (std::int64_t m = 0; m < g.out_channels; ++m, ++to) {
          *to = from[static_cast<std::size_t>((c * g.out_channels + m) * taps + outer * inner + j)];
        }
      }
    }
  }
  return out;
}

Tensor repeated(const Tensor& tensor, std::int64_t times) {
  Tensor out(tensor.dtype(), {tensor.size() * times});
  const auto from = tensor.as<float>();
  for (std::size_t i = 0; i < out.as<float>().size(); ++i)
    out.as<float>()[i] = from[i % from.size()];
  return out;
}

// How many positions of the kernel on the last axis have their columns side by side.
std::int64_t adjacent_taps(const ConvGeometry& g, const View& y) {
  const std::vector<std::int64_t> steps = steps_of(y);
  return g.out_channels == 1 || steps.back() == g.out_channels * steps[1] ? g.axes.back().kernel
                                                                          : 1;
}

// x and y seen as [N, C, in...].
void set_columns_of_taps(FloatProductPlan& plan, const ConvGeometry& g, const View& x,
                         const View& y, std::int64_t inner) {
  rt::FloatConvShape& shape = plan.shape;
  set_runtime_axes(shape.axis, g.axes, x, y);
  shape.batch = narrow(g.batch);
  shape.in = narrow(g.in_channels);
  shape.out = narrow(inner * g.out_channels);
  shape.x_image = steps_of(x)[0];
  shape.x_channel = steps_of(x)[1];
  shape.y_image = steps_of(y)[0];
  shape.y_channel = g.out_channels == 1 ? shape.axis[2].y_step : steps_of(y)[1];
  std::int64_t w_step = g.in_channels * shape.out;
  for (int a = 2; a >= 0; --a) {
    rt::ConvAxis& axis = shape.axis[a];
    if (axis.kernel > 1 && !(a == 2 && inner > 1)) {
      plan.matrices.axes.insert(plan.matrices.axes.begin(),
                                {axis.kernel, {0, w_step, axis.y_step, 0}});
      w_step *= axis.kernel;
    }
    axis = {axis.in, 1, axis.in, 1, 1, 0, axis.x_step, 0, axis.stride * axis.y_step};
  }
}

// False where it is not such a convolution.
bool add_columns_of_taps(Lowering& lowering, const Node& node, const ConvGeometry& g) {
  const bool biased = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  if (!taps_stay_apart(g) || lowering.is_constant(node, 0) || !lowering.is_constant(node, 1) ||
      (biased && !lowering.is_constant(node, 2)))
    return false;
  const Order order = conv_order(g.layout, static_cast<int>(g.axes.size()) + 2);
  auto step = make_step("conv");
  step->summary = describe(g, false);
  step->macs = count_macs(
      g, element_count(lowering.constant(node, 1).shape()) / (g.in_channels * g.out_channels));
  step->float_macs = step->macs;
  StepArguments arguments(lowering, node, *step);
  const Input x = arguments.memory(lowering.ordered(node, 0, order), "x");
  const View y = lowering.new_output(node, 0, order);
  FloatProductPlan& plan = step->plan;
  const View to = channels_first(y, g.layout);
  const std::int64_t inner = adjacent_taps(g, to);
  const Tensor columns = columns_of_taps(g, lowering.constant(node, 1), inner);
  set_columns_of_taps(plan, g, channels_first(x.view, g.layout), to, inner);
  rt::PackShape packing{};
  packing.group = narrow(columns.size() / (g.in_channels * plan.shape.out));
  packing.taps = 1;
  packing.in = plan.shape.in;
  packing.out = plan.shape.out;
  packing.panel = rt::kPanel;
  packing.group_step = g.in_channels * plan.shape.out;
  packing.in_step = plan.shape.out;
  packing.out_step = 1;
  Tensor packed(DType::kF32, {columns.size()});
  rt::pack_panels(packing, columns.as<float>().data(), packed.as<float>().data());
  plan.x = x.argument;
  plan.w =
      arguments.data(packed, "weights", "panels of columns, see etch_float_products.h").argument;
  const Input bias = biased ? arguments.data(repeated(lowering.constant(node, 2), inner), "bias",
                                             "once per position of the kernel in a row")
                            : addend(node, 2, arguments);
  plan.c = bias.argument;
  plan.end.c_column = biased ? 1 : 0;
  plan.y = arguments.output("y", y);
  arguments.add(std::move(step));
  return true;
}

}  // namespace

void add_float_conv(Lowering& lowering, const Node& node, const ConvGeometry& geometry,
                    AfterConv after) {
  if (refuse_empty(lowering, node)) return;
  if (add_columns_of_taps(lowering, node, geometry)) return;
  const Order order = conv_order(geometry.layout, static_cast<int>(geometry.axes.size()) + 2);
  const bool constant_x = lowering.is_constant(node, 0);
  const bool depthwise = geometry.group > 1 && geometry.in_per_group() == 1 &&
                         geometry.out_per_group() == 1 && !constant_x;
  const rt::PackShape packing = pack_shape(geometry, depthwise);
  auto step = make_step(depthwise ? "depthwise" : "conv");
  step->summary = describe(geometry, depthwise);
  step->macs = count_macs(geometry, packing.taps);
  step->float_macs = step->macs;
  FloatProductPlan& plan = step->plan;
  StepArguments arguments(lowering, node, *step);
  const Input x =
      constant_x ? arguments.data(lowering.constant(node, 0), "x", "row-major, as in the model")
                 : arguments.memory(lowering.ordered(node, 0, order), "x");
  const Input w = packed_weights(lowering, node, 1, packing, arguments);
  const Input bias = addend(node, 2, arguments);
  const View y = lowering.new_output(node, 0, order);
  plan.x = x.argument;
  plan.w = w.argument;
  plan.c = bias.argument;
  plan.end.c_column = bias.parameter_step();
  if (after == AfterConv::kRelu) {
    plan.end.relu = 1;
    step->summary += ", Relu";
  }
  plan.y = arguments.output("y", y);
  set_shape(plan.shape, geometry, channels_first(x.view, geometry.layout),
            channels_first(y, geometry.layout));
  plan.depthwise = depthwise;
  ETCH_CHECK(!depthwise || (plan.shape.x_channel == 1 && plan.shape.y_channel == 1));
  arguments.add(std::move(step));
}

// ---- matrices ----

namespace {

struct MatrixSteps {
  std::int64_t a_row = 0, a_depth = 0, y_row = 0, y_col = 0;
  std::vector<std::int64_t> y_batch;  // along the dimensions of the batch
};

// A one-dimensional a is one row and a one-dimensional b one column, which y does not have.
enum class RightHandSide { kMatrix, kColumn };
MatrixSteps matrix_steps(const View& a, RightHandSide b, const View& y) {
  MatrixSteps out;
  const std::vector<std::int64_t> a_steps = steps_of(a);
  out.y_batch = steps_of(y);
  out.a_depth = a_steps.back();
  if (b == RightHandSide::kMatrix) {
    out.y_col = out.y_batch.back();
    out.y_batch.pop_back();
  }
  if (a.rank() > 1) {
    out.a_row = a_steps[a_steps.size() - 2];
    out.y_row = out.y_batch.back();
    out.y_batch.pop_back();
  }
  return out;
}

// One matrix [depth, cols].
rt::PackShape row_major_weights(std::int64_t depth, std::int64_t cols) {
  return {1, 1, narrow(depth), narrow(cols), rt::kPanel, 0, 0, cols, 1};
}

void set_matrices(FloatProductPlan& plan, std::int64_t rows, std::int64_t depth, std::int64_t cols,
                  const MatrixSteps& steps) {
  plan.shape.in = narrow(depth);
  plan.shape.out = narrow(cols);
  plan.shape.x_channel = steps.a_depth;
  plan.shape.y_channel = steps.y_col;
  plan.shape.axis[2].in = plan.shape.axis[2].out = narrow(rows);
  plan.shape.axis[2].x_step = steps.a_row;
  plan.shape.axis[2].y_step = steps.y_row;
}

// Steps of an operand's matrices along the dimensions of the broadcast batch, in elements.
std::vector<std::int64_t> batch_steps(const Shape& own, const std::vector<std::int64_t>& steps,
                                      std::size_t batch_rank) {
  std::vector<std::int64_t> out(batch_rank, 0);
  for (std::size_t d = 0; d + 2 < own.size(); ++d) {
    if (own[d] != 1) out[batch_rank - (own.size() - 2) + d] = steps[d];
  }
  return out;
}

struct Batches {
  std::vector<RowAxis> axes;
  std::int64_t rows = 1;  // of a product that takes in the innermost axes
};

// The batch as loops. Axes whose matrices share b and continue each other become rows.
Batches batches_of(const MatMulGeometry& g, const std::vector<std::int64_t> (&steps)[3],
                   const MatrixSteps& matrix) {
  Batches out;
  out.rows = g.rows;
  for (std::size_t d = g.batch.size(); d-- > 0;) {
    if (g.batch[d] == 1) continue;
    const RowAxis axis{static_cast<int>(g.batch[d]), {steps[0][d], steps[1][d], steps[2][d], 0}};
    const bool more_rows = out.axes.empty() && axis.step[1] == 0 &&
                           axis.step[0] == out.rows * matrix.a_row &&
                           axis.step[2] == out.rows * matrix.y_row;
    if (more_rows) {
      out.rows *= g.batch[d];
    } else {
      out.axes.insert(out.axes.begin(), axis);
    }
  }
  return out;
}

}  // namespace

void add_float_matmul(Lowering& lowering, const Node& node, const MatMulGeometry& g) {
  if (refuse_empty(lowering, node)) return;
  auto step = make_step("matmul");
  step->summary =
      cat("float matrix product, ", g.rows, " x ", g.depth, " by ", g.depth, " x ", g.cols);
  step->macs = element_count(g.batch) * g.rows * g.depth * g.cols;
  step->float_macs = step->macs;
  FloatProductPlan& plan = step->plan;
  StepArguments arguments(lowering, node, *step);
  const std::int64_t b_matrix = g.depth * g.cols;
  rt::PackShape packing = row_major_weights(g.depth, g.cols);
  packing.group = narrow(element_count(g.b_batch));
  packing.group_step = b_matrix;
  const Input a = arguments.input(0, "a");
  const Input b = packed_weights(lowering, node, 1, packing, arguments);
  const Input nothing = addend(node, 2, arguments);
  const View y = lowering.new_output(node, 0, row_major(static_cast<int>(g.output.size())));
  plan.x = a.argument;
  plan.w = b.argument;
  plan.c = nothing.argument;
  plan.y = arguments.output("y", y);

  const bool is_column = lowering.value(node.inputs[1]).shape->size() == 1;
  const MatrixSteps steps =
      matrix_steps(a.view, is_column ? RightHandSide::kColumn : RightHandSide::kMatrix, y);
  std::vector<std::int64_t> b_steps = broadcast_view(g.b_batch, g.batch).strides;
  for (std::int64_t& each : b_steps) each *= b_matrix;
  const auto a_batch = batch_steps(a.view.shape, steps_of(a.view), g.batch.size());
  const Batches batches = batches_of(g, {a_batch, b_steps, steps.y_batch}, steps);
  plan.matrices.axes = batches.axes;
  set_matrices(plan, batches.rows, g.depth, g.cols, steps);
  arguments.add(std::move(step));
}

void add_float_gemm(Lowering& lowering, const Node& node, const GemmGeometry& g,
                    GemmFactors factors) {
  if (refuse_empty(lowering, node)) return;
  auto step = make_step("matmul");
  step->summary =
      cat("float matrix product, ", g.rows, " x ", g.depth, " by ", g.depth, " x ", g.cols);
  step->macs = g.rows * g.depth * g.cols;
  step->float_macs = step->macs;
  FloatProductPlan& plan = step->plan;
  StepArguments arguments(lowering, node, *step);
  rt::PackShape packing = row_major_weights(g.depth, g.cols);
  if (g.transposed_b) {
    packing.in_step = 1;
    packing.out_step = g.depth;
  }
  const Input a = arguments.input(0, "a");
  const Input b = packed_weights(lowering, node, 1, packing, arguments);
  const Input c = addend(node, 2, arguments);
  const View y = lowering.new_output(node, 0, row_major(2));
  plan.x = a.argument;
  plan.w = b.argument;
  plan.c = c.argument;
  plan.y = arguments.output("y", y);
  const bool adds = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  plan.end = {factors.alpha, adds ? factors.beta : 1.0F, adds ? g.c_row_stride : 0,
              adds ? g.c_col_stride : 0, 0};
  const std::vector<std::int64_t> a_steps = steps_of(a.view);
  const std::vector<std::int64_t> y_steps = steps_of(y);
  set_matrices(plan, g.rows, g.depth, g.cols,
               {a_steps[g.transposed_a ? 1 : 0],
                a_steps[g.transposed_a ? 0 : 1],
                y_steps[0],
                y_steps[1],
                {}});
  arguments.add(std::move(step));
}

}  // namespace etch
