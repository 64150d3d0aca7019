// See describe.h.
#include "compiler/kernels/conv/helium/describe.h"

#include "compiler/base/text.h"
#include "compiler/kernels/conv/overlap.h"

namespace etch {

namespace {

// Tiles are read as a whole before any later one, and written in order; their channels are not.
std::vector<Overlap> overlaps_of(const ConvProblem& problem, const MveConvPlan& p) {
  if (!p.axes.empty() || p.place.planes > 1 || bytes_of(problem.y.dtype) != 1) return {};
  ConvRegion r = p.place;
  r.tile_cols = p.tile.pixels;
  const int y = p.add.is_there ? 2 : 1;
  const auto distance = [&](const Reading& from) {
    return overlap_distance(r, p.tile.channels, from) + problem.y.offset;
  };
  std::vector<Overlap> out = {{y, 0, distance({r.x_offset, r.x_row, r.x_col}) - problem.x.offset}};
  if (p.add.is_there)
    out.push_back({y, 1, distance({0, r.r_row, r.r_col}) - problem.residual->view.offset});
  return out;
}

}  // namespace

Description describe_mve_conv(const ConvProblem& problem, const MveConvPlan& plan) {
  const rt::MveTile& tile = plan.tile;
  Description out;
  out.macs = problem.macs();
  out.schedule = cat("tiles of ", counted(tile.pixels, "pixel"), " x ",
                     counted(tile.block, "channel"), " in assembly");
  if (tile.gathered)
    out.facts.emplace_back("what a tile multiplies is brought together on the stack");
  out.overlaps = overlaps_of(problem, plan);
  return out;
}

}  // namespace etch
