// Applying and enumerating tile choices; see tile_choice.h.
#include "compiler/kernels/conv/tile_choice.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/tiles.h"

namespace etch {
namespace {

constexpr int kMostTileRows = 4;
// Shapes that the model thinks slower than this much of the default are not tried.
constexpr double kHopeless = 1.4;

int most_vectors(const IsaTraits& isa) { return *std::ranges::max_element(isa.vectors); }

// What the code is made from; two choices that are the same in this are the same.
struct Effect {
  int rows, cols, vectors;
  LoopOrder order;
  int unroll, straight_line;
  bool operator==(const Effect&) const = default;
};

Effect effect_of(const ConvPlan& plan) {
  const ConvRegion& region = plan.regions[largest_region(plan)];
  const bool straight = region.groups() <= plan.straight_line;
  return {region.tile_rows,
          region.tile_cols,
          plan.blocks.front().vectors,
          plan.order,
          straight ? 0 : unrolled_groups(plan),
          straight ? region.groups() : 0};
}

int channels_of(const ConvPlan& plan) {
  int count = 0;
  for (const ChannelBlock& block : plan.blocks) count += block.repeat * block.channels;
  return count;
}

int blocks_of(const ConvPlan& plan) {
  int count = 0;
  for (const ChannelBlock& block : plan.blocks) count += block.repeat;
  return count;
}

struct Rated {
  TileChoice choice;
  double cycles = 0;
};

// Every tile that fits into the registers, the fastest first.
std::vector<Rated> rated_shapes(const ConvPlan& plan, const IsaTraits& isa, int channels) {
  std::vector<Rated> out;
  const std::size_t main = largest_region(plan);
  std::set<int> tried;
  for (const int most : isa.vectors) {
    if (most == 0 || most > isa.accumulators) continue;
    ConvPlan trial = plan;
    choose_tiles_for(trial, isa, channels, most);
    const int vectors = trial.blocks.front().vectors;  // fewer where channels are few
    if (!tried.insert(vectors).second) continue;
    ConvRegion& region = trial.regions[main];
    for (int rows = 1; rows <= std::min(kMostTileRows, region.rows); ++rows) {
      for (int cols = 1; cols <= std::min(isa.accumulators / (vectors * rows), region.cols);
           ++cols) {
        region.tile_rows = rows;
        region.tile_cols = cols;
        out.push_back({{rows, cols, vectors, plan.order, {}}, estimated_cycles(trial, isa)});
      }
    }
  }
  std::ranges::stable_sort(out, {}, &Rated::cycles);
  return out;
}

// The fastest shapes apart from the plan's, of different numbers of vectors and pixels: tiles that
// differ in one column only would cost tries that others are worth more.
std::vector<TileChoice> other_shapes(const ConvPlan& plan, const IsaTraits& isa, int channels) {
  const double limit = kHopeless * estimated_cycles(plan, isa);
  const TileChoice own = choice_of(plan);
  std::vector<TileChoice> out;
  for (const Rated& rated : rated_shapes(plan, isa, channels)) {
    if (rated.cycles > limit) break;
    const auto similar = [&](const TileChoice& one) {
      const int pixels = one.rows * one.cols, others = rated.choice.rows * rated.choice.cols;
      return one.vectors == rated.choice.vectors &&
             ((one.rows == rated.choice.rows && one.cols == rated.choice.cols) ||
              4 * std::abs(pixels - others) < pixels);
    };
    const bool same_pixels = own.vectors == rated.choice.vectors &&
                             own.rows * own.cols == rated.choice.rows * rated.choice.cols &&
                             own.rows != rated.choice.rows;
    if ((similar(own) && !same_pixels) || std::ranges::any_of(out, similar)) continue;
    out.push_back(rated.choice);
  }
  return out;
}

// More and less unrolling of the plan's own tile.
std::vector<TileChoice> other_unrolling(const ConvPlan& plan) {
  const TileChoice own = choice_of(plan);
  const int now = unrolled_groups(plan);
  const int all = plan.regions[largest_region(plan)].groups();
  std::vector<TileChoice> out;
  const auto add = [&](Unrolling unrolling) {
    out.push_back(own);
    out.back().unrolling = unrolling;
  };
  using Kind = Unrolling::Kind;
  if (now == all) {
    if (all > 8) add({Kind::kGroups, 4});
    add({Kind::kGroups, std::max(1, all / 2)});
    return out;
  }
  if (2 * now >= all) {
    add({Kind::kFull, 0});
  } else {
    add({Kind::kGroups, std::min(2 * now, kMostUnrolledGroups)});
  }
  add({Kind::kGroups, std::max(1, now / 2)});
  return out;
}

}  // namespace

std::string fault_of(const TileChoice& choice, const IsaTraits& isa) {
  if (choice.vectors < 1 || choice.vectors > most_vectors(isa)) {
    return cat("a block has at most ", counted(most_vectors(isa) * isa.lanes, "channel"), " with ",
               isa.name, ", not ", choice.vectors * isa.lanes);
  }
  if (choice.rows < 1 || choice.cols < 1 || choice.rows > kMostTileRows) {
    return cat("a tile has 1 to ", counted(kMostTileRows, "row"), " and at least 1 column, not ",
               choice.rows, " x ", choice.cols);
  }
  const std::int64_t needed = std::int64_t{choice.rows} * choice.cols * choice.vectors;
  if (needed <= isa.accumulators) return {};
  return cat("a tile of ", choice.rows, " x ", choice.cols, " ",
             plural(std::int64_t{choice.rows} * choice.cols, "pixel"), " x ",
             counted(choice.vectors * isa.lanes, "channel"), " needs ",
             counted(needed, "accumulator"), ", and ", isa.name, " has registers for ",
             isa.accumulators);
}

bool apply_choice(ConvPlan& plan, const IsaTraits& isa, int channels, const TileChoice& choice) {
  choose_tiles_for(plan, isa, channels, choice.vectors);
  ConvRegion& region = plan.regions[largest_region(plan)];
  region.tile_rows = std::min(choice.rows, region.rows);
  region.tile_cols = std::min(choice.cols, region.cols);
  plan.order = choice.order;
  set_unrolling(plan, isa, choice.unrolling);
  if (within_limits(plan) || !region.grid) return within_limits(plan);
  region.grid.reset();  // code of its own for every place at the border
  set_unrolling(plan, isa, choice.unrolling);
  return within_limits(plan);
}

TileChoice choice_of(const ConvPlan& plan) {
  const ConvRegion& region = plan.regions[largest_region(plan)];
  TileChoice choice{
      region.tile_rows, region.tile_cols, plan.blocks.front().vectors, plan.order, {}};
  const int groups = unrolled_groups(plan);
  choice.unrolling = groups == region.groups() ? Unrolling{Unrolling::Kind::kFull, 0}
                                               : Unrolling{Unrolling::Kind::kGroups, groups};
  return choice;
}

std::vector<TileChoice> tile_candidates(const ConvPlan& plan, const IsaTraits& isa,
                                        std::size_t most) {
  const int channels = channels_of(plan);
  const std::vector<TileChoice> shapes = other_shapes(plan, isa, channels);
  const std::vector<TileChoice> unrolling = other_unrolling(plan);
  std::vector<TileChoice> order;
  if (blocks_of(plan) > 1) {
    order.push_back(choice_of(plan));
    order.front().order = plan.order == LoopOrder::kPixelsOutside ? LoopOrder::kChannelsOutside
                                                                  : LoopOrder::kPixelsOutside;
  }
  std::vector<Effect> seen = {effect_of(plan)};
  std::vector<TileChoice> out;
  const auto add = [&](const std::vector<TileChoice>& from, std::size_t i) {
    if (i >= from.size() || out.size() == most) return;
    ConvPlan trial = plan;
    if (!apply_choice(trial, isa, channels, from[i])) return;
    const Effect effect = effect_of(trial);
    if (std::ranges::find(seen, effect) != seen.end()) return;
    seen.push_back(effect);
    out.push_back(from[i]);
  };
  for (std::size_t i = 0; i < std::max<std::size_t>(shapes.size(), 2); ++i) {
    add(shapes, i);
    add(order, i);
    add(unrolling, i);
  }
  return out;
}

std::string text_of(const TileChoice& choice, const IsaTraits& isa) {
  return cat("tile=", choice.rows, "x", choice.cols, " channels=", choice.vectors * isa.lanes,
             " outer=", choice.order == LoopOrder::kPixelsOutside ? "pixels" : "channels",
             " unroll=", text_of(choice.unrolling));
}

}  // namespace etch
