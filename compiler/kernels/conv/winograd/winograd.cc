// The pipeline of a Winograd convolution; see winograd.h.
#include "compiler/kernels/conv/winograd/winograd.h"

#include <utility>

#include "compiler/kernels/conv/dsp/pack.h"
#include "compiler/kernels/conv/winograd/describe.h"
#include "compiler/kernels/conv/winograd/pack.h"
#include "compiler/program/constants.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(DspWinogradStep);

BuiltConvolution make_dsp_winograd_step(const ConvProblem& problem, const IsaTraits& isa) {
  PlannedDspConv direct = plan_dsp_conv(problem, isa);
  if (!winograd_fits(problem, direct.plan)) return {};
  PlannedWinograd planned = plan_winograd(problem, direct);
  const std::vector<std::int32_t> stream = pack_winograd(problem, direct);
  std::vector<ConstantArray> constants;
  if (direct.line) constants.push_back(pack_line(*direct.line, *direct.plan.add));
  constants.push_back(int32_array(
      "stream", stream, "per two channels: transformed weights by position, biases, factors"));
  Description description = describe_winograd(problem, planned.plan);
  auto step = std::make_unique<DspWinogradStep>();
  step->kind = "conv";
  step->plan = std::move(planned.plan);
  step->plan.stream_words = std::ssize(stream);
  step->assembly = std::move(planned.assembly);
  assemble(*step, std::move(direct.proof), std::move(constants), std::move(description));
  return {std::move(step), std::move(planned.scratch), WordAlignment::kWished};
}

}  // namespace etch
