// See epilogue_choice.h.
#include "compiler/kernels/conv/dsp/epilogue_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace etch {

namespace {

using Result = DspEpilogue::Result;

// One product and a shift serve every channel.
bool is_high(const Requantize& out) {
  return out.kind == Requantize::Kind::kInteger && out.integer.line == IntegerLayout::Line::kHigh &&
         out.integer.exceptions == 0 && !out.integer.emulated;
}

// Whether the assembly rounds.
bool rounds(const DspConvPlan& plan) {
  if (plan.low) return false;
  const bool floats =
      plan.out.kind == Requantize::Kind::kFloat || plan.out.kind == Requantize::Kind::kFloatClamp;
  return (plan.halves && floats) || is_high(plan.out);
}

constexpr double kMostNarrow = 32000;

bool high_results_are_narrow(const RangeProof& proof) {
  const auto at = [](const RequantizedChannel& each, std::int64_t acc) {
    return std::fabs(static_cast<double>(evaluate(each.form, static_cast<std::int32_t>(acc))));
  };
  return std::all_of(proof.requantized.begin(), proof.requantized.end(),
                     [&](const RequantizedChannel& each) {
                       return at(each, each.channel.least) <= kMostNarrow &&
                              at(each, each.channel.most) <= kMostNarrow;
                     });
}

bool float_results_are_narrow(const ConvProblem& problem) {
  for (std::int64_t m = 0; m < problem.geometry.out_channels; ++m) {
    const AccumulatorRange range = accumulator_range(problem, m);
    const double scale = problem.scale[static_cast<std::size_t>(m)];
    const double reach = std::max(std::fabs(static_cast<double>(range.low)),
                                  std::fabs(static_cast<double>(range.high)));
    if (reach * scale > kMostNarrow) return false;
  }
  return true;
}

}  // namespace

// Only bytes that no activation has clamped are added.
std::optional<SumLine> line_of(const DspConvPlan& plan) {
  const bool reached = 3 * plan.r_step + 1 <= 4095;
  if (!plan.add || !rounds(plan) || plan.form != DspConvPlan::Form::kTiles || plan.out.low != 0 ||
      plan.out.high != 255 || !reached)
    return std::nullopt;
  return find_sum_line(plan.add->factors, {plan.add->low, plan.add->high});
}

DspConvPlan with_result(DspConvPlan plan, const std::optional<SumLine>& line) {
  if (line) {
    plan.line = rt::DspResidual{static_cast<std::ptrdiff_t>(plan.r_step), plan.add->low,
                                plan.add->high, line->bits, line->form};
  }
  plan.finishes =
      (plan.add && !line) || (plan.out.kind != Requantize::Kind::kInt32 && !rounds(plan));
  return plan;
}

DspEpilogue epilogue_of(const ConvProblem& problem, const RangeProof& proof,
                        const DspConvPlan& plan) {
  DspEpilogue out;
  out.y_step = plan.finishes ? plan.channels : plan.y_step;
  if (plan.finishes || plan.out.kind == Requantize::Kind::kInt32) return out;
  out.result = is_high(plan.out) ? Result::kHigh : Result::kFloat;
  // No rounded result can leave int16 before the zero point is added.
  out.narrow = out.result == Result::kHigh ? high_results_are_narrow(proof)
                                           : float_results_are_narrow(problem);
  out.zero_point = plan.out.zero_point != 0;
  out.low = plan.out.low;
  out.high = plan.out.high;
  return out;
}

rt::DspStore store_of(const DspEpilogue& epilogue) {
  return {epilogue.result == Result::kInt32   ? rt::kDspInt32
          : epilogue.result == Result::kFloat ? rt::kDspFloat
                                              : rt::kDspHigh,
          epilogue.low, epilogue.high, static_cast<std::ptrdiff_t>(epilogue.y_step)};
}

}  // namespace etch
