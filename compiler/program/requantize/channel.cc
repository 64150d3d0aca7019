// Thresholds of one channel by binary search on the float rule; see channel.h.
#include "compiler/program/requantize/channel.h"

#include <algorithm>
#include <cmath>

namespace etch {

int float_rule(const RequantizeChannel& channel, std::int64_t acc) {
  const float scaled = static_cast<float>(static_cast<std::int32_t>(acc)) * channel.scale;
  const float clamped =
      std::min(std::max(scaled, static_cast<float>(channel.low)), static_cast<float>(channel.high));
  return static_cast<int>(std::nearbyint(clamped));
}

namespace {
// The first accumulator in [from, to] with float_rule >= q; float_rule(to) >= q is known.
std::int64_t threshold(const RequantizeChannel& channel, int q, std::int64_t from,
                       std::int64_t to) {
  // Close to where real numbers would have it, if that is inside.
  const double real = std::ceil((q - 0.5) / static_cast<double>(channel.scale));
  for (std::int64_t reach = 2; reach <= 32; reach *= 16) {
    const double before = real - static_cast<double>(reach);
    if (before > static_cast<double>(from) && before < static_cast<double>(to) &&
        float_rule(channel, static_cast<std::int64_t>(before)) < q)
      from = static_cast<std::int64_t>(before) + 1;
    const double after = real + static_cast<double>(reach);
    if (after < static_cast<double>(to) && after >= static_cast<double>(from) &&
        float_rule(channel, static_cast<std::int64_t>(after)) >= q)
      to = static_cast<std::int64_t>(after);
  }
  while (from < to) {
    const std::int64_t middle = from + (to - from) / 2;
    if (float_rule(channel, middle) >= q) {
      to = middle;
    } else {
      from = middle + 1;
    }
  }
  return from;
}
}  // namespace

Demands demands_of(const RequantizeChannel& channel) {
  Demands out;
  const int first = float_rule(channel, channel.least);
  const int last = float_rule(channel, channel.most);
  if (first > channel.low) out.reach.push_back({first, channel.least});
  std::int64_t from = channel.least + 1;
  for (int q = first + 1; q <= last; ++q) {
    from = threshold(channel, q, from, channel.most);
    out.reach.push_back({q, from});
    out.below.push_back({q, from - 1});
  }
  if (last < channel.high) out.below.push_back({last + 1, channel.most});
  return out;
}

}  // namespace etch
