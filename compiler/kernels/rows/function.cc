// Compiles the kernels of functions for every stage; see function.h.
#include "compiler/kernels/rows/function.h"

#include <memory>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/lower/memory_order.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(FunctionStep);
ETCH_INSTANTIATE_STEP(PowerStep);

float evaluate(Function function, float x, float alpha, float beta) {
  switch (function) {
#define ETCH_FUNCTION(id) \
  case Function::k##id:   \
    return rt::id::of(x, alpha, beta);
#include "templates/kernels/rows/functions.def"
#undef ETCH_FUNCTION
  }
  ETCH_CHECK(false);
}

void add_function(Lowering& lowering, const Node& node, Function function, float alpha, float beta,
                  std::string summary) {
  if (refuse_empty(lowering, node)) return;
  const View& x = lowering.view(node, 0);
  const View y = lowering.new_output(node, 0, memory_order(x));
  auto step = std::make_unique<FunctionStep>();
  step->kind = "map";
  step->summary = std::move(summary);
  FunctionPlan& plan = step->plan;
  plan.function = function;
  plan.alpha = alpha;
  plan.beta = beta;
  const auto x_steps = steps_of(x);
  const auto y_steps = steps_of(y);
  plan.rows = make_rows(y.shape, {x_steps, y_steps});
  if (x_steps == y_steps) step->overlaps.push_back({1, 0, y.offset - x.offset});
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

}  // namespace etch
