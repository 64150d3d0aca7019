// The pipeline of a portable convolution; see conv.h.
#include "compiler/kernels/conv/portable/conv.h"

#include <utility>

#include "compiler/kernels/conv/assemble.h"
#include "compiler/kernels/conv/portable/describe.h"
#include "compiler/kernels/conv/portable/pack.h"
#include "compiler/kernels/conv/portable/plan.h"

namespace etch {

MadeConv make_conv_step(const ConvProblem& problem, const IsaTraits& isa, const Tuning& tuning) {
  PlannedConv planned = plan_conv(problem, isa, tuning);
  if (!planned.refusal.empty()) return {nullptr, std::move(planned.refusal)};
  PackedConv packed = pack_conv(problem, isa, planned);
  Description description = describe_conv(problem, planned);
  auto step = std::make_unique<ConvStep>();
  step->kind = "conv";
  step->key = std::move(planned.key);
  step->from_file = planned.from_file;
  step->plan = placed(std::move(planned.plan), problem, packed);
  assemble(*step, std::move(planned.proof), std::move(packed.constants), std::move(description));
  return {std::move(step), {}};
}

int moved_by(const ConvPlan& plan, const IsaTraits& isa) {
  return plan.blocks.front().form == BlockForm::kLanes ? isa.moved : 0;
}

}  // namespace etch
