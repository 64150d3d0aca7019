// See integer_layouts.h.
#include "compiler/program/integer_layouts.h"

#include <algorithm>

namespace etch {

namespace {

// About the accumulator that has this result.
std::int64_t accumulator_of(std::int32_t result, float scale) {
  constexpr double kLeast = INT32_MIN, kMost = INT32_MAX;
  return static_cast<std::int64_t>(std::clamp(result / static_cast<double>(scale), kLeast, kMost));
}

}  // namespace

void IntegerLayouts::settle(IntegerRequantization& found) {
  if (!repeats_) {
    Noted& noted = noted_.emplace_back(Noted{found.layout, {}});
    for (const RequantizedChannel& each : found.channels) {
      const auto at = [&](std::int64_t acc) {
        return evaluate(each.form, static_cast<std::int32_t>(acc));
      };
      noted.results.emplace_back(at(each.channel.least), at(each.channel.most));
    }
    return;
  }
  if (next_ == noted_.size()) return;
  const Noted& before = noted_[next_++];
  if (found.layout.line != before.layout.line) found.layout.line = IntegerLayout::Line::kGeneral;
  found.layout.exceptions = std::max(found.layout.exceptions, before.layout.exceptions);
  found.layout.emulated = found.layout.emulated || before.layout.emulated;
  for (std::size_t m = 0; m < std::min(found.channels.size(), before.results.size()); ++m) {
    RequantizeChannel& channel = found.channels[m].channel;
    channel.least = accumulator_of(before.results[m].first, channel.scale);
    channel.most = accumulator_of(before.results[m].second, channel.scale);
  }
}

}  // namespace etch
