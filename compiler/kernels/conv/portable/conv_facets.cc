// What a convolution shows of its tiles, and what can be changed; see program/tunable.h.
#include <algorithm>

#include "compiler/kernels/conv/portable/conv.h"
#include "compiler/kernels/conv/tile_choice.h"
#include "compiler/kernels/conv/tile_cost.h"
#include "compiler/kernels/conv/tiles.h"
#include "compiler/kernels/conv/unrolling.h"

namespace etch {

namespace {
bool has_prefetched_lines(const ConvPlan& plan, const IsaTraits& isa) {
  return std::ranges::any_of(plan.regions, [&](const ConvRegion& region) {
    int tiles = 0;
    each_span(region, region.tile_rows, region.tile_cols,
              [&](const TileSpan& r, const TileSpan& c) { tiles += r.count * c.count; });
    return std::ranges::any_of(plan.blocks, [&](const ChannelBlock& block) {
      return prefetched_lines(plan, region, block, tiles, isa) > 0;
    });
  });
}
}  // namespace

bool ConvStep::prefetch_weights(const IsaTraits& isa) {
  const ConvOperands& of = plan.operands;
  if (plan.order != LoopOrder::kChannelsOutside || of.row_terms >= 0) return false;
  if (!has_prefetched_lines(plan, isa)) return false;
  plan.prefetch = true;
  schedule += ", prefetches";
  return true;
}

TileSummary ConvStep::tile_summary(const IsaTraits& isa) const {
  const ConvRegion& region = plan.regions[largest_region(plan)];
  return {region.tile_rows, region.tile_cols,      plan.blocks.front().vectors * isa.lanes,
          region.groups(),  unrolled_groups(plan), plan.order == LoopOrder::kPixelsOutside};
}

TileChoice ConvStep::choice() const { return choice_of(plan); }

std::vector<TileChoice> ConvStep::candidates(const IsaTraits& isa, std::size_t most) const {
  return tile_candidates(plan, isa, most);
}

bool ConvStep::unroll(const IsaTraits& isa, const Unrolling& unrolling) {
  on_request = true;
  const bool granted = set_unrolling(plan, isa, unrolling);
  schedule = describe_tiles(plan);
  return granted;
}

}  // namespace etch
