// The pipeline of a depthwise convolution, and which ones are served; see depthwise.h.
#include "compiler/kernels/conv/depthwise/depthwise.h"

#include <algorithm>
#include <utility>

#include "compiler/kernels/conv/depthwise/describe.h"
#include "compiler/kernels/conv/depthwise/pack.h"
#include "compiler/kernels/conv/depthwise/plan.h"

namespace etch {

bool is_depthwise(const ConvProblem& problem, const IsaTraits& isa) {
  const ConvGeometry& g = problem.geometry;
  const bool wide = std::any_of(problem.weights.begin(), problem.weights.end(),
                                [](int w) { return w < -128 || w > 127; });
  return g.direction == ConvDirection::kForward && g.group == g.in_channels &&
         g.out_channels == g.in_channels && g.group > 1 && g.axes.size() <= 2 &&
         !problem.scale.empty() && problem.x.stride[1] == 1 && problem.y.stride[1] == 1 &&
         (isa.weight_form == WeightForm::kS16EvenOdd || !wide);
}

std::unique_ptr<Step> make_depthwise_step(const ConvProblem& problem, const IsaTraits& isa) {
  std::optional<PlannedDepthwise> planned = plan_depthwise(problem, isa);
  if (!planned) return nullptr;
  PackedDepthwise packed = pack_depthwise(problem, isa, *planned);
  Description description = describe_depthwise(problem, isa, planned->plan);
  auto step = std::make_unique<DepthwiseStep>();
  step->kind = "depthwise";
  step->plan = placed(std::move(planned->plan), packed);
  assemble(*step, std::move(planned->proof), std::move(packed.constants), std::move(description));
  return step;
}

}  // namespace etch
