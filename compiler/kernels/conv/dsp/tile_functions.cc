// See tile_functions.h.
#include "compiler/kernels/conv/dsp/tile_functions.h"

#include <algorithm>
#include <utility>

#include "compiler/kernels/conv/assemble.h"
#include "compiler/kernels/conv/dsp/low.h"

namespace etch {

namespace {

using Form = DspConvPlan::Form;

// Depthwise, the second pixel is read at an offset from the first one.
int most_pixels(const DspConvPlan& p) {
  if (p.compact && p.form == Form::kDepthwise) return 1;
  if (p.low) return p.form == Form::kDepthwise ? 1 : 2;
  if (p.form == Form::kDepthwise) return p.x_step <= kMostDepthwiseStep ? 2 : 1;
  return p.form == Form::kRow ? 1 : 4;
}

// For tiles of so many pixels.
DspFunctions functions(const DspConvPlan& p, const DspEpilogue& epilogue, int pixels,
                       bool starts_two, std::vector<AssemblyFunction>& assembly) {
  DspFunctions out{pixels, "", ""};
  if (p.form == Form::kDepthwise) {
    const DspDepthwise tile{pixels,          p.x_step,   p.taps.rows, p.taps.cols, p.taps.row_step,
                            p.taps.col_step, p.channels, epilogue,    p.compact,   p.byte_weights};
    out.multiply = use(p.halves ? dsp_depthwise(tile)
                       : p.low  ? low_depthwise(tile)
                                : mla_depthwise(tile),
                       assembly);
    return out;
  }
  if (p.form == Form::kDirect) {
    const MlaTile tile{pixels,     p.x_step,   p.direct.bytes, p.direct.runs,
                       p.run_step, p.channels, epilogue};
    out.multiply = use(p.low ? low_tile(tile) : mla_tile(tile), assembly);
    return out;
  }
  if (!p.widens) {
    out.gather =
        use(dsp_gather({pixels, p.x_step, p.words, p.runs, p.run_step, p.compact}), assembly);
  }
  out.multiply =
      use(p.form == Form::kRow ? dsp_row({p.groups(), p.channels, epilogue, p.moved, p.joint,
                                          p.compact, p.widens, p.nibbles})
                               : dsp_tile({pixels, 2 * p.groups(), p.channels, epilogue, p.line,
                                           p.moved, starts_two, p.joint, p.compact, p.nibbles}),
          assembly);
  return out;
}

// Whether all rows that are copied start at multiples of 4 bytes.
bool rows_are_aligned(const DspConvPlan& p, const ConvProblem& problem) {
  const std::size_t rank = problem.geometry.axes.size();
  const std::int64_t row = rank > 1 ? problem.x.stride[rank] : 0;
  return p.left % 4 == 0 && row % 4 == 0 && problem.x.offset % 4 == 0 &&
         std::all_of(p.axes.begin(), p.axes.end(),
                     [](const ConvLoop& loop) { return loop.x_step % 4 == 0; });
}

}  // namespace

DspConvPlan with_functions(DspConvPlan plan, const ConvProblem& problem,
                           const DspEpilogue& epilogue, const IsaTraits& isa,
                           std::vector<AssemblyFunction>& assembly) {
  const bool two = isa.starts_two;
  plan.tile = functions(plan, epilogue, std::min(most_pixels(plan), plan.columns), two, assembly);
  const int rest = plan.columns % plan.tile.pixels;
  if (rest != 0) plan.rest = functions(plan, epilogue, rest, two, assembly);
  if (plan.copies && plan.copied > 0) {
    const DspCopy copy{plan.copied, rows_are_aligned(plan, problem)};
    plan.copy = use(plan.low ? low_copy(copy) : dsp_copy(copy), assembly);
  }
  return plan;
}

}  // namespace etch
