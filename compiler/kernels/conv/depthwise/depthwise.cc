// The pipeline of a depthwise convolution, and which ones are served; see depthwise.h.
#include "compiler/kernels/conv/depthwise/depthwise.h"

#include <algorithm>
#include <utility>

#include "compiler/kernels/conv/depthwise/describe.h"
#include "compiler/kernels/conv/depthwise/pack.h"
#include "compiler/kernels/conv/depthwise/plan.h"

namespace etch {

bool has_single_channels(const ConvProblem& problem) {
  const ConvGeometry& g = problem.geometry;
  return g.group == g.in_channels && g.out_channels == g.in_channels && g.group > 1 &&
         !problem.residual && problem.x.stride[1] == 1 &&
         problem.y.stride[1] == bytes_of(problem.y.dtype);
}

bool is_depthwise(const ConvProblem& problem) {
  return problem.geometry.direction == ConvDirection::kForward && has_single_channels(problem);
}

std::unique_ptr<DepthwiseStep> make_depthwise_step(const ConvProblem& problem,
                                                   const IsaTraits& isa) {
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
