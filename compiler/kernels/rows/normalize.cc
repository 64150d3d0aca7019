// See normalize.h.
#include "compiler/kernels/rows/normalize.h"

#include <memory>
#include <optional>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step_impl.h"
#include "templates/kernels/rows/normalize.h"

namespace etch {

namespace {

class RowsStep : public StagedStep<RowsStep> {
 public:
  RowsPlan plan;
  template <class S>
  void kernel(S& s) const {
    rows_kernel(s, plan);
  }
};

// The one dimension that the rows run along; nothing when they run along several.
std::optional<std::size_t> axis_of(const Shape& shape, const AxisRows& rows) {
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < shape.size(); outer *= shape[d], ++d) {
    if (outer == rows.outer && shape[d] == rows.size) return d;
  }
  return std::nullopt;
}

// Rows that have steps of their own along `axis`.
void plan_along(RowsPlan& plan, const View& x, const View& y, std::size_t axis) {
  Shape shape = x.shape;
  std::vector<std::int64_t> from = steps_of(x);
  std::vector<std::int64_t> to = steps_of(y);
  plan.shape.n = static_cast<std::int32_t>(shape[axis]);
  plan.shape.x_step = from[axis];
  plan.shape.y_step = to[axis];
  const auto at = static_cast<std::ptrdiff_t>(axis);
  shape.erase(shape.begin() + at);
  from.erase(from.begin() + at);
  to.erase(to.begin() + at);
  plan.outer = make_rows(shape, {from, to});
  if (plan.outer.n == 1 && !plan.outer.axes.empty()) {
    plan.shape.rows = plan.outer.axes.back().count;
    plan.shape.x_next = plan.outer.axes.back().step[0];
    plan.shape.y_next = plan.outer.axes.back().step[1];
    plan.outer.axes.pop_back();
    return;
  }
  plan.shape.rows = plan.outer.n;
  plan.shape.x_next = plan.outer.step[0];
  plan.shape.y_next = plan.outer.step[1];
  plan.outer.n = 1;
}

class NormalizeStep : public StagedStep<NormalizeStep> {
 public:
  NormalizePlan plan;
  template <class S>
  void kernel(S& s) const {
    normalize_kernel(s, plan);
  }
};

}  // namespace

ETCH_INSTANTIATE_STEP(RowsStep);
ETCH_INSTANTIATE_STEP(NormalizeStep);

void add_softmax_rows(Lowering& lowering, const Node& node, const AxisRows& rows,
                      SoftmaxResult result) {
  auto step = std::make_unique<RowsStep>();
  step->kind = "softmax";
  const bool logarithm = result == SoftmaxResult::kLogarithm;
  step->plan.kind = logarithm ? RowsPlan::Kind::kLogarithm : RowsPlan::Kind::kSoftmax;
  step->summary = cat(logarithm ? "logarithm of the softmax of " : "softmax of ",
                      counted(rows.outer * rows.inner, "row"), " of ", rows.size);
  const std::optional<std::size_t> axis = axis_of(*lowering.value(node.inputs[0]).shape, rows);
  if (axis) {
    const View x = lowering.view(node, 0);
    const View y = lowering.new_output(node, 0, order_like(x));
    plan_along(step->plan, x, y, *axis);
    lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
    return;
  }
  const Order order = row_major(lowering.view(node, 0).rank());
  const View x = lowering.contiguous(node, 0, order);
  const View y = lowering.new_dense_output(node, 0, order);
  const auto size = static_cast<std::ptrdiff_t>(rows.size);
  step->plan.shape = {static_cast<std::int32_t>(rows.outer),
                      static_cast<std::int32_t>(rows.size),
                      size,
                      1,
                      size,
                      1};
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

namespace {
std::int32_t narrow(std::int64_t n) { return static_cast<std::int32_t>(n); }

// Input 2, or zeros that change nothing.
Input addend_of(const Node& node, StepArguments& arguments) {
  if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) return arguments.parameter(2, "addend");
  return arguments.data(Tensor::of<float>({1}, {-0.0F}), "nothing", "-0, which changes no sum");
}

// Input 0 without gaps, in `order`.
Input dense_input(Lowering& lowering, const Node& node, const Order& order,
                  StepArguments& arguments) {
  if (lowering.is_constant(node, 0)) return arguments.input(0, "x");
  return arguments.memory(lowering.contiguous(node, 0, order), "x");
}

std::unique_ptr<NormalizeStep> make_normalization(std::int64_t rows, std::int64_t size,
                                                  float epsilon) {
  auto step = std::make_unique<NormalizeStep>();
  step->kind = "normalize";
  step->summary = cat("normalization of ", counted(rows, "row"), " of ", size);
  step->plan.epsilon = epsilon;
  step->plan.shape.n = narrow(size);
  return step;
}
}  // namespace

void add_plane_normalization(Lowering& lowering, const Node& node, float epsilon) {
  if (refuse_empty(lowering, node)) return;
  const Shape& shape = *lowering.value(node.inputs[0]).shape;
  const std::int64_t images = shape[0], channels = shape[1];
  const std::int64_t plane = element_count(shape) / images / channels;
  auto step = make_normalization(images * channels, plane, epsilon);
  NormalizePlan& plan = step->plan;
  StepArguments arguments(lowering, node, *step);
  const Order order = lowering.is_constant(node, 0) ? row_major(static_cast<int>(shape.size()))
                                                    : order_like(lowering.view(node, 0));
  const Input x = dense_input(lowering, node, order, arguments);
  const Input factor = arguments.parameter(1, "factor");
  const Input addend = addend_of(node, arguments);
  const View y = lowering.new_output(node, 0, order);
  plan.x = x.argument;
  plan.factor = factor.argument;
  plan.addend = addend.argument;
  plan.y = arguments.output("y", y);
  const std::vector<std::int64_t> from = steps_of(x.view);
  const std::vector<std::int64_t> to = steps_of(y);
  // Both are dense: the spatial dimensions continue each other. The last is the innermost.
  plan.shape.rows = narrow(channels);
  plan.shape.x_next = from[1];
  plan.shape.y_next = to[1];
  plan.shape.x_step = has_order(x.view, row_major(x.view.rank())) ? 1 : channels;
  plan.shape.y_step = has_order(y, row_major(y.rank())) ? 1 : channels;
  plan.affine = {1, 0, 1, 0};
  plan.outer.axes.push_back({static_cast<int>(images), {from[0], 0, 0, to[0]}});
  arguments.add(std::move(step));
}

void add_row_normalization(Lowering& lowering, const Node& node, const AxisRows& rows,
                           float epsilon) {
  if (refuse_empty(lowering, node)) return;
  auto step = make_normalization(rows.outer, rows.size, epsilon);
  NormalizePlan& plan = step->plan;
  StepArguments arguments(lowering, node, *step);
  const int rank = static_cast<int>(lowering.value(node.inputs[0]).shape->size());
  const Input x = dense_input(lowering, node, row_major(rank), arguments);
  const Input factor = arguments.parameter(1, "factor");
  const Input addend = addend_of(node, arguments);
  const View y = lowering.new_dense_output(node, 0, row_major(rank));
  plan.x = x.argument;
  plan.factor = factor.argument;
  plan.addend = addend.argument;
  plan.y = arguments.output("y", y);
  plan.shape = {narrow(rows.outer), narrow(rows.size), rows.size, 1, rows.size, 1};
  plan.affine = {0, rows.size == 1 ? 0 : 1, 0, addend.parameter_step()};
  arguments.add(std::move(step));
}

void add_channel_normalization(Lowering& lowering, const Node& node, const rt::LrnShape& lrn) {
  if (refuse_empty(lowering, node)) return;
  auto step = std::make_unique<RowsStep>();
  step->kind = "lrn";
  step->plan.kind = RowsPlan::Kind::kLrn;
  step->plan.lrn = lrn;
  const View x = lowering.view(node, 0);
  const View y = lowering.new_output(node, 0, order_like(x));
  plan_along(step->plan, x, y, 1);
  step->summary = cat("normalization by ", lrn.before + lrn.after + 1, " neighbouring channels");
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

}  // namespace etch
