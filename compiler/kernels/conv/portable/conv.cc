// The pipeline of a portable convolution; see conv.h.
#include "compiler/kernels/conv/portable/conv.h"

#include <utility>

#include "compiler/kernels/conv/assemble.h"
#include "compiler/kernels/conv/portable/describe.h"
#include "compiler/kernels/conv/portable/pack.h"
#include "compiler/kernels/conv/portable/plan.h"
#include "compiler/kernels/conv/portable/shared_addend.h"

namespace etch {

MadeConv make_conv_step(ConvProblem problem, const IsaTraits& isa, const Tuning& tuning) {
  problem.shared_addend = shared_addend(problem, isa, tuning).value_or(0);
  PlannedConv planned = plan_conv(problem, isa, tuning);
  if (!planned.refusal.empty()) return {nullptr, std::move(planned.refusal)};
  PackedConv packed = pack_conv(problem, isa, planned);
  if (problem.shared_addend != 0)
    packed.constants.push_back(addend_constant(problem.shared_addend));
  Description description = describe_conv(problem, planned);
  auto step = std::make_unique<ConvStep>();
  step->kind = "conv";
  step->key = std::move(planned.key);
  step->from_file = planned.from_file;
  step->divisible = !planned.plan.terms;  // which all shares would have to wait for
  step->plan = placed(std::move(planned.plan), problem, packed);
  assemble(*step, std::move(planned.proof), std::move(packed.constants), std::move(description));
  return {std::move(step), {}};
}

std::int64_t lanes_of_terms(const ConvPlan& plan) {
  return plan.terms ? std::int64_t{plan.terms->rows} * plan.terms->lanes : 0;
}

int moved_by(const ConvPlan& plan, const IsaTraits& isa) {
  return plan.blocks.front().form == BlockForm::kLanes ? isa.moved : 0;
}

}  // namespace etch
