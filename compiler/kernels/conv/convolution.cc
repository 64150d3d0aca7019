// See convolution.h.
#include "compiler/kernels/conv/convolution.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/built.h"
#include "compiler/kernels/conv/depthwise/spread.h"
#include "compiler/kernels/conv/merged_columns.h"
#include "compiler/kernels/conv/providers.h"
#include "compiler/program/certificate.h"

namespace etch {

namespace {
std::string sizes(const ConvGeometry& geometry, std::int64_t ConvAxis::*member) {
  std::string out;
  for (const ConvAxis& axis : geometry.axes) out += cat(out.empty() ? "" : "x", axis.*member);
  return out;
}

}  // namespace

std::string summary_of(const ConvGeometry& g, std::string_view kind, std::string_view of) {
  const bool matrix =
      g.axes.size() == 1 && g.axes[0].kernel == 1 && g.axes[0].stride == 1 && g.group == 1;
  if (matrix) {
    return cat("matrix product, ", g.axes[0].out, " x ", g.in_channels, " by ", g.in_channels,
               " x ", g.out_channels);
  }
  std::string out = cat(sizes(g, &ConvAxis::kernel),
                        g.direction == ConvDirection::kTransposed ? " transposed" : "",
                        kind == "depthwise" ? " depthwise" : "", " convolution", of, ", ",
                        g.in_channels, " -> ", counted(g.out_channels, "channel"), ", ",
                        sizes(g, &ConvAxis::in), " -> ", sizes(g, &ConvAxis::out), " pixels");
  const auto all = [&](std::int64_t ConvAxis::*member, std::int64_t value) {
    return std::all_of(g.axes.begin(), g.axes.end(),
                       [&](const ConvAxis& axis) { return axis.*member == value; });
  };
  if (!all(&ConvAxis::stride, 1)) out += cat(", stride ", sizes(g, &ConvAxis::stride));
  if (!all(&ConvAxis::dilation, 1)) out += cat(", dilation ", sizes(g, &ConvAxis::dilation));
  if (g.group > 1 && kind != "depthwise") out += cat(", ", counted(g.group, "group"));
  return out;
}

void ignore_halo(View& view) {
  view.halo_begin.assign(view.shape.size(), 0);
  view.halo_end.assign(view.shape.size(), 0);
}

bool add_built(Lowering& lowering, const Node& node, const ConvProblem& problem,
               BuiltConvolution built) {
  if (built.alignment == WordAlignment::kOfXRequired && !lowering.align(problem.x, 4)) return false;
  Step& step = *built.step;
  step.summary = summary_of(problem.geometry, step.kind);
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

namespace {

// What the step of this problem requantizes.
StepCertificate certificate_of(const ConvProblem& problem) {
  StepCertificate out{problem.out, problem.x_zero_point, problem.residual.has_value(), {}};
  if (problem.scale.empty()) out.out.kind = Requantize::Kind::kInt32;
  for (std::int64_t m = 0; m < problem.geometry.out_channels; ++m) {
    const auto [low, high] = accumulator_range(problem, m);
    out.channels.push_back(
        {problem.scale.empty() ? 1.0F : problem.scale[static_cast<std::size_t>(m)], low, high});
  }
  return out;
}

// What is counted and told of a step whose columns are merged.
void name_merged(const ConvProblem& problem, Step& step) {
  step.macs = problem.macs();
  step.facts.push_back(cat(problem.geometry.axes.back().stride,
                           " output columns at a time are taken for channels of one column"));
}

}  // namespace

void add_convolution(Lowering& lowering, const Node& node, const ConvProblem& problem) {
  if (element_count(problem.y.shape) == 0) {
    lowering.unsupported(node, "an empty output (a size of 0) cannot be compiled");
    return;
  }
  ConvProblem seen = problem;
  seen.shares_weights = !lowering.reads_constants_alike(node);
  if (seen.x.halo_source >= 0 || seen.x.halo_value != seen.x_zero_point) ignore_halo(seen.x);
  for (const ConvProvider& provider : conv_providers()) {
    if (!provider.serves(seen, lowering.isa())) continue;
    const bool last = &provider == &conv_providers().back();
    if (last && wastes_lanes(seen, lowering.isa()))
      return add_convolution(lowering, node, spread_groups(lowering, node, seen));
    const std::optional<ConvProblem> merged =
        last ? merged_columns(seen, lowering.isa()) : std::nullopt;
    BuiltConvolution built =
        provider.build(merged ? *merged : seen, lowering.isa(), lowering.tuning());
    if (!built.refusal.empty()) return lowering.unsupported(node, std::move(built.refusal));
    Step* const step = built.step.get();
    if (step != nullptr && merged) name_merged(seen, *step);
    if (step == nullptr || !add_built(lowering, node, seen, std::move(built))) continue;
    return certify(*step, [&] { return certificate_of(seen); });
  }
  ETCH_CHECK(false);  // the last provider serves every problem
}

}  // namespace etch
