// See arg_extreme.h.
#include "compiler/kernels/reduce/arg_extreme.h"

#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

namespace {
class ArgExtremeStep : public StagedStep<ArgExtremeStep> {
 public:
  ArgExtremePlan plan;
  template <class S>
  void kernel(S& s) const {
    arg_extreme_kernel(s, plan);
  }
};
}  // namespace

ETCH_INSTANTIATE_STEP(ArgExtremeStep);

void add_arg_extreme(Lowering& lowering, const Node& node, ArgExtremePlan plan, std::int64_t axis) {
  if (refuse_empty(lowering, node)) return;
  auto step = std::make_unique<ArgExtremeStep>();
  step->kind = "arg";
  StepArguments arguments(lowering, node, *step);
  const Input x = arguments.memory(lowering.view(node, 0), "x");
  const auto at = static_cast<std::size_t>(axis);
  const int rank = static_cast<int>(lowering.value(node.outputs[0]).shape->size());
  const View y = lowering.new_output(node, 0, row_major(rank));
  Shape shape = x.view.shape;
  std::vector<std::int64_t> from = steps_of(x.view);
  std::vector<std::int64_t> to = steps_of(y);
  const bool is_byte = bytes_of(x.view.dtype) == 1;
  plan.type = is_byte ? DType::kU8 : x.view.dtype;
  plan.stored = x.argument.stored;
  plan.count = static_cast<int>(shape[at]);
  plan.step = from[at];
  shape.erase(shape.begin() + axis);
  from.erase(from.begin() + axis);
  if (to.size() > from.size()) to.erase(to.begin() + axis);
  plan.rows = make_rows(shape, {from, to});
  step->plan = plan;
  step->summary = cat(node.op_type, ": ", counted(element_count(shape), "position"), " among ",
                      counted(plan.count, "element"), " each");
  arguments.output("y", y);
  arguments.add(std::move(step));
}

}  // namespace etch
