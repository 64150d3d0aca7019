// The pipeline of a depthwise convolution for Helium; see depthwise.h.
#include "compiler/kernels/conv/helium/depthwise.h"

#include <algorithm>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/assemble.h"
#include "compiler/kernels/conv/depthwise/depthwise.h"
#include "compiler/kernels/conv/helium/depthwise_plan.h"
#include "compiler/kernels/conv/helium/parts.h"
#include "compiler/kernels/conv/pieces.h"
#include "compiler/program/constants.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(MveDepthwiseStep);

namespace {

constexpr int kWord = kMveWord;

// ---- pack ----

// Of four columns of four rows of taps.
void append_vector(const ConvProblem& problem, std::int64_t m, int first_row, int first_col,
                   int part, std::vector<std::int32_t>& stream) {
  const Axes3 axes = three_axes(problem);
  const std::int64_t rows = axes.axis[1].kernel, cols = axes.axis[2].kernel;
  for (int col = first_col; col < first_col + kWord; ++col) {
    std::uint32_t word = 0;
    for (int i = 0; i < kWord; ++i) {
      const int row = first_row + i;
      const bool inside = row >= 0 && row < rows && col < cols;
      const int weight = inside ? mve_part(problem.weight(m, row * cols + col, 0), part) : 0;
      word |= (static_cast<std::uint32_t>(weight) & 0xffU) << (8 * i);
    }
    stream.push_back(static_cast<std::int32_t>(word));
  }
}

std::vector<std::int32_t> pack(const ConvProblem& problem, const rt::MveDepthwise& t) {
  std::vector<std::int32_t> stream;
  for (int m = 0; m < problem.geometry.in_channels; ++m) {
    for (int g = 0; g < t.row_groups; ++g) {
      for (int h = 0; h < t.column_groups; ++h) {
        for (int i = 0; i < t.parts * t.rows; ++i)
          append_vector(problem, m, kWord * g - i % t.rows, kWord * h, i / t.rows, stream);
      }
    }
    append_mve_factors(problem, m, stream);
  }
  return stream;
}

// Weights of 9 bits are worth at most the flash that padded int8 weights take: 3.75 bytes for each
// of them, and bias and scale of a channel.
bool is_worth_its_flash(const ConvProblem& problem, const rt::MveDepthwise& t, std::size_t words) {
  constexpr std::size_t kSmall = 4096;
  const std::size_t per_channel = 8;
  const std::size_t most = problem.weights.size() * 15 / 4 +
                           static_cast<std::size_t>(problem.geometry.in_channels) * per_channel +
                           kSmall;
  return t.parts == 1 || 4 * words <= most;
}

// ---- describe ----

Description describe(const ConvProblem& problem, const MveDepthwisePlan& p) {
  Description out;
  out.macs = problem.macs();
  out.schedule =
      cat(counted(p.tile.rows, "row"), " x ", counted(p.tile.pixels, "pixel"), " in assembly");
  out.facts.push_back(
      cat("rows of x are interleaved in ", counted(p.scratch_bytes, "byte"), " of scratch memory",
          p.blocks == 1 ? "" : cat(", ", counted(p.tile.channels, "channel"), " at a time")));
  return out;
}

}  // namespace

bool mve_depthwise_serves(const ConvProblem& problem, const IsaTraits& isa) {
  if (isa.assembly != Assembly::kMve || !is_depthwise(problem) ||
      problem.geometry.axes.size() > 2 || problem.weights.empty())
    return false;
  const ConvAxis& cols = problem.geometry.axes.back();
  return cols.dilation == 1 || cols.kernel == 1;
}

std::unique_ptr<MveDepthwiseStep> make_mve_depthwise_step(const ConvProblem& problem,
                                                          const IsaTraits& isa) {
  std::optional<PlannedMveDepthwise> planned = plan_mve_depthwise(problem, isa);
  if (!planned) return nullptr;
  const std::vector<std::int32_t> stream = pack(problem, planned->plan.tile);
  if (!is_worth_its_flash(problem, planned->plan.tile, stream.size())) return nullptr;
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
