// The search for multiplier and offset; see line_search.h.
#include "compiler/schedule/requantize/line_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace etch {

namespace {

constexpr std::int64_t kMostOffset = std::int64_t{1} << 62;
constexpr std::int64_t kMostMultiplier = std::numeric_limits<std::int32_t>::max();
constexpr int kMostShift = 54;  // 255 * 2^54 < 2^62

// A bound of the offset, and the demand that it comes from (-1: none).
struct Bound {
  std::int64_t value = 0;
  int demand = -1;
};

struct Bounds {
  Bound lower, upper;  // lower <= offset <= upper
  bool feasible() const { return lower.value <= upper.value; }
};

class Search {
 public:
  Search(const RequantizeChannel& channel, Demands demands)
      : channel_(channel), demands_(std::move(demands)), shift_(shift_for(channel.scale)) {
    const double near = std::ldexp(static_cast<double>(channel.scale), shift_);
    least_ = std::max<std::int64_t>(0, static_cast<std::int64_t>(near / 2));
    most_ = std::min(kMostMultiplier, static_cast<std::int64_t>(near * 2) + 1);
  }

  std::optional<Line> run(int exceptions) {
    Blockade blockade;
    if (const auto line = without_exceptions(blockade)) return line;
    if (exceptions == 0) return std::nullopt;
    for (const Relaxation& relaxation : blockade.ways_out()) {
      Demand& demand = of(relaxation);
      const Demand before = demand;
      demand.acc += relaxation.reach ? 1 : -1;
      if (const auto line = run(exceptions - 1)) return line;
      of(relaxation) = before;
    }
    return std::nullopt;
  }

 private:
  struct Relaxation {
    bool reach = true;
    int demand = -1;
    bool operator==(const Relaxation&) const = default;
  };

  // Why no multiplier works: one pair of bounds forbids all small ones, one all large ones.
  struct Blockade {
    std::vector<Relaxation> involved;
    void add(const Bounds& bounds) {
      for (const Relaxation& r :
           {Relaxation{true, bounds.lower.demand}, Relaxation{false, bounds.upper.demand}}) {
        if (r.demand >= 0 && std::find(involved.begin(), involved.end(), r) == involved.end())
          involved.push_back(r);
      }
    }
    const std::vector<Relaxation>& ways_out() const { return involved; }
  };

  Demand& of(const Relaxation& r) {
    return (r.reach ? demands_.reach : demands_.below)[static_cast<std::size_t>(r.demand)];
  }

  bool can_occur(const Demand& demand) const {
    return demand.acc >= channel_.least && demand.acc <= channel_.most;
  }

  Bounds bounds(std::int64_t multiplier) const {
    const auto needed = [&](const Demand& demand) {
      return demand.q * (std::int64_t{1} << shift_) - demand.acc * multiplier;
    };
    Bounds out;
    out.lower.value = -kMostOffset;
    out.upper.value = kMostOffset;
    for (std::size_t i = 0; i < demands_.reach.size(); ++i) {
      if (!can_occur(demands_.reach[i])) continue;  // relaxed beyond the end
      const std::int64_t value = needed(demands_.reach[i]);
      if (value > out.lower.value) out.lower = {value, static_cast<int>(i)};
    }
    for (std::size_t i = 0; i < demands_.below.size(); ++i) {
      if (!can_occur(demands_.below[i])) continue;
      const std::int64_t value = needed(demands_.below[i]) - 1;
      if (value < out.upper.value) out.upper = {value, static_cast<int>(i)};
    }
    return out;
  }

  // How fast lower - upper grows with the multiplier.
  std::int64_t slope(const Bounds& bounds) const {
    const auto acc = [](const std::vector<Demand>& from, int demand) {
      return demand < 0 ? 0 : from[static_cast<std::size_t>(demand)].acc;
    };
    return acc(demands_.below, bounds.upper.demand) - acc(demands_.reach, bounds.lower.demand);
  }

  std::optional<Line> without_exceptions(Blockade& blockade) const {
    std::int64_t least = least_;
    std::int64_t most = most_;
    std::optional<Bounds> left, right;
    while (least <= most) {
      const std::int64_t multiplier = least + (most - least) / 2;
      const Bounds found = bounds(multiplier);
      if (found.feasible()) return line(multiplier, found);
      const std::int64_t grows = slope(found);
      if (grows <= 0) left = found;
      if (grows >= 0) right = found;
      if (grows == 0) break;
      if (grows < 0) {
        least = multiplier + 1;
      } else {
        most = multiplier - 1;
      }
    }
    if (left) blockade.add(*left);
    if (right) blockade.add(*right);
    return std::nullopt;
  }

  Line line(std::int64_t multiplier, const Bounds& found) const {
    const bool low = found.lower.demand >= 0;
    const bool high = found.upper.demand >= 0;
    std::int64_t offset = 0;
    if (low && high) offset = found.lower.value + (found.upper.value - found.lower.value) / 2;
    if (low && !high) offset = found.lower.value;
    if (high && !low) offset = found.upper.value;
    return {static_cast<std::int32_t>(multiplier), offset, shift_};
  }

  const RequantizeChannel& channel_;
  Demands demands_;
  int shift_;
  std::int64_t least_ = 0, most_ = 0;
};

}  // namespace

int shift_for(float scale) { return std::clamp(30 - std::ilogb(scale), 0, kMostShift); }

std::optional<Line> find_line(const RequantizeChannel& channel, const Demands& demands,
                              int exceptions) {
  return Search(channel, demands).run(exceptions);
}

}  // namespace etch
