// See top_k.h. The candidates live in the memory of output 1, so that nothing else is needed.
#include "compiler/kernels/select/top_k.h"

#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step_impl.h"
#include "templates/kernels/select/top_k.h"

namespace etch {

namespace {
class TopKStep : public StagedStep<TopKStep> {
 public:
  TopKPlan plan;
  template <class S>
  void kernel(S& s) const {
    top_k_kernel(s, plan);
  }
};

// Memory for the positions, even if they are not used.
View positions_view(Lowering& lowering, const Node& node, const Shape& shape) {
  const Order order = row_major(static_cast<int>(shape.size()));
  if (node.outputs.size() > 1 && node.outputs[1] != kNoValue)
    return lowering.new_output(node, 1, order);
  View view = lowering.scratch(DType::kS64, element_count(shape));
  view.shape = shape;
  lay_out(view, order);
  return view;
}

template <class List>
List without(List list, std::int64_t axis) {
  list.erase(list.begin() + axis);
  return list;
}
}  // namespace

ETCH_INSTANTIATE_STEP(TopKStep);

void add_top_k(Lowering& lowering, const Node& node, bool largest, std::int64_t axis,
               std::int64_t k) {
  if (refuse_empty(lowering, node)) return;
  auto step = std::make_unique<TopKStep>();
  step->kind = "topk";
  StepArguments arguments(lowering, node, *step);
  const Input x = arguments.memory(lowering.view(node, 0), "x");
  const auto at = static_cast<std::size_t>(axis);
  Shape shape = x.view.shape;
  const std::int64_t size = shape[at];
  shape[at] = k;
  const bool is_byte = bytes_of(x.view.dtype) == 1;
  const View y = lowering.new_output(node, 0, row_major(x.view.rank()));
  const View positions = positions_view(lowering, node, shape);
  const auto from = steps_of(x.view), to = steps_of(y), place = steps_of(positions);
  TopKPlan& plan = step->plan;
  plan.largest = largest;
  plan.type = is_byte ? DType::kU8 : x.view.dtype;
  plan.x_stored = x.argument.stored;
  plan.y_stored = stored_as(y);
  plan.size = static_cast<int>(size);
  plan.k = static_cast<int>(k);
  plan.x_step = from[at];
  plan.y_step = to[at];
  plan.position_step = place[at];
  plan.rows = make_rows(without(shape, axis),
                        {without(from, axis), without(to, axis), without(place, axis)});
  if (plan.rows.n > 1) plan.rows.axes.push_back({plan.rows.n, plan.rows.step});
  plan.rows.n = 1;
  step->summary = cat("the ", k, largest ? " largest of " : " smallest of ", size, ", ",
                      counted(element_count(without(shape, axis)), "time"));
  arguments.output("y", y);
  arguments.output("positions", positions);
  arguments.add(std::move(step));
}

}  // namespace etch
