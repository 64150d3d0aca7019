// See convolution.h.
#include "compiler/kernels/conv/convolution.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>

#include "compiler/base/observation.h"
#include "compiler/base/text.h"
#include "compiler/kernels/conv/depthwise/depthwise.h"
#include "compiler/kernels/conv/depthwise/spread.h"
#include "compiler/kernels/conv/portable/conv.h"
#include "compiler/kernels/conv/proof.h"
#include "compiler/kernels/conv/providers.h"
#include "compiler/kernels/products/general.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/program/certificate.h"

namespace etch {

namespace {
std::string sizes(const ConvGeometry& geometry, std::int64_t ConvAxis::*member) {
  std::string out;
  for (const ConvAxis& axis : geometry.axes) out += cat(out.empty() ? "" : "x", axis.*member);
  return out;
}

std::string describe(const ConvProblem& problem, const std::string& kind) {
  const ConvGeometry& g = problem.geometry;
  const bool matrix =
      g.axes.size() == 1 && g.axes[0].kernel == 1 && g.axes[0].stride == 1 && g.group == 1;
  if (matrix) {
    return cat("matrix product, ", g.axes[0].out, " x ", g.in_channels, " by ", g.in_channels,
               " x ", g.out_channels);
  }
  std::string out = cat(sizes(g, &ConvAxis::kernel),
                        g.direction == ConvDirection::kTransposed ? " transposed" : "",
                        kind == "depthwise" ? " depthwise" : "", " convolution, ", g.in_channels,
                        " -> ", counted(g.out_channels, "channel"), ", ", sizes(g, &ConvAxis::in),
                        " -> ", sizes(g, &ConvAxis::out), " pixels");
  const auto all = [&](std::int64_t ConvAxis::*member, std::int64_t value) {
    return std::all_of(g.axes.begin(), g.axes.end(),
                       [&](const ConvAxis& axis) { return axis.*member == value; });
  };
  if (!all(&ConvAxis::stride, 1)) out += cat(", stride ", sizes(g, &ConvAxis::stride));
  if (!all(&ConvAxis::dilation, 1)) out += cat(", dilation ", sizes(g, &ConvAxis::dilation));
  if (g.group > 1 && kind != "depthwise") out += cat(", ", counted(g.group, "group"));
  return out;
}
}  // namespace

namespace {
// Without a halo the padding becomes border regions.
void ignore_halo(View& view) {
  view.halo_begin.assign(view.shape.size(), 0);
  view.halo_end.assign(view.shape.size(), 0);
}
}  // namespace

namespace {

// Gives the step, with the memory that it asks for, to the lowering: operands x, the residual,
// scratch memory, y. False where x cannot be aligned as the kernel has to have it.
bool add_built(Lowering& lowering, const Node& node, const ConvProblem& problem,
               BuiltConvolution built) {
  if (built.alignment == WordAlignment::kOfXRequired && !lowering.align(problem.x, 4)) return false;
  Step& step = *built.step;
  step.summary = describe(problem, step.kind);
  std::vector<View> scratch;
  for (const ScratchWish& wish : built.scratch) {
    scratch.push_back(lowering.scratch(wish.type, wish.elements));
    lowering.align(scratch.back(), 4);
  }
  if (built.alignment == WordAlignment::kWished) {
    lowering.align(problem.x, 4);
    lowering.align(problem.y, 4);
  }
  std::vector<std::pair<const char*, const View*>> views = {{"x", &problem.x}};
  if (problem.residual) {
    step.facts.emplace_back("fused: another tensor is added to the result");
    views.emplace_back("residual", &problem.residual->view);
  }
  for (std::size_t i = 0; i < scratch.size(); ++i)
    views.emplace_back(built.scratch[i].name, &scratch[i]);
  views.emplace_back("y", &problem.y);
  lowering.add(node, std::move(built.step), std::move(views), 1, scratch.size());
  return true;
}

}  // namespace

namespace {

// Tells who listens what the step of this problem requantizes.
void certify(const ConvProblem& problem, const Step& step) {
  CertificateLog* const log = Observation<CertificateLog>::current();
  if (log == nullptr) return;
  StepCertificate out{problem.out, problem.x_zero_point, problem.residual.has_value(), {}};
  if (problem.scale.empty()) out.out.kind = Requantize::Kind::kInt32;
  for (std::int64_t m = 0; m < problem.geometry.out_channels; ++m) {
    const auto [low, high] = accumulator_range(problem, m);
    out.channels.push_back(
        {problem.scale.empty() ? 1.0F : problem.scale[static_cast<std::size_t>(m)], low, high});
  }
  log->add(step, std::move(out));
}

}  // namespace

void add_convolution(Lowering& lowering, const Node& node, const ConvProblem& problem) {
  if (element_count(problem.y.shape) == 0) {
    lowering.unsupported(node, "an empty output (a size of 0) cannot be compiled");
    return;
  }
  ConvProblem seen = problem;
  if (seen.x.halo_source >= 0 || seen.x.halo_value != seen.x_zero_point) ignore_halo(seen.x);
  for (const ConvProvider& provider : conv_providers()) {
    if (!provider.serves(seen, lowering.isa())) continue;
    if (&provider == &conv_providers().back() && wastes_lanes(seen, lowering.isa()))
      return add_convolution(lowering, node, spread_groups(lowering, node, seen));
    BuiltConvolution built = provider.build(seen, lowering.isa(), lowering.tuning());
    if (!built.refusal.empty()) return lowering.unsupported(node, std::move(built.refusal));
    const Step* const step = built.step.get();
    if (step == nullptr || !add_built(lowering, node, seen, std::move(built))) continue;
    return certify(seen, *step);
  }
  ETCH_CHECK(false);  // the last provider serves every problem
}

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
  const View start = lowering.scratch(DType::kS32, step->plan.n);
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

void take_start_from_operand(ConvPlan& plan) {
  plan.operands.start = 1;
  plan.operands.y = 2;
}
void take_start_from_operand(DepthwisePlan& plan) { plan.start_is_operand = true; }

// What the products take from every x.
int moved_by(const ConvPlan& plan, const IsaTraits& isa) {
  return plan.blocks.front().form == BlockForm::kLanes ? isa.moved : 0;
}
int moved_by(const DepthwisePlan& plan, const IsaTraits&) { return plan.moved; }

// The step of a problem whose start is an operand between x and y, and its factors as "bias".
template <class MadeStep>
void add_started(Lowering& lowering, const Node& node, const ConvProblem& problem, int zero_point,
                 std::unique_ptr<MadeStep> step) {
  prove_products(lowering.isa(), *step);
  step->facts.front() = range_fact(problem);
  step->summary = describe(problem, step->kind);
  take_start_from_operand(step->plan);
  const View start = add_fold(
      lowering, node, take_constant(*step, "bias"),
      lowering.stored_offset(problem.x) - moved_by(step->plan, lowering.isa()), zero_point);
  lowering.add(node, std::move(step), {{"x", &problem.x}, {"start", &start}, {"y", &problem.y}});
}

}  // namespace

void add_convolution(Lowering& lowering, const Node& node, ConvProblem problem, int zero_point) {
  ETCH_CHECK(problem.scale.empty());
  if (refuse_empty(lowering, node)) return;
  prepare_halo(lowering, node, problem.x, zero_point);
  // With a zero point of 1 the step's biases are -sum(w): the factors of the real one.
  problem.x_zero_point = 1;
  problem.zero_point_at_run_time = true;
  problem.bias.assign(static_cast<std::size_t>(problem.geometry.out_channels), 0);
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
