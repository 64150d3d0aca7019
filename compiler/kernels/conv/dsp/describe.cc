// See describe.h.
#include "compiler/kernels/conv/dsp/describe.h"

#include "compiler/base/text.h"
#include "compiler/kernels/conv/dsp/overlap.h"
#include "compiler/kernels/conv/dsp/stream.h"

namespace etch {

namespace {

std::vector<Overlap> overlaps_of(const ConvProblem& problem, const DspConvPlan& p) {
  if (!p.axes.empty() || bytes_of(problem.y.dtype) != 1) return {};
  const std::int64_t distance = overlap_distance(p, problem.x.stride[0]);
  std::vector<Overlap> out = {{p.y, 0, distance + problem.y.offset - problem.x.offset}};
  // Channels are read before the sum is written in their place, pixel after pixel.
  if (!p.add || p.r_step != p.y_step || p.r_row != p.y_row) return out;
  // Along a line, two channels of all pixels of a tile are written before the next are read.
  const std::int64_t ahead = p.line ? (p.tile.pixels - 1) * p.y_step : 0;
  out.push_back({p.y, 1, ahead + problem.y.offset - problem.residual->view.offset});
  return out;
}

}  // namespace

Description describe_dsp_conv(const ConvProblem& problem, const PlannedDspConv& conv) {
  const DspConvPlan& p = conv.plan;
  Description out;
  out.macs = problem.macs();
  out.schedule = cat("tiles of ", counted(p.tile.pixels, "pixel"), " x ",
                     counted(channels_of_block(p), "channel"), " in assembly");
  if (conv.line) out.facts.emplace_back(kLineFact);
  if (p.nibbles) out.facts.emplace_back("weights take 4 bits: those of two channels share a byte");
  if (p.copies)
    out.facts.push_back(cat("rows are copied between padding, ", counted(p.rows_bytes, "byte")));
  out.overlaps = overlaps_of(problem, p);
  return out;
}

}  // namespace etch
