// The families in order; see providers.h. Assembly comes before portable code, a family for few
// problems before one for more.
#include "compiler/kernels/conv/providers.h"

#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/depthwise/depthwise.h"
#include "compiler/kernels/conv/dsp/conv.h"
#include "compiler/kernels/conv/helium/conv.h"
#include "compiler/kernels/conv/helium/depthwise.h"
#include "compiler/kernels/conv/helium/lines.h"
#include "compiler/kernels/conv/portable/conv.h"
#include "compiler/kernels/conv/proof.h"
#include "compiler/kernels/conv/regions.h"
#include "compiler/kernels/conv/winograd/winograd.h"

namespace etch {

namespace {

constexpr std::size_t kMostRegions = 512;
constexpr std::int64_t kMostTaps = std::int64_t{1} << 20;  // of all segments of an axis

BuiltConvolution build_winograd(const ConvProblem& problem, const IsaTraits& isa, const Tuning&) {
  return make_dsp_winograd_step(problem, isa);
}

BuiltConvolution build_dsp(const ConvProblem& problem, const IsaTraits& isa, const Tuning&) {
  return make_dsp_conv_step(problem, isa);
}

BuiltConvolution build_helium_lines(const ConvProblem& problem, const IsaTraits& isa,
                                    const Tuning&) {
  std::unique_ptr<MveLinesStep> step = make_mve_lines_step(problem, isa);
  if (step == nullptr) return {};
  std::vector<ScratchWish> scratch = {{"scratch", DType::kU8, step->plan.scratch_bytes}};
  return {std::move(step), std::move(scratch)};
}

BuiltConvolution build_helium_depthwise(const ConvProblem& problem, const IsaTraits& isa,
                                        const Tuning&) {
  std::unique_ptr<MveDepthwiseStep> step = make_mve_depthwise_step(problem, isa);
  if (step == nullptr) return {};
  std::vector<ScratchWish> scratch = {{"scratch", DType::kU8, step->plan.scratch_bytes}};
  return {std::move(step), std::move(scratch)};
}

BuiltConvolution build_helium(const ConvProblem& problem, const IsaTraits& isa, const Tuning&) {
  return {make_mve_conv_step(problem, isa), {}, WordAlignment::kOfXRequired};
}

bool serves_depthwise(const ConvProblem& problem, const IsaTraits&) {
  return has_single_channels(problem);
}

BuiltConvolution build_depthwise(const ConvProblem& problem, const IsaTraits& isa, const Tuning&) {
  BuiltConvolution out;
  out.refusal = fault_of_regions(problem);
  if (!out.refusal.empty()) return out;
  out.step = make_depthwise_step(problem, isa);
  if (out.step != nullptr) prove_products(isa, *out.step);
  return out;
}

bool serves_all(const ConvProblem&, const IsaTraits&) { return true; }

BuiltConvolution build_portable(const ConvProblem& problem, const IsaTraits& isa,
                                const Tuning& tuning) {
  BuiltConvolution out;
  out.refusal = fault_of_regions(problem);
  if (!out.refusal.empty()) return out;
  MadeConv made = make_conv_step(problem, isa, tuning);
  if (made.step != nullptr) {
    prove_products(isa, *made.step);
    const std::int64_t terms = lanes_of_terms(made.step->plan);
    if (terms > 0) out.scratch.push_back({"terms", DType::kS32, terms});
  }
  out.step = std::move(made.step);
  out.refusal = std::move(made.refusal);
  return out;
}

constexpr ConvProvider kProviders[] = {
    {"dsp_winograd", dsp_winograd_serves, build_winograd, true},
    {"dsp", dsp_conv_serves, build_dsp, true},
    {"helium_lines", mve_lines_serve, build_helium_lines, true},
    {"helium_depthwise", mve_depthwise_serves, build_helium_depthwise, true},
    {"helium", mve_conv_serves, build_helium, true},
    {"depthwise", serves_depthwise, build_depthwise},
    {"portable", serves_all, build_portable},
};

}  // namespace

std::string fault_of_regions(const ConvProblem& problem) {
  std::size_t count = 1;
  bool many_taps = false;
  for (std::size_t a = 0; a < problem.geometry.axes.size(); ++a) {
    const SegmentCount axis =
        count_segments(problem.geometry.axes[a], problem.geometry.direction,
                       problem.x.halo_begin[a + 2], problem.x.halo_end[a + 2], kMostRegions);
    count *= axis.segments;
    many_taps = many_taps || (axis.segments > 1 && axis.taps > kMostTaps);
  }
  if (count <= kMostRegions && !many_taps) return {};
  return cat("its padding or stride makes ",
             many_taps ? "too large" : cat("more than ", kMostRegions), " border cases");
}

std::span<const ConvProvider> conv_providers() { return kProviders; }

}  // namespace etch
