// See shared_weights.h.
#include "compiler/kernels/conv/portable/shared_weights.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>

namespace etch {

namespace {

using Group = std::array<KByte, 4>;

// In the order of the weights.
std::vector<Group> groups_of(const RegionTaps& taps) {
  std::vector<Group> out;
  for (std::size_t k = 0; k + 4 <= taps.k.size(); k += 4)
    out.push_back({taps.k[k], taps.k[k + 1], taps.k[k + 2], taps.k[k + 3]});
  return out;
}

// Where `count` groups, from groups[first] on, follow each other in `all`.
std::optional<std::int64_t> place_of(const std::vector<Group>& groups, std::size_t first,
                                     std::size_t count, const std::vector<Group>& all,
                                     const std::map<Group, std::size_t>& index) {
  const auto found = index.find(groups[first]);
  if (found == index.end() || found->second + count > all.size()) return std::nullopt;
  const auto from = groups.begin() + static_cast<std::ptrdiff_t>(first);
  const bool equal = std::equal(from, from + static_cast<std::ptrdiff_t>(count),
                                all.begin() + static_cast<std::ptrdiff_t>(found->second));
  return equal ? std::optional(static_cast<std::int64_t>(found->second)) : std::nullopt;
}

// The runs of a region, if all are found and each repeats with one step.
std::vector<WeightPlace> places_of(const ConvRegion& region, const std::vector<Group>& groups,
                                   const std::vector<Group>& all,
                                   const std::map<Group, std::size_t>& index) {
  std::vector<WeightPlace> out;
  std::size_t next = 0;
  for (const KRun& run : region.runs) {
    const auto count = static_cast<std::size_t>(run.groups);
    WeightPlace place;
    for (int repeat = 0; repeat < run.repeat; ++repeat, next += count) {
      const auto at = place_of(groups, next, count, all, index);
      if (!at) return {};
      if (repeat == 0) place.first = *at;
      if (repeat == 1) place.step = *at - place.first;
      if (*at != place.first + repeat * place.step) return {};
    }
    out.push_back(place);
  }
  return out;
}

// Half vectors and squares pack two groups at a time.
bool has_single_groups(const ConvPlan& plan) {
  return std::ranges::all_of(plan.blocks, [](const ChannelBlock& block) {
    return block.form == BlockForm::kWhole || block.form == BlockForm::kLanes;
  });
}

}  // namespace

std::vector<SharedWeights> shared_weights(const PlannedConv& conv) {
  std::vector<SharedWeights> out(conv.taps.size());
  if (out.size() < 2 || conv.parts.count > 1 || !has_single_groups(conv.plan)) return out;
  const auto largest =
      std::ranges::max_element(conv.taps, {}, [](const RegionTaps& taps) { return taps.k.size(); });
  const auto most = static_cast<std::size_t>(largest - conv.taps.begin());
  const std::vector<Group> all = groups_of(*largest);
  std::map<Group, std::size_t> index;
  for (std::size_t i = 0; i < all.size(); ++i) index.emplace(all[i], i);
  for (std::size_t r = 0; r < out.size(); ++r) {
    if (r == most || conv.taps[r].k.empty()) continue;
    out[r] = {most, places_of(conv.plan.regions[r], groups_of(conv.taps[r]), all, index),
              static_cast<int>(all.size())};
  }
  return out;
}

}  // namespace etch
