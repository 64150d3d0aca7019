// Convolutions whose weights are constants and whose zero point of x is known at run time, as
// dynamic quantization has them; see convolution.h. What accumulators start from, the zero point
// times a sum of weights, is computed before; the halo of x is filled with the zero point.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/built.h"
#include "compiler/kernels/conv/convolution.h"
#include "compiler/kernels/conv/depthwise/depthwise.h"
#include "compiler/kernels/conv/depthwise/spread.h"
#include "compiler/kernels/conv/pieces.h"
#include "compiler/kernels/conv/portable/conv.h"
#include "compiler/kernels/conv/proof.h"
#include "compiler/kernels/products/general.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/program/constants.h"

namespace etch {

namespace {

std::string range_fact(const ConvProblem& problem) {
  constexpr std::int64_t kMost = 255;  // |x - zero point|
  const std::int64_t terms = problem.taps() * problem.geometry.in_per_group();
  std::int64_t reach = 0;
  for (std::int64_t m = 0; m < problem.geometry.out_channels; ++m) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < terms; ++i)
      sum += std::abs(problem.weights[static_cast<std::size_t>(m * terms + i)]);
    reach = std::max(reach, kMost * sum);
  }
  return cat("accumulators stay within +-", reach, " for every zero point",
             reach <= std::numeric_limits<std::int32_t>::max() ? "" : ": int32 may wrap");
}

// The step that multiplies the zero point by `factors`; its output is the start of all lanes.
View add_fold(Lowering& lowering, const Node& node, ConstantArray factors, int offset,
              int zero_point) {
  auto step = std::make_unique<FoldStep>();
  step->kind = "start";
  step->summary = "what accumulators start from: -x_zero_point * sum(w), in lane order";
  StepArguments arguments(lowering, node, *step);
  step->plan.zero_point = arguments.parameter(zero_point, "zero_point").argument;
  step->plan.offset = offset;
  step->plan.n = static_cast<int>(factors.bytes.size() / sizeof(std::int32_t));
  factors.suffix = "factors";
  factors.comment = "-sum(w), in lane order";
  step->constants.push_back(std::move(factors));
  View start = lowering.scratch(DType::kS32, step->plan.n);
  step->plan.start = arguments.output("start", start);
  arguments.add(std::move(step));
  return start;
}

ConstantArray take_constant(Step& step, const std::string& suffix) {
  const auto it = std::find_if(step.constants.begin(), step.constants.end(),
                               [&](const ConstantArray& c) { return c.suffix == suffix; });
  ETCH_CHECK(it != step.constants.end());
  ConstantArray out = std::move(*it);
  step.constants.erase(it);
  return out;
}

// Gives x the halo that its consumers requested for this zero point; where it has another one, or
// none, padding becomes border regions.
void prepare_halo(Lowering& lowering, const Node& node, View& x, int zero_point) {
  if (x.halo_source != node.inputs[static_cast<std::size_t>(zero_point)]) return ignore_halo(x);
  FillPlan halo = lowering.unfilled_halo(x);
  if (halo.runs.empty()) return;
  auto step = std::make_unique<FillZeroPointStep>();
  step->kind = "halo";
  step->summary = "fill the halo of x with its zero point";
  StepArguments arguments(lowering, node, *step);
  step->plan.zero_point = arguments.parameter(zero_point, "zero_point").argument;
  step->plan.offset = lowering.stored_offset(x);
  step->plan.halo = std::move(halo);
  step->plan.x = arguments.output("x", x);
  arguments.add(std::move(step));
}

// The start comes right after x.
void take_start_from_operand(ConvPlan& plan) {
  plan.operands.start = 1;
  if (plan.operands.row_terms >= 0) ++plan.operands.row_terms;
  ++plan.operands.y;
}
void take_start_from_operand(DepthwisePlan& plan) { plan.start_is_operand = true; }

std::int64_t lanes_of_terms(const DepthwisePlan&) { return 0; }

int moved_by(const DepthwisePlan& plan, const IsaTraits&) { return plan.moved; }

// The step of a problem whose start is an operand between x and y, and its factors as "bias".
template <class MadeStep>
void add_started(Lowering& lowering, const Node& node, const ConvProblem& problem, int zero_point,
                 std::unique_ptr<MadeStep> step) {
  prove_products(lowering.isa(), *step);
  step->facts.front() = range_fact(problem);
  step->summary = summary_of(problem.geometry, step->kind);
  take_start_from_operand(step->plan);
  const std::int64_t terms = lanes_of_terms(step->plan);
  const View start = add_fold(
      lowering, node, take_constant(*step, "bias"),
      lowering.stored_offset(problem.x) - moved_by(step->plan, lowering.isa()), zero_point);
  if (terms == 0) {
    lowering.add(node, std::move(step), {{"x", &problem.x}, {"start", &start}, {"y", &problem.y}});
    return;
  }
  const View scratch = lowering.scratch(DType::kS32, terms);
  lowering.add(node, std::move(step),
               {{"x", &problem.x}, {"start", &start}, {"terms", &scratch}, {"y", &problem.y}}, 1,
               1);
}

// The problem without padding, where the halo of x has all of it.
std::optional<ConvProblem> on_halo(ConvProblem p) {
  for (std::size_t a = 0; a < p.geometry.axes.size(); ++a) {
    ConvAxis& axis = p.geometry.axes[a];
    const std::size_t d = a + 2;
    const std::int64_t read = (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
    const std::int64_t after = std::max<std::int64_t>(0, read - axis.pad_begin - axis.in);
    if (p.x.halo_begin[d] < axis.pad_begin || p.x.halo_end[d] < after) return std::nullopt;
    p.x.offset -= axis.pad_begin * p.x.stride[d];
    p.x.shape[d] += axis.pad_begin + after;
    axis.in += axis.pad_begin + after;
    axis.pad_begin = axis.pad_end = 0;
  }
  ignore_halo(p.x);
  return p;
}

// Adds the start of each channel to what a kernel in assembly has summed.
void add_start(Lowering& lowering, const Node& node, const ConvProblem& problem, int zero_point) {
  std::vector<std::int32_t> factors;
  for (std::int64_t m = 0; m < problem.geometry.out_channels; ++m)
    factors.push_back(folded_bias(problem, m, all_taps(problem)));
  const View start = add_fold(lowering, node, int32_array("factors", factors, ""),
                              lowering.stored_offset(problem.x), zero_point);
  auto step = std::make_unique<AddToRowsStep>();
  step->kind = "started";
  step->summary = "add what accumulators start from";
  StepArguments arguments(lowering, node, *step);
  step->plan.start = arguments.memory(start, "start").argument;
  step->plan.channels = static_cast<int>(problem.geometry.out_channels);
  step->plan.rows = static_cast<int>(element_count(problem.y.shape) / step->plan.channels);
  step->plan.y = arguments.scratch("y", problem.y);  // read and written
  arguments.add(std::move(step));
}

// By a family in assembly, which knows constant zero points only: the sums are those of a zero
// point of 0, and the start is added to them. False if no family serves it.
bool add_in_assembly(Lowering& lowering, const Node& node, const ConvProblem& problem,
                     int zero_point) {
  std::optional<ConvProblem> plain = on_halo(problem);
  if (!plain || !is_contiguous(problem.y, channels_last(problem.y.rank()))) return false;
  plain->x_zero_point = 0;
  plain->zero_point_at_run_time = false;
  for (const ConvProvider& provider : conv_providers()) {
    if (!provider.in_assembly || !provider.serves(*plain, lowering.isa())) continue;
    BuiltConvolution built = provider.build(*plain, lowering.isa(), lowering.tuning());
    if (built.step == nullptr) continue;
    Step& step = *built.step;
    if (!add_built(lowering, node, *plain, std::move(built))) continue;
    step.facts.front() = range_fact(problem);
    step.summary = summary_of(problem.geometry, step.kind);
    add_start(lowering, node, problem, zero_point);
    return true;
  }
  return false;
}

}  // namespace

void add_convolution(Lowering& lowering, const Node& node, ConvProblem problem, int zero_point) {
  ETCH_CHECK(problem.scale.empty());
  if (refuse_empty(lowering, node)) return;
  prepare_halo(lowering, node, problem.x, zero_point);
  // With a zero point of 1 the step's biases are -sum(w): the factors of the real one.
  problem.x_zero_point = 1;
  problem.zero_point_at_run_time = true;
  problem.shares_weights = !lowering.reads_constants_alike(node);
  problem.bias.assign(static_cast<std::size_t>(problem.geometry.out_channels), 0);
  if (add_in_assembly(lowering, node, problem, zero_point)) return;
  if (wastes_lanes(problem, lowering.isa())) problem = spread_groups(lowering, node, problem);
  std::string fault = fault_of_regions(problem);
  if (!fault.empty()) return lowering.unsupported(node, std::move(fault));
  if (is_depthwise(problem)) {
    if (auto step = make_depthwise_step(problem, lowering.isa()))
      return add_started(lowering, node, problem, zero_point, std::move(step));
  }
  MadeConv made = make_conv_step(problem, lowering.isa(), lowering.tuning());
  if (!made.refusal.empty()) return lowering.unsupported(node, std::move(made.refusal));
  add_started(lowering, node, problem, zero_point, std::move(made.step));
}

}  // namespace etch
