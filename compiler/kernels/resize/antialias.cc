// Building of Resize with antialias; see antialias.h.
#include "compiler/kernels/resize/antialias.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/antialias.h"
#include "compiler/kernels/move/move.h"
#include "compiler/lower/arguments.h"
#include "compiler/program/constants.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(AntialiasStep);

namespace {

constexpr int kLeastLanes = 4;
constexpr std::int64_t kTurnedElements = 64;  // of a row, which are turned at once

// Output positions [first, first + count) along an axis that are not extrapolated.
struct InsidePositions {
  std::int64_t first = 0, count = 0;
};

InsidePositions inside_of(const Resize& params, std::size_t axis) {
  const std::int64_t out = params.axes[axis].out;
  const auto is_outside = [&](std::int64_t at) {
    return !params.axes[axis].position.empty() && filter_taps(params, axis, at).outside;
  };
  InsidePositions inside{0, out};
  while (inside.count > 0 && is_outside(inside.first)) ++inside.first, --inside.count;
  while (inside.count > 0 && is_outside(inside.first + inside.count - 1)) --inside.count;
  return inside;
}

// The tables of a step.
struct FilterTables {
  std::vector<std::int32_t> taps, parts;
  std::vector<float> weights;
  std::int64_t most = 0;  // inputs of one output
};

FilterTables filter_tables(const Resize& params, std::size_t axis, const InsidePositions& inside) {
  FilterTables out;
  for (std::int64_t i = 0; i < inside.count; ++i) {
    const FilterTaps taps = filter_taps(params, axis, inside.first + i);
    const std::int64_t count = std::ssize(taps.weights);
    out.taps.push_back(static_cast<std::int32_t>(taps.first));
    out.taps.push_back(static_cast<std::int32_t>(count));
    out.most = std::max(out.most, count);
    out.weights.insert(out.weights.end(), taps.weights.begin(), taps.weights.end());
  }
  for (const float weight : out.weights) out.parts.push_back(filter_parts(weight));
  return out;
}

// An axis that is copied, with its steps in x and y.
struct Copied {
  std::int64_t count = 1, x = 1, y = 1;
};

// Outermost in y first; those that are one in x as in y are joined.
std::vector<Copied> copied_axes(const View& x, const View& y, std::size_t filtered) {
  const std::vector<std::int64_t> x_steps = steps_of(x), y_steps = steps_of(y);
  std::vector<Copied> axes;
  for (std::size_t d = 0; d < x.shape.size(); ++d) {
    if (d != filtered && x.shape[d] != 1) axes.push_back({x.shape[d], x_steps[d], y_steps[d]});
  }
  std::ranges::stable_sort(axes, std::ranges::greater(), &Copied::y);
  std::vector<Copied> joined;
  for (const Copied& axis : axes) {
    Copied* const outer = joined.empty() ? nullptr : &joined.back();
    if (outer != nullptr && outer->x == axis.x * axis.count && outer->y == axis.y * axis.count) {
      *outer = {outer->count * axis.count, axis.x, axis.y};
    } else {
      joined.push_back(axis);
    }
  }
  return joined;
}

// Neighbours and rows inside the call, the other axes around it.
void set_copied(AntialiasPlan& plan, std::vector<Copied> axes) {
  plan.shape.inner = plan.shape.rows = 1;
  if (!axes.empty() && axes.back().x == 1 && axes.back().y == 1) {
    plan.shape.inner = static_cast<std::int32_t>(axes.back().count);
    axes.pop_back();
  }
  const auto rows = std::ranges::max_element(axes, {}, &Copied::count);
  if (rows != axes.end()) {
    plan.shape.rows = static_cast<std::int32_t>(rows->count);
    plan.shape.x_row = static_cast<std::ptrdiff_t>(rows->x);
    plan.shape.y_row = static_cast<std::ptrdiff_t>(rows->y);
    axes.erase(rows);
  }
  for (const Copied& axis : axes) {
    RowAxis around;
    around.count = static_cast<int>(axis.count);
    around.step[0] = axis.x;
    around.step[1] = axis.y;
    plan.rows.axes.push_back(around);
  }
}

// Rows are turned where too few neighbours fill vectors, and rows are dense.
bool turns_rows(const Lowering& lowering, const rt::Filtered& f) {
  return lowering.isa().lanes >= kLeastLanes && f.inner < rt::kTurnedRows && f.rows > 1 &&
         f.x_step == f.inner && f.y_step == f.inner;
}

// From x to y, which has the positions `inside` along the axis.
void add_axis(Lowering& lowering, const Node& node, const Resize& params, std::size_t axis,
              const InsidePositions& inside, const View& x, const View& y) {
  auto step = std::make_unique<AntialiasStep>();
  step->kind = "resize";
  step->summary =
      cat(params.mode == Resize::Mode::kCubic ? "cubic" : "linear", " filters along axis ", axis,
          ", ", to_string(x.shape), " to ", to_string(y.shape));
  const FilterTables tables = filter_tables(params, axis, inside);
  AntialiasPlan& plan = step->plan;
  plan.is_float = x.dtype == DType::kF32;
  plan.stored = stored_as(x);
  set_copied(plan, copied_axes(x, y, axis));
  plan.shape.out = static_cast<std::int32_t>(inside.count);
  plan.shape.x_step = static_cast<std::ptrdiff_t>(steps_of(x)[axis]);
  plan.shape.y_step = static_cast<std::ptrdiff_t>(steps_of(y)[axis]);
  step->constants.push_back(
      int32_array("taps", tables.taps, "first input of each output and how many there are"));
  step->constants.push_back(
      plan.is_float ? float_array("weights", tables.weights, "how much each input counts")
                    : int32_array("weights", tables.parts, "how many of 2^22 parts each counts"));
  if (!turns_rows(lowering, plan.shape)) {
    lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
    return;
  }
  const std::int64_t turned = std::max(kTurnedElements / plan.shape.inner, 2 * tables.most);
  plan.shape.turned = static_cast<std::int32_t>(std::min(turned, x.shape[axis]));
  const View memory = lowering.scratch(x.dtype, rt::memory_of_turned(plan.shape));
  lowering.add(node, std::move(step), {{"x", &x}, {"memory", &memory}, {"y", &y}}, 1, 1);
}

// Memory for what is between two axes, of x's type and order.
View between_axes(Lowering& lowering, const View& x, Shape shape) {
  View out = lowering.scratch(x.dtype, element_count(shape));
  out.flipped = x.flipped;
  out.shape = std::move(shape);
  out.halo_begin.clear();
  out.halo_end.clear();
  lay_out(out, order_like(x));
  return out;
}

}  // namespace

void add_antialias(Lowering& lowering, const Node& node, const Resize& params) {
  View x = lowering.view(node, 0);
  View y = lowering.new_output(node, 0, order_like(x));
  std::vector<InsidePositions> inside;
  for (std::size_t d = 0; d < params.axes.size(); ++d) inside.push_back(inside_of(params, d));
  View target = y;
  for (std::size_t d = 0; d < inside.size(); ++d)
    target = part_of(target, d, inside[d].first, inside[d].count);
  if (target.shape != y.shape) {
    MoveBuilder moves(lowering, node, y, "resize");
    moves.fill(y, params.value, "positions outside");
    moves.finish("value of positions outside");
  }
  if (element_count(target.shape) == 0) return;
  // An axis that keeps its size is copied.
  for (std::size_t d = 0; d < inside.size(); ++d) {
    const bool copied = params.axes[d].in == params.axes[d].out;
    if (copied) x = part_of(x, d, inside[d].first, inside[d].count);
  }
  for (std::size_t k = params.linear.size(); k-- > 0;) {
    const std::size_t axis = params.linear[k];
    Shape shape = x.shape;
    shape[axis] = inside[axis].count;
    const View to = k == 0 ? target : between_axes(lowering, x, shape);
    add_axis(lowering, node, params, axis, inside[axis], x, to);
    x = to;
  }
}

}  // namespace etch
