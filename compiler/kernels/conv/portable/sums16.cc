// See sums16.h.
#include "compiler/kernels/conv/portable/sums16.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "compiler/base/check.h"
#include "compiler/base/checked.h"

namespace etch {

namespace {
constexpr int kMostOfPair = 128;  // of two weights of one sign
static_assert(fits_sums16(kMostOfPair - 1, 1) && !fits_sums16(kMostOfPair - 1, 2));
// Of the groups of a panel. A group costs three quarters of what it costs as words.
constexpr int kMostSecondParts = 4;  // a quarter
// Steps of which `rest` is a multiple, so that layers of one shape have one body.
constexpr std::int64_t kStepsOfRest = 32;
}  // namespace

TwoParts two_parts(int w0, int w1) {
  TwoParts out{{w0, w1}, {0, 0}};
  if (fits_sums16(w0, w1)) return out;
  // Both have the same sign. The larger one keeps what there is room for.
  const int sign = w0 < 0 ? -1 : 1;
  const std::size_t larger = std::abs(w0) >= std::abs(w1) ? 0 : 1;
  const int smaller = std::abs(out.first[1 - larger]);
  out.second[larger] = out.first[larger] - sign * (kMostOfPair - smaller);
  out.first[larger] -= out.second[larger];
  ETCH_CHECK(fits_sums16(out.first[0], out.first[1]) && fits_sums16(out.second[0], out.second[1]));
  return out;
}

bool has_second_parts(const ConvProblem& problem, const RegionTaps& taps, std::size_t k0,
                      std::int64_t m, std::int64_t count) {
  const auto weight = [&](std::int64_t channel, std::size_t k) {
    const auto [tap, c] = taps.k[k];
    return tap < 0 ? 0 : problem.weight(channel, tap, c) - problem.shared_addend;
  };
  for (std::int64_t channel = m; channel < m + count; ++channel) {
    for (std::size_t k = k0; k < k0 + 4; k += 2) {
      if (!fits_sums16(weight(channel, k), weight(channel, k + 1))) return true;
    }
  }
  return false;
}

namespace {
// The share of taps on the image along an axis.
double share_on_image(const TapAxis& axis) {
  std::int64_t taps = 0;
  for (const int kind : axis.kind) {
    const TapRange& range = axis.kinds[static_cast<std::size_t>(kind)];
    taps += range.end - range.first;
  }
  return static_cast<double>(taps) / static_cast<double>(axis.kind.size()) / axis.taps;
}

// Where more taps are on padding, leaving these out saves more.
bool is_mostly_on_image(const std::optional<TapGrid>& grid) {
  constexpr double kLeast = 0.7;
  return !grid || share_on_image(grid->rows) * share_on_image(grid->cols) >= kLeast;
}

// Groups with second parts in a block of `count` channels from m on.
int second_parts(const ConvProblem& problem, const RegionTaps& taps, std::int64_t m,
                 std::int64_t count) {
  int groups = 0;
  for (std::size_t k0 = 0; k0 < taps.k.size(); k0 += 4)
    groups += has_second_parts(problem, taps, k0, m, count) ? 1 : 0;
  return groups;
}
}  // namespace

bool sums16_pay(const ConvProblem& problem, const IsaTraits& isa, const Tuning& tuning,
                const PlannedConv& conv) {
  const ConvPlan& plan = conv.plan;
  const ConvRegion& region = plan.regions.front();
  if (!isa.sums16 || problem.run_time || problem.shares_weights || tuning.for_all_sizes)
    return false;
  if (plan.regions.size() > 1 || conv.parts.count > 1 || !is_mostly_on_image(region.grid))
    return false;
  const bool bytes = std::ranges::all_of(problem.weights, [&](int w) {
    return w - problem.shared_addend >= INT8_MIN && w - problem.shared_addend <= INT8_MAX;
  });
  if (!bytes) return false;
  // Blocks of the widest kind: narrower ones are parts of them.
  const std::int64_t width = std::int64_t{std::ranges::max(isa.vectors)} * isa.lanes;
  const std::int64_t each = problem.geometry.out_per_group();
  for (std::int64_t g = 0; g < problem.geometry.group; ++g) {
    for (std::int64_t m = 0; m < each; m += width) {
      const std::int64_t count = std::min(width, each - m);
      const int here = second_parts(problem, conv.taps.front(), g * each + m, count);
      if (kMostSecondParts * here > region.groups()) return false;
    }
  }
  return true;
}

void plan_second_parts(const ConvProblem& problem, PlannedConv& conv) {
  ConvRegion& region = conv.plan.regions.front();
  for (std::int64_t g = 0; g < problem.geometry.group; ++g) {
    for (const ChannelBlock& block : conv.plan.blocks) {
      const std::int64_t first = g * problem.geometry.out_per_group() + block.first;
      for (std::int64_t b = 0; b < block.repeat; ++b) {
        const std::int64_t m = first + b * block.channels;
        region.rest =
            std::max(region.rest, second_parts(problem, conv.taps.front(), m, block.channels));
      }
    }
  }
  const auto step = ceil_div(std::int64_t{region.groups()}, kStepsOfRest);
  region.rest = static_cast<int>(ceil_div(std::int64_t{region.rest}, step) * step);
  for (const KRun& run : region.runs) {
    const std::int64_t last = std::max<std::int64_t>(0, (run.repeat - 1) * run.repeat_step);
    region.reach = std::max(region.reach, static_cast<int>(run.x_offset + last + 4 * run.groups));
  }
}

}  // namespace etch
