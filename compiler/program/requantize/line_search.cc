// The search for multiplier and offset; see line_search.h.
#include "compiler/program/requantize/line_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace etch {

namespace {

constexpr std::int64_t kMostOffset = (std::int64_t{1} << 62) - (std::int64_t{1} << 32);
constexpr std::int64_t kMostMultiplier = std::numeric_limits<std::int32_t>::max();
constexpr int kMostShift = 54;  // 255 * 2^54 < kMostOffset

// A bound of the offset, and the demand that it comes from (-1: none).
struct Bound {
  std::int64_t value = 0;
  int demand = -1;
};

// lower <= offset <= upper
struct Bounds {
  Bound lower{-kMostOffset}, upper{kMostOffset};

  std::int64_t gap() const { return lower.value - upper.value; }  // > 0: no offset works
  // The middle, but near the bound that some demand sets.
  std::int64_t choice() const {
    if (lower.demand >= 0 && upper.demand >= 0) return lower.value - gap() / 2;
    if (lower.demand >= 0) return lower.value;
    return upper.demand >= 0 ? upper.value : 0;
  }
  bool constrained() const { return lower.demand >= 0 || upper.demand >= 0; }
};

// By the parity of the demands' q; with Offsets::kOne all are in the first.
struct BothBounds {
  Bounds of[2];
  const Bounds& worst() const { return of[0].gap() >= of[1].gap() ? of[0] : of[1]; }
};

// A demand that can decide about the offset, for some multiplier.
struct Decisive {
  Demand demand;
  int index = 0;  // of the demand
};

// How far the point (acc, q) of b is above the straight line from a to c, times a length.
std::int64_t height(const Demand& a, const Demand& b, const Demand& c) {
  return (b.q - a.q) * (c.acc - a.acc) - (c.q - a.q) * (b.acc - a.acc);
}

// Those demands of one class that set the bound for some multiplier, in their order. For a
// multiplier m it is set by the largest (sign 1) or least (sign -1) of q * 2^shift - acc * m, so by
// a corner of the convex hull of all points (acc, q), or by a point on its edges. There are
// hundreds of demands and some ten corners.
class Hull {
 public:
  explicit Hull(int sign) : sign_(sign) {}

  void add(const Demand& demand, int index) {
    while (points_.size() >= 2 &&
           within(points_[points_.size() - 2].demand, points_.back().demand, demand)) {
      points_.pop_back();
    }
    points_.push_back({demand, index});
  }
  const std::vector<Decisive>& points() const { return points_; }

 private:
  // A relaxed demand may have changed places with its neighbour; such points stay.
  bool within(const Demand& a, const Demand& b, const Demand& c) const {
    return a.acc <= b.acc && b.acc <= c.acc && a.acc < c.acc && sign_ * height(a, b, c) < 0;
  }

  int sign_;
  std::vector<Decisive> points_;
};

class Search {
 public:
  Search(const RequantizeChannel& channel, Demands demands, Offsets offsets)
      : channel_(channel),
        demands_(std::move(demands)),
        offsets_(offsets),
        shift_(shift_for(channel.scale)) {
    // Scales of 2^32 and more are beyond every multiplier, and the search ends before it begins.
    const double near = std::min(std::ldexp(static_cast<double>(channel.scale), shift_), 0x1p34);
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

  // What decides, by the parity of q.
  struct Hulls {
    Hull lower[2] = {Hull(1), Hull(1)};
    Hull upper[2] = {Hull(-1), Hull(-1)};
  };

  Hulls hulls() const {
    Hulls out;
    const auto add = [&](const std::vector<Demand>& demands, Hull* to) {
      for (std::size_t i = 0; i < demands.size(); ++i) {
        if (!can_occur(demands[i])) continue;  // relaxed beyond the end
        to[class_of(demands[i])].add(demands[i], static_cast<int>(i));
      }
    };
    add(demands_.reach, out.lower);
    add(demands_.below, out.upper);
    return out;
  }

  BothBounds bounds(const Hulls& hulls, std::int64_t multiplier) const {
    const auto needed = [&](const Demand& demand) {
      return demand.q * (std::int64_t{1} << shift_) - demand.acc * multiplier;
    };
    BothBounds out;
    for (int parity = 0; parity < 2; ++parity) {
      auto& [lower, upper] = out.of[parity];
      for (const Decisive& each : hulls.lower[parity].points()) {
        const std::int64_t value = needed(each.demand);
        if (value > lower.value) lower = {value, each.index};
      }
      for (const Decisive& each : hulls.upper[parity].points()) {
        const std::int64_t value = needed(each.demand) - 1;
        if (value < upper.value) upper = {value, each.index};
      }
    }
    return out;
  }

  std::size_t class_of(const Demand& demand) const {
    return offsets_ == Offsets::kByParity && demand.q % 2 == 0 ? 1 : 0;
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
    const Hulls all = hulls();
    std::optional<Bounds> left, right;
    while (least <= most) {
      const std::int64_t multiplier = least + (most - least) / 2;
      const BothBounds both = bounds(all, multiplier);
      const Bounds& found = both.worst();
      if (found.gap() <= 0) return line(multiplier, both);
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

  // The threshold of an even q is where the integer part is q - 1, so odd.
  std::optional<Line> line(std::int64_t multiplier, const BothBounds& found) const {
    const Bounds& plain = found.of[found.of[0].constrained() ? 0 : 1];
    const Bounds& odd = found.of[found.of[1].constrained() ? 1 : 0];
    const std::int64_t extra = odd.choice() - plain.choice();
    if (extra < -kMostMultiplier || extra > kMostMultiplier) return std::nullopt;
    return Line{static_cast<std::int32_t>(multiplier), plain.choice(), shift_,
                static_cast<std::int32_t>(extra)};
  }

  const RequantizeChannel& channel_;
  Demands demands_;
  Offsets offsets_;
  int shift_;
  std::int64_t least_ = 0, most_ = 0;
};

}  // namespace

int shift_for(float scale) { return std::clamp(30 - std::ilogb(scale), 0, kMostShift); }

std::optional<Line> find_line(const RequantizeChannel& channel, const Demands& demands,
                              Offsets offsets, int exceptions) {
  return Search(channel, demands, offsets).run(exceptions);
}

}  // namespace etch
