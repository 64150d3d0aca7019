// Building of linear and cubic Resize; see resize.h.
#include "compiler/kernels/resize/resize.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/lower/arguments.h"
#include "compiler/program/constants.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(ResizeStep);
ETCH_INSTANTIATE_STEP(CubicResizeStep);

namespace {

// The tables of the step: two entries per output position.
struct Tables {
  std::vector<std::int32_t> positions, parts;
  std::vector<float> weights;

  void add(std::int64_t low, std::int64_t high, const LinearSample& sample) {
    positions.push_back(static_cast<std::int32_t>(low));
    positions.push_back(static_cast<std::int32_t>(high));
    weights.insert(weights.end(), {sample.low_weight, sample.high_weight});
    parts.insert(parts.end(), {sample.low_parts, sample.high_parts});
  }
};

// A loop of one position that does not move: where two axes are interpolated instead of three.
void add_unused_loop(Tables& tables) {
  LinearSample sample;
  sample.low_weight = sample.high_weight = 1.0F;
  sample.low_parts = sample.high_parts = 1;
  tables.add(0, 0, sample);
}

void set_loop(ResizePlan& plan, std::size_t loop, std::size_t axis, const Resize& params,
              std::int64_t x_step, std::int64_t y_step, Tables& tables) {
  const std::int64_t out = params.axes[axis].out;
  plan.grid.n[loop] = static_cast<std::int32_t>(out);
  plan.grid.y_step[loop] = static_cast<std::ptrdiff_t>(y_step);
  for (std::int64_t at = 0; at < out; ++at) {
    const LinearSample sample = linear_sample(params, axis, at);
    const bool outside = sample.outside;
    tables.add(outside ? -1 : sample.low * x_step, outside ? -1 : sample.high * x_step, sample);
  }
}

// The axes that are copied: the one with neighbouring elements inside the call, the rest around.
void set_copied_axes(ResizePlan& plan, const Resize& params, const View& x, const View& y) {
  const std::vector<std::int64_t> x_steps = steps_of(x);
  const std::vector<std::int64_t> y_steps = steps_of(y);
  plan.grid.inner = 1;
  for (std::size_t d = 0; d < x.shape.size(); ++d) {
    const bool linear = std::count(params.linear.begin(), params.linear.end(), d) > 0;
    if (linear || x.shape[d] == 1) continue;
    if (x_steps[d] == 1 && y_steps[d] == 1) {
      plan.grid.inner = static_cast<std::int32_t>(x.shape[d]);
      continue;
    }
    RowAxis axis;
    axis.count = static_cast<int>(x.shape[d]);
    axis.step[0] = x_steps[d];
    axis.step[1] = y_steps[d];
    plan.rows.axes.push_back(axis);
  }
}

void set_outside(ResizePlan& plan, const Resize& params) {
  if (!params.extrapolate) return;
  if (plan.is_float) {
    plan.outside = params.value.real(0);
  } else {
    plan.outside_byte =
        rt::keep<std::uint8_t>(static_cast<std::int32_t>(params.value.integer(0)), plan.stored);
  }
}

}  // namespace

void add_linear_resize(Lowering& lowering, const Node& node, const Resize& params) {
  const View& as_is = lowering.view(node, 0);
  const Order order = order_like(as_is);
  const View x = as_is.dtype == DType::kS8 ? lowering.ordered(node, 0, order) : as_is;
  const View y = lowering.new_output(node, 0, order);
  auto step = std::make_unique<ResizeStep>();
  step->kind = "resize";
  step->summary = cat("linear interpolation, ", to_string(x.shape), " to ", to_string(y.shape));
  ResizePlan& plan = step->plan;
  plan.is_float = x.dtype == DType::kF32;
  plan.fixed_point = params.arithmetic == Resize::Arithmetic::kFixedPoint;
  plan.stored = stored_as(x);
  plan.grid.corners = params.linear.size() == 3 ? 8 : 4;
  set_outside(plan, params);
  Tables tables;
  const std::size_t unused = 3 - params.linear.size();
  for (std::size_t loop = 0; loop < unused; ++loop) {
    plan.grid.n[loop] = 1;
    add_unused_loop(tables);
  }
  for (std::size_t i = 0; i < params.linear.size(); ++i) {
    const std::size_t axis = params.linear[i];
    set_loop(plan, unused + i, axis, params, steps_of(x)[axis], steps_of(y)[axis], tables);
  }
  set_copied_axes(plan, params, x, y);
  step->constants.push_back(int32_array("positions", tables.positions,
                                        "low and high neighbour of each position, per loop"));
  step->constants.push_back(
      plan.fixed_point ? int32_array("weights", tables.parts, "how many of 1024 parts each counts")
                       : float_array("weights", tables.weights, "how much each counts"));
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

void add_cubic_resize(Lowering& lowering, const Node& node, const Resize& params) {
  const View& x = lowering.view(node, 0);
  const View y = lowering.new_output(node, 0, order_like(x));
  auto step = std::make_unique<CubicResizeStep>();
  step->kind = "resize";
  step->summary = cat("cubic interpolation, ", to_string(x.shape), " to ", to_string(y.shape));
  ResizePlan& plan = step->plan;
  plan.grid.corners = 16;
  plan.grid.n[0] = 1;
  plan.divides = params.exclude_outside;
  set_outside(plan, params);
  std::vector<std::int32_t> positions;
  std::vector<float> weights, totals;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t axis = params.linear[i];
    const std::int64_t x_step = steps_of(x)[axis], y_step = steps_of(y)[axis];
    const std::int64_t out = params.axes[axis].out;
    plan.grid.n[i + 1] = static_cast<std::int32_t>(out);
    plan.grid.y_step[i + 1] = static_cast<std::ptrdiff_t>(y_step);
    for (std::int64_t at = 0; at < out; ++at) {
      const CubicSample sample = cubic_sample(params, axis, at);
      for (const std::int64_t from : sample.at)
        positions.push_back(sample.outside ? -1 : static_cast<std::int32_t>(from * x_step));
      for (const float weight : sample.weight)
        weights.push_back(i == 0 ? weight : weight / sample.total);
      if (i == 0) totals.push_back(sample.total);
    }
  }
  set_copied_axes(plan, params, x, y);
  step->constants.push_back(
      int32_array("positions", positions, "four neighbours of each position, per loop"));
  weights.insert(weights.end(), totals.begin(), totals.end());
  step->constants.push_back(
      float_array("weights", weights, "how much each counts; totals of the first loop"));
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

}  // namespace etch
