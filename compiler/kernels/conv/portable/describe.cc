// See describe.h.
#include "compiler/kernels/conv/portable/describe.h"

#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/overlap.h"
#include "compiler/kernels/conv/tiles.h"

namespace etch {

namespace {

std::string parts_fact(const PlannedConv& conv) {
  std::size_t first = 0, all = 0;  // groups of the region that has most
  for (const RegionTaps& taps : conv.taps) {
    first = std::max(first, taps.part_ends.front() / 4);
    all = std::max(all, taps.part_ends.back() / 4);
  }
  return cat("weights minus zero point need 9 bits: issued as a sum of ", conv.parts.count,
             " int8 parts, ", counted(static_cast<std::int64_t>(all - first), "group"),
             " of 4 besides ", first);
}

// Every tile reads all it needs of x and of the residual before any later tile, and writes y in
// order, when pixels are the outer loop of a single region.
std::vector<Overlap> overlaps_of(const ConvProblem& problem, const ConvPlan& plan) {
  const ConvRegion& r = plan.regions.front();
  const bool in_order = plan.regions.size() == 1 && plan.axes.empty() && r.planes == 1 &&
                        plan.order == LoopOrder::kPixelsOutside && bytes_of(problem.y.dtype) == 1 &&
                        !r.runs.empty();
  if (!in_order) return {};
  const std::int64_t channels = problem.geometry.out_channels;
  const int y = plan.operands.y;
  const std::int64_t from_x = overlap_distance(r, channels, {r.x_offset, r.x_row, r.x_col});
  std::vector<Overlap> out = {{y, 0, from_x + problem.y.offset - problem.x.offset}};
  if (!plan.add) return out;
  const std::int64_t from_residual = overlap_distance(r, channels, {r.r_offset, r.r_row, r.r_col});
  out.push_back({y, 1, from_residual + problem.y.offset - problem.residual->view.offset});
  return out;
}

}  // namespace

Description describe_conv(const ConvProblem& problem, const PlannedConv& conv) {
  Description out;
  out.macs = problem.macs();
  out.schedule = describe_tiles(conv.plan);
  if (conv.from_file) out.facts.emplace_back("tile, loops and unrolling come from a tuning file");
  if (problem.shared_addend != 0) {
    out.facts.push_back(cat("weights minus zero point need 9 bits: int8, and ",
                            problem.shared_addend, " times the sum of each pixel"));
  }
  if (conv.parts.count > 1) out.facts.push_back(parts_fact(conv));
  if (conv.plan.bytes)
    out.facts.emplace_back("weights are bytes in memory, widened to words as they are loaded");
  if (const int rest = conv.plan.regions.front().rest; rest > 0) {
    out.facts.push_back(
        cat("weights in two parts, of which products of two fit 16 bits: second parts in ",
            counted(std::int64_t{rest}, "group"), " of 4 bytes besides ",
            conv.plan.regions.front().groups()));
  }
  out.overlaps = overlaps_of(problem, conv.plan);
  return out;
}

}  // namespace etch
