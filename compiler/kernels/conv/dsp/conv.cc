// The pipeline of a convolution for Cortex-M; see conv.h.
#include "compiler/kernels/conv/dsp/conv.h"

#include <utility>

#include "compiler/base/check.h"
#include "compiler/kernels/conv/dsp/describe.h"
#include "compiler/kernels/conv/dsp/pack.h"
#include "compiler/kernels/conv/dsp/plan.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(DspConvStep);

BuiltConvolution make_dsp_conv_step(const ConvProblem& problem, const IsaTraits& isa) {
  ETCH_CHECK(dsp_conv_serves(problem, isa));
  PlannedDspConv planned = plan_dsp_conv(problem, isa);
  PackedDspConv packed = pack_dsp_conv(problem, isa, planned);
  Description description = describe_dsp_conv(problem, planned);
  auto step = std::make_unique<DspConvStep>();
  step->kind = planned.plan.form == DspConvPlan::Form::kDepthwise ? "depthwise" : "conv";
  step->plan = std::move(planned.plan);
  step->plan.stream_words = packed.stream_words;
  step->assembly = std::move(planned.assembly);
  assemble(*step, std::move(planned.proof), std::move(packed.constants), std::move(description));
  return {std::move(step), std::move(planned.scratch), WordAlignment::kWished};
}

}  // namespace etch
