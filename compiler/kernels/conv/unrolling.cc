// From what the user asks for to loops that stay within limits; see unrolling.h.
#include "compiler/kernels/conv/unrolling.h"

#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/tiles.h"

namespace etch {
namespace {

int most_groups(const ConvPlan& plan) {
  int most = 1;
  for (const ConvRegion& region : plan.regions) most = std::max(most, region.groups());
  return most;
}

// What a loop over K can spell out at most: the longest run, as tap rows have a loop of their own.
int longest_run(const ConvPlan& plan) {
  int most = 1;
  for (const ConvRegion& region : plan.regions) {
    for (const KRun& run : region.runs) most = std::max(most, run.groups);
  }
  return most;
}

void spell_out(ConvPlan& plan, int groups) { plan.unroll = plan.straight_line = groups; }

}  // namespace

std::optional<Unrolling> parse_unrolling(std::string_view text) {
  if (text == "auto") return Unrolling{};
  if (text == "full") return Unrolling{Unrolling::Kind::kFull, 0};
  const auto groups = parse_integer(text, 1, kMostUnrolledGroups);
  if (!groups) return std::nullopt;
  return Unrolling{Unrolling::Kind::kGroups, static_cast<int>(*groups)};
}

std::string text_of(const Unrolling& unrolling) {
  if (unrolling.kind == Unrolling::Kind::kAuto) return "auto";
  return unrolling.kind == Unrolling::Kind::kFull ? "full" : cat(unrolling.groups);
}

bool within_limits(const ConvPlan& plan) {
  const Statements statements = statements_of(plan);
  return statements.step <= kMostUnrolledStatements &&
         statements.longest_tile <= kMostTileStatements;
}

int unrolled_groups(const ConvPlan& plan) {
  const ConvRegion& region = plan.regions[largest_region(plan)];
  if (region.groups() <= plan.straight_line) return region.groups();
  int longest = 1;
  for (const KRun& run : region.runs) longest = std::max(longest, run.groups);
  return std::min(plan.unroll, longest);
}

bool set_unrolling(ConvPlan& plan, const IsaTraits& isa, const Unrolling& unrolling) {
  if (unrolling.kind == Unrolling::Kind::kAuto) {
    choose_unrolling(plan, isa);
    return true;
  }
  const ConvPlan before = plan;
  const int all = most_groups(plan);
  const bool full = unrolling.kind == Unrolling::Kind::kFull || unrolling.groups >= all;
  spell_out(plan, full ? all : unrolling.groups);
  if (within_limits(plan)) return true;
  for (int groups = std::min(plan.unroll - 1, longest_run(plan)); groups >= 1; --groups) {
    spell_out(plan, groups);
    if (within_limits(plan)) return false;
  }
  plan = before;
  return false;
}

}  // namespace etch
