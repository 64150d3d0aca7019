// See affine.h.
#include "compiler/kernels/rows/affine.h"

#include <memory>
#include <utility>

#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step_impl.h"
#include "templates/kernels/rows/affine.h"

namespace etch {

namespace {
class AffineStep : public StagedStep<AffineStep> {
 public:
  AffinePlan plan;
  template <class S>
  void kernel(S& s) const {
    affine_kernel(s, plan);
  }
};
}  // namespace

ETCH_INSTANTIATE_STEP(AffineStep);

void add_affine(Lowering& lowering, const Node& node, const Tensor& factor, const Tensor& offset,
                std::string summary) {
  if (refuse_empty(lowering, node)) return;
  const Shape& shape = *lowering.value(node.outputs[0]).shape;
  auto step = std::make_unique<AffineStep>();
  step->kind = "affine";
  step->summary = std::move(summary);
  AffinePlan& plan = step->plan;
  StepArguments arguments(lowering, node, *step);
  const Input x = arguments.input(0, "x");
  const Input f = arguments.data(factor, "factor", "by what x is multiplied");
  const Input o = arguments.data(offset, "offset", "what is added");
  const View y = lowering.new_output(node, 0, order_like(x.view));
  plan.x = x.argument;
  plan.factor = f.argument;
  plan.offset = o.argument;
  plan.y = arguments.output("y", y);
  plan.rows = make_rows(shape, {x.steps(shape), f.steps(shape), o.steps(shape), steps_of(y)});
  arguments.add(std::move(step));
}

}  // namespace etch
