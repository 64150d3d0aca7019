// Building float products from their stages; see float_products.h and floats/.
#include "compiler/kernels/products/float_products.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/convolution.h"
#include "compiler/kernels/conv/tuning.h"
#include "compiler/kernels/products/floats/describe.h"
#include "compiler/kernels/products/floats/halves.h"
#include "compiler/kernels/products/floats/pack.h"
#include "compiler/kernels/products/floats/plan.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/lower/halves.h"
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

}  // namespace

ETCH_INSTANTIATE_STEP(FloatProductStep);
ETCH_INSTANTIATE_STEP(PackStep);

namespace {

constexpr char kPanels[] = "panels of columns, see etch_float_products.h";

std::unique_ptr<FloatProductStep> make_step(const Lowering& lowering,
                                            FloatProductDescription description) {
  auto step = std::make_unique<FloatProductStep>();
  step->kind = std::move(description.kind);
  step->summary = std::move(description.summary);
  step->macs = step->float_macs = description.macs;
  step->facts.emplace_back(cat("sums in order of kernel position, then of channel, ",
                               how_rounded(lowering.float_steps())));
  return step;
}

}  // namespace

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

Input packed_weights(Lowering& lowering, const Node& node, int i, const rt::PackShape& shape,
                     StepArguments& arguments, const char* name, const char* constant_name) {
  if (!lowering.is_constant(node, i) && is_in_panels(shape)) return arguments.parameter(i, name);
  if (!lowering.is_constant(node, i))
    return arguments.memory(pack_at_run_time(lowering, node, i, shape), name);
  return arguments.data(in_panels(lowering.constant(node, i), shape), constant_name, kPanels);
}

namespace {

bool has_input(const Node& node, std::size_t i) {
  return i < node.inputs.size() && node.inputs[i] != kNoValue;
}

// What is added to the sums: input 2, or nothing.
Input addend(const Node& node, StepArguments& arguments) {
  if (has_input(node, 2)) return arguments.parameter(2, "bias");
  return arguments.data(Tensor::of<float>({1}, {-0.0F}), "nothing", "-0, which changes no sum");
}

Order order_of(const ConvGeometry& g) {
  return conv_order(g.layout, static_cast<int>(g.axes.size()) + 2);
}

// Keeps constant weights as 16 bits where these hold them; once the plan has its kind and shape,
// before the step has outputs. False where they stay floats: also where a product of another shape,
// or of another size that is known at run time, reads them too and might want floats.
bool keep_halves(Lowering& lowering, const Node& node, StepArguments& arguments,
                 FloatProductStep& step) {
  if (lowering.tuning().for_all_sizes || !lowering.reads_constants_alike(node)) return false;
  const auto weights = std::ranges::find(step.constants, "weights", &ConstantArray::suffix);
  if (weights == step.constants.end()) return false;
  Tensor floats(DType::kF32, {std::ssize(weights->bytes) / bytes_of(DType::kF32)});
  std::ranges::copy(weights->bytes, floats.mutable_bytes().begin());
  const std::optional<DType> type = kept_as_halves(floats);
  const auto halves = type ? choose_halves(step.plan, lowering.isa(), *type) : std::nullopt;
  if (!halves) return false;
  const Tensor narrow = as_halves(floats, *type);
  weights->element = narrow.dtype();
  weights->bytes.assign(narrow.bytes().begin(), narrow.bytes().end());
  weights->comment = cat(name_of(*type), " in ", weights->comment);
  step.plan.halves = *halves;
  step.facts.emplace_back(cat("weights are kept as ", name_of(*type), ", which holds all of them"));
  if (halves->columns == 0) return true;
  const View widened = lowering.scratch(DType::kF32, floats_widened(step.plan));
  lowering.align(widened, std::min(64, 4 * halves->columns));  // no vector in two lines of a cache
  step.plan.halves.widened = arguments.scratch("widened", widened);
  return true;
}

// Tells the plan where its operands are, and how its sums take a product.
void place(const Lowering& lowering, FloatProductPlan& plan, const Input& x, const Input& w,
           const Input& c, int y) {
  plan.steps = lowering.float_steps();
  plan.x = x.argument;
  plan.w = w.argument;
  plan.c = c.argument;
  plan.y = y;
}

// A transposed convolution whose taps do not meet; false where it is not one.
bool add_columns_of_taps(Lowering& lowering, const Node& node, const ConvGeometry& g) {
  const bool biased = has_input(node, 2);
  if (!taps_stay_apart(g) || lowering.is_constant(node, 0) || !lowering.is_constant(node, 1) ||
      (biased && !lowering.is_constant(node, 2)))
    return false;
  auto step = make_step(lowering, describe_float_conv(g, false));
  StepArguments arguments(lowering, node, *step);
  const Input x = arguments.memory(lowering.ordered(node, 0, order_of(g)), "x");
  const View y = lowering.new_output(node, 0, order_of(g));
  const View to = channels_first(y, g.layout);
  const std::int64_t inner = adjacent_taps(g, to);
  const Input w =
      arguments.data(panels_of_taps(g, lowering.constant(node, 1), inner), "weights", kPanels);
  const Input bias = biased ? arguments.data(repeated(lowering.constant(node, 2), inner), "bias",
                                             "once per position of the kernel in a row")
                            : addend(node, arguments);
  step->plan = plan_columns_of_taps(g, channels_first(x.view, g.layout), to, inner);
  step->plan.end.c_column = biased ? 1 : 0;
  keep_halves(lowering, node, arguments, *step);
  place(lowering, step->plan, x, w, bias, arguments.output("y", y));
  arguments.add(std::move(step));
  return true;
}

bool all_finite(const Tensor& tensor) {
  return std::ranges::all_of(tensor.as<float>(), [](float x) { return std::isfinite(x); });
}

void set_relu(FloatProductStep& step, AfterConv after) {
  if (!after.relu) return;
  const bool limited = std::isfinite(after.most);
  step.plan.end.relu = limited ? 2 : 1;
  if (limited) step.plan.end.most = after.most;
  step.summary += limited ? cat(", Clip to 0 and ", decimal(after.most)) : ", Relu";
}

int lanes_of(const Lowering& lowering) {
  return lowering.isa().assembly == Assembly::kNone ? lowering.isa().lanes : 1;
}

// Whether a convolution of planes can have this node's operands.
bool has_operands_of_planes(const Lowering& lowering, const Node& node, const ConvGeometry& g) {
  return lanes_of(lowering) > 1 && g.layout == ConvLayout::kChannelsFirst &&
         !lowering.is_constant(node, 0) && lowering.is_constant(node, 1) &&
         all_finite(lowering.constant(node, 1));
}

View dense_planes(const Shape& shape) {
  View dense;
  dense.dtype = DType::kF32;
  dense.shape = shape;
  lay_out(dense, row_major(static_cast<int>(shape.size())));
  return dense;
}

struct PlaneOperands {
  View x, y;
  Tensor weights;
};

void add_planes_step(Lowering& lowering, const Node& node, const ConvGeometry& g,
                     const FloatProductPlan& plan, const PlaneOperands& operands, AfterConv after) {
  auto step = make_step(lowering, describe_float_conv(g, is_depthwise(g)));
  step->summary += ", of planes";
  step->plan = plan;
  StepArguments arguments(lowering, node, *step);
  const Input x = arguments.memory(operands.x, "x");
  const Input w =
      arguments.data(operands.weights, "weights", "panels of channels, see etch_float_planes.h");
  const Input bias = addend(node, arguments);
  step->plan.end.c_column = bias.parameter_step();
  set_relu(*step, after);
  step->plan.lines =
      arguments.scratch("lines", lowering.scratch(DType::kF32, floats_of_lines(plan)));
  place(lowering, step->plan, x, w, bias, arguments.output("y", operands.y));
  arguments.add(std::move(step));
}

// A convolution between planes that are there, where no reader of y asks for another order.
bool add_planes(Lowering& lowering, const Node& node, const ConvGeometry& g, AfterConv after) {
  const Order planes = row_major(static_cast<int>(g.axes.size()) + 2);
  if (!has_operands_of_planes(lowering, node, g) || !has_order(lowering.view(node, 0), planes))
    return false;
  const int lanes = lanes_of(lowering);
  const View& x = lowering.view(node, 0);
  if (!plan_planes(g, x, dense_planes(g.output_shape()), lanes)) return false;
  const View y = lowering.new_output(node, 0, planes);
  const auto plan = plan_planes(g, x, y, lanes);
  if (!plan) return false;  // its readers request another order
  Tensor weights = in_panels(lowering.constant(node, 1), pack_shape(g, *plan));
  add_planes_step(lowering, node, g, *plan, {x, y, std::move(weights)}, after);
  return true;
}

// A transposed convolution to few channels; x is turned if it is not planes.
bool add_transposed_planes(Lowering& lowering, const Node& node, const ConvGeometry& g) {
  const Order planes = row_major(static_cast<int>(g.axes.size()) + 2);
  if (!has_operands_of_planes(lowering, node, g)) return false;
  const int lanes = lanes_of(lowering);
  const bool turned = !has_order(lowering.view(node, 0), planes);
  const View dense_x = dense_planes(lowering.view(node, 0).shape);
  if (!plan_transposed_planes(g, dense_x, dense_planes(g.output_shape()), lanes, turned))
    return false;
  const View y = lowering.new_output(node, 0, planes);
  if (!plan_transposed_planes(g, dense_x, y, lanes, turned)) return false;
  const View x = lowering.ordered(node, 0, planes);
  const auto plan = plan_transposed_planes(g, x, y, lanes, turned);
  ETCH_CHECK(plan.has_value());
  Tensor weights = panels_of_phases(lowering.constant(node, 1), plan->shape);
  add_planes_step(lowering, node, g, *plan, {x, y, std::move(weights)}, {});
  return true;
}

// What may read zeros in place of the padding, as weights are finite.
void read_zeros(Lowering& lowering, StepArguments& arguments, FloatProductPlan& plan) {
  if (takes_depthwise_lines(plan)) {
    plan.kind = FloatProductKind::kDepthwiseLines;
  } else if (takes_indirect_tiles(plan, lanes_of(lowering))) {
    plan.kind = FloatProductKind::kIndirect;
    plan.lines = arguments.scratch("zeros", lowering.scratch(DType::kF32, plan.shape.in));
  }
}

}  // namespace

void add_float_conv(Lowering& lowering, const Node& node, const ConvGeometry& g, AfterConv after) {
  if (refuse_empty(lowering, node)) return;
  if (add_planes(lowering, node, g, after) || add_transposed_planes(lowering, node, g) ||
      add_columns_of_taps(lowering, node, g))
    return;
  const bool constant_x = lowering.is_constant(node, 0);
  const bool depthwise = is_depthwise(g) && !constant_x;
  auto step = make_step(lowering, describe_float_conv(g, depthwise));
  StepArguments arguments(lowering, node, *step);
  const Input x =
      constant_x ? arguments.data(lowering.constant(node, 0), "x", "row-major, as in the model")
                 : arguments.memory(lowering.ordered(node, 0, order_of(g)), "x");
  rt::PackShape shape = pack_shape(g, depthwise);
  if (g.direction != ConvDirection::kTransposed && is_pointwise(g) &&
      is_contiguous(x.view, order_of(g)))
    narrow_panels(shape, lowering.is_constant(node, 1), lowering.isa());
  const Input w = packed_weights(lowering, node, 1, shape, arguments);
  const Input bias = addend(node, arguments);
  const View y = lowering.new_output(node, 0, order_of(g));
  step->plan =
      plan_float_conv(g, depthwise, channels_first(x.view, g.layout), channels_first(y, g.layout));
  if (!depthwise) merge_taps(step->plan.shape);
  if (!depthwise && shape.panel != rt::kPanel) step->plan.shape.panel = shape.panel;
  if (!keep_halves(lowering, node, arguments, *step) && lanes_of(lowering) > 1 &&
      lowering.is_constant(node, 1) && all_finite(lowering.constant(node, 1)))
    read_zeros(lowering, arguments, step->plan);
  step->plan.end.c_column = bias.parameter_step();
  set_relu(*step, after);
  place(lowering, step->plan, x, w, bias, arguments.output("y", y));
  arguments.add(std::move(step));
}

namespace {

// See has_dense_columns().
void add_single_row(Lowering& lowering, const Node& node, const MatMulGeometry& g) {
  auto step = make_step(lowering, describe_float_matmul(g));
  StepArguments arguments(lowering, node, *step);
  const Input a = arguments.parameter(0, "a");
  const Input b = arguments.input(1, "b");
  const Input nothing = addend(node, arguments);
  const View y = lowering.new_output(node, 0, row_major(static_cast<int>(g.output.size())));
  step->plan = plan_single_row(g, b.view, y);
  take_rows_as_lanes(step->plan, lowering.isa().lanes);
  place(lowering, step->plan, b, a, nothing, arguments.output("y", y));
  arguments.add(std::move(step));
}

}  // namespace

void add_float_matmul(Lowering& lowering, const Node& node, const MatMulGeometry& g) {
  if (refuse_empty(lowering, node)) return;
  if (!lowering.is_constant(node, 1) && lowering.value(node.inputs[0]).shape->size() > 1 &&
      has_dense_columns(g, lowering.view(node, 1), lowering.isa().lanes)) {
    return add_single_row(lowering, node, g);
  }
  auto step = make_step(lowering, describe_float_matmul(g));
  StepArguments arguments(lowering, node, *step);
  const Input a = arguments.input(0, "a");
  rt::PackShape shape = pack_shape(g);
  const bool one_b = element_count(g.b_batch) == 1;
  if (!lowering.is_constant(node, 1))
    leave_rows(shape, one_b ? g.rows * element_count(g.a_batch) : g.rows);
  narrow_panels(shape, lowering.is_constant(node, 1), lowering.isa());
  const Input b = packed_weights(lowering, node, 1, shape, arguments);
  const Input nothing = addend(node, arguments);
  const View y = lowering.new_output(node, 0, row_major(static_cast<int>(g.output.size())));
  const bool is_column = lowering.value(node.inputs[1]).shape->size() == 1;
  step->plan =
      plan_float_matmul(g, a.view, is_column ? RightHandSide::kColumn : RightHandSide::kMatrix, y);
  if (shape.panel != rt::kPanel) step->plan.shape.panel = shape.panel;
  take_rows_as_lanes(step->plan, lowering.isa().lanes);
  keep_halves(lowering, node, arguments, *step);
  place(lowering, step->plan, a, b, nothing, arguments.output("y", y));
  arguments.add(std::move(step));
}

void add_float_gemm(Lowering& lowering, const Node& node, const GemmGeometry& g,
                    GemmFactors factors) {
  if (refuse_empty(lowering, node)) return;
  auto step = make_step(lowering, describe_float_gemm(g));
  StepArguments arguments(lowering, node, *step);
  const Input a = arguments.input(0, "a");
  rt::PackShape shape = pack_shape(g);
  narrow_panels(shape, lowering.is_constant(node, 1), lowering.isa());
  const Input b = packed_weights(lowering, node, 1, shape, arguments);
  const Input c = addend(node, arguments);
  const View y = lowering.new_output(node, 0, row_major(2));
  step->plan = plan_float_gemm(g, a.view, y);
  if (shape.panel != rt::kPanel) step->plan.shape.panel = shape.panel;
  take_rows_as_lanes(step->plan, lowering.isa().lanes);
  const bool adds = has_input(node, 2);
  step->plan.end = {factors.alpha, adds ? factors.beta : 1.0F, adds ? g.c_row_stride : 0,
                    adds ? g.c_col_stride : 0, 0};
  keep_halves(lowering, node, arguments, *step);
  place(lowering, step->plan, a, b, c, arguments.output("y", y));
  arguments.add(std::move(step));
}

}  // namespace etch
