// The pipeline of a depthwise convolution for Helium; see depthwise.h.
#include "compiler/kernels/conv/helium/depthwise.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/assemble.h"
#include "compiler/kernels/conv/depthwise/depthwise.h"
#include "compiler/kernels/conv/helium/depthwise_plan.h"
#include "compiler/kernels/conv/helium/pack.h"
#include "compiler/kernels/conv/pieces.h"
#include "compiler/program/constants.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(MveDepthwiseStep);

namespace {

constexpr int kWord = kMveWord;

// ---- pack ----

// Four columns of four rows of taps.
void append_vector(const ConvProblem& problem, std::int64_t m, int first_row, int first_col,
                   std::vector<std::int32_t>& stream) {
  const Axes3 axes = three_axes(problem);
  const std::int64_t rows = axes.axis[1].kernel, cols = axes.axis[2].kernel;
  for (int col = first_col; col < first_col + kWord; ++col) {
    std::uint32_t word = 0;
    for (int i = 0; i < kWord; ++i) {
      const int row = first_row + i;
      const bool inside = row >= 0 && row < rows && col < cols;
      const int weight = inside ? problem.weight(m, row * cols + col, 0) : 0;
      word |= (static_cast<std::uint32_t>(weight) & 0xffU) << (8 * i);
    }
    stream.push_back(static_cast<std::int32_t>(word));
  }
}

std::vector<std::int32_t> pack(const ConvProblem& problem, const rt::MveDepthwise& t) {
  std::vector<std::int32_t> stream;
  for (int m = 0; m < t.channels; ++m) {
    for (int g = 0; g < t.row_groups; ++g) {
      for (int h = 0; h < t.column_groups; ++h) {
        for (int row = 0; row < t.rows; ++row)
          append_vector(problem, m, kWord * g - row, kWord * h, stream);
      }
    }
    stream.push_back(mve_depthwise_bias(problem, m));
    stream.push_back(std::bit_cast<std::int32_t>(problem.scale[static_cast<std::size_t>(m)]));
  }
  return stream;
}

// ---- describe ----

Description describe(const ConvProblem& problem, const MveDepthwisePlan& p) {
  Description out;
  out.macs = problem.macs();
  out.schedule =
      cat(counted(p.tile.rows, "row"), " x ", counted(p.tile.pixels, "pixel"), " in assembly");
  out.facts.push_back(
      cat("rows of x are interleaved in ", counted(p.scratch_bytes, "byte"), " of scratch memory"));
  return out;
}

}  // namespace

bool mve_depthwise_serves(const ConvProblem& problem, const IsaTraits& isa) {
  const bool narrow = std::all_of(problem.weights.begin(), problem.weights.end(),
                                  [](int w) { return w >= -128 && w <= 127; });
  if (isa.assembly != Assembly::kMve || !is_depthwise(problem) || problem.scale.empty() ||
      problem.geometry.axes.size() > 2 || !narrow)
    return false;
  const ConvAxis& cols = problem.geometry.axes.back();
  return cols.dilation == 1 || cols.kernel == 1;
}

std::unique_ptr<MveDepthwiseStep> make_mve_depthwise_step(const ConvProblem& problem,
                                                          const IsaTraits& isa) {
  std::optional<PlannedMveDepthwise> planned = plan_mve_depthwise(problem, isa);
  if (!planned) return nullptr;
  const std::vector<std::int32_t> stream = pack(problem, planned->plan.tile);
  Description description = describe(problem, planned->plan);
  auto step = std::make_unique<MveDepthwiseStep>();
  step->kind = "depthwise";
  step->plan = std::move(planned->plan);
  step->assembly = std::move(planned->assembly);
  assemble(*step, std::move(planned->proof),
           {int32_array("stream", stream, "per channel: packed weights, bias, scale")},
           std::move(description));
  return step;
}

}  // namespace etch
