// The pipeline of a convolution for Helium, and which ones are served; see conv.h.
#include "compiler/kernels/conv/helium/conv.h"

#include <cmath>
#include <utility>

#include "compiler/kernels/conv/helium/describe.h"
#include "compiler/kernels/conv/helium/pack.h"
#include "compiler/kernels/conv/helium/plan.h"
#include "compiler/program/constants.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(MveConvStep);

namespace {

// Helium flushes subnormal floats to zero, which could only be seen with factors as small as this.
bool is_ordinary(float ratio) { return std::fabs(ratio) > 0x1p-60F && std::fabs(ratio) < 0x1p60F; }

}  // namespace

bool mve_conv_serves(const ConvProblem& problem, const IsaTraits& isa) {
  const ConvGeometry& g = problem.geometry;
  const bool channels_last = (g.in_per_group() == 1 || problem.x.stride[1] == 1) &&
                             problem.y.stride[1] == bytes_of(problem.y.dtype);
  const bool grouped = g.group == 1 || (g.in_per_group() >= 4 && g.out_per_group() >= 2);
  if (isa.assembly != Assembly::kMve || g.direction != ConvDirection::kForward ||
      !mve_weight_offset(problem) || !channels_last || !grouped)
    return false;
  if (!problem.residual) return true;
  const SumFactors& f = problem.residual->add.factors;
  return problem.residual->view.stride[1] == 1 && is_ordinary(f.ratio_a) && is_ordinary(f.ratio_b);
}

std::unique_ptr<MveConvStep> make_mve_conv_step(const ConvProblem& problem, const IsaTraits& isa) {
  std::optional<PlannedMveConv> planned = plan_mve_conv(problem, isa);
  if (!planned) return nullptr;
  const std::vector<std::int32_t> stream = pack_mve_conv(problem, *planned);
  Description description = describe_mve_conv(problem, planned->plan);
  auto step = std::make_unique<MveConvStep>();
  step->kind = "conv";
  step->plan = std::move(planned->plan);
  step->assembly = std::move(planned->assembly);
  assemble(*step, std::move(planned->proof),
           {int32_array("stream", stream,
                        "per block of channels: packed weights plus their offset, biases, scales")},
           std::move(description));
  return step;
}

}  // namespace etch
