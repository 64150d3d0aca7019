// Reductions; see reduction.h.
#include "compiler/kernels/reduce/reduction.h"

#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

namespace {

class ReduceStep : public StagedStep<ReduceStep> {
 public:
  ReducePlan plan;
  template <class S>
  void kernel(S& s) const {
    reduce_kernel(s, plan);
  }
};

struct Level {
  std::int64_t n = 1;
  std::int64_t step = 0;
};

// The reduced axes in the model's order, merged where one continues the other.
std::vector<Level> levels_of(const View& x, const std::vector<bool>& reduced) {
  std::vector<Level> out;
  const std::vector<std::int64_t> steps = steps_of(x);
  for (std::size_t d = 0; d < reduced.size(); ++d) {
    if (!reduced[d] || x.shape[d] == 1) continue;
    const Level level{x.shape[d], steps[d]};
    if (!out.empty() && out.back().step == level.step * level.n) {
      out.back() = {out.back().n * level.n, level.step};
    } else {
      out.push_back(level);
    }
  }
  return out;
}

// Loops over the axes that stay.
RowNest rows_of(const View& x, const View& y, const std::vector<bool>& reduced) {
  const bool keeps = y.rank() == x.rank();
  const std::vector<std::int64_t> x_steps = steps_of(x);
  const std::vector<std::int64_t> y_steps = steps_of(y);
  Shape shape;
  std::vector<std::int64_t> from;
  std::vector<std::int64_t> to;
  for (std::size_t d = 0; d < reduced.size(); ++d) {
    if (reduced[d]) continue;
    to.push_back(y_steps[keeps ? d : shape.size()]);
    from.push_back(x_steps[d]);
    shape.push_back(x.shape[d]);
  }
  return make_rows(shape, {from, to});
}

}  // namespace

ETCH_INSTANTIATE_STEP(ReduceStep);

void add_reduction(Lowering& lowering, const Node& node, ReducePlan::Kind kind,
                   const std::vector<bool>& reduced, bool in_order) {
  if (refuse_empty(lowering, node)) return;
  // int8 is compared as stored: a copy converts a graph input to that form.
  const View x = lowering.ordered(node, 0, order_like(lowering.view(node, 0)));
  const std::vector<Level> levels = levels_of(x, reduced);
  if (levels.size() > 3) {
    lowering.unsupported(node, "a reduction over so many separate axes cannot be compiled");
    return;
  }
  const int rank = static_cast<int>(lowering.value(node.outputs[0]).shape->size());
  const View y = lowering.new_output(node, 0, rank == x.rank() ? order_like(x) : row_major(rank));
  auto step = std::make_unique<ReduceStep>();
  step->kind = "reduce";
  step->plan.kind = kind;
  step->plan.type = x.dtype;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::size_t at = 3 - levels.size() + i;
    step->plan.reduced.n[at] = static_cast<std::int32_t>(levels[i].n);
    step->plan.reduced.step[at] = levels[i].step;
  }
  step->plan.reduced.in_order = in_order;
  step->plan.rows = rows_of(x, y, reduced);
  const std::int64_t results = element_count(y.shape);
  step->summary = cat(node.op_type, ": ", counted(results, "result"), " of ",
                      counted(element_count(x.shape) / results, "element"), " each");
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

}  // namespace etch
