// The ladder of integer requantization; see form.h.
#include "compiler/program/requantize/form.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "compiler/base/check.h"
#include "runtime/etch_integer.h"

namespace etch {

std::string_view name_of(Rung rung) {
  constexpr std::string_view kNames[kRungs] = {"multiply_shift", "exceptions", "ties_to_even",
                                               "emulation"};
  return kNames[static_cast<std::size_t>(rung)];
}

std::int32_t evaluate(const IntegerForm& form, std::int32_t acc) {
  const Line& line = form.line;
  if (form.rung == Rung::kEmulation) return rt::float_product(acc, form.scale_bits);
  std::int32_t q =
      form.shifts_to_even()
          ? rt::shift_to_even(acc, static_cast<std::int32_t>(line.offset), line.shift)
      : form.shifts_high()
          ? rt::multiply_high(acc, line.multiplier, line.offset, line.shift - 32)
          : rt::multiply_shift(acc, line.multiplier, line.offset, line.shift, line.odd);
  for (const RequantizeException& e : form.exceptions) q += acc == e.acc ? e.delta : 0;
  return q;
}

namespace {

bool differs(const IntegerForm& form, const RequantizeChannel& channel, std::int64_t acc) {
  const int q =
      std::clamp(evaluate(form, static_cast<std::int32_t>(acc)), channel.low, channel.high);
  return q != float_rule(channel, acc);
}

// The wide result of the line may not leave int32, or it would no longer be monotone.
bool stays_in_int32(const Line& line, const RequantizeChannel& channel) {
  const auto fits = [&](std::int64_t acc) {
    const std::int64_t q = (acc * line.multiplier + line.offset) >> line.shift;
    return q > std::numeric_limits<std::int32_t>::min() &&
           q < std::numeric_limits<std::int32_t>::max();
  };
  return fits(channel.least) && fits(channel.most);
}

bool is_exact(const IntegerForm& form, const RequantizeChannel& channel, const Demands& demands) {
  return stays_in_int32(form.line, channel) && count_mismatches(form, channel, demands) == 0;
}

// Corrections at the accumulators next to the demands, where the line may be wrong.
void add_exceptions(IntegerForm& form, const RequantizeChannel& channel, const Demands& demands) {
  std::set<std::int64_t> wrong;
  const auto look = [&](std::int64_t around) {
    for (std::int64_t acc = around - kMostExceptions; acc <= around + kMostExceptions; ++acc) {
      if (acc >= channel.least && acc <= channel.most && differs(form, channel, acc))
        wrong.insert(acc);
    }
  };
  for (const Demand& demand : demands.reach) look(demand.acc);
  for (const Demand& demand : demands.below) look(demand.acc);
  std::vector<RequantizeException> found;
  for (const std::int64_t acc : wrong) {
    const auto at = static_cast<std::int32_t>(acc);
    found.push_back({at, float_rule(channel, acc) - evaluate(form, at)});
  }
  form.exceptions = std::move(found);
}

std::optional<IntegerForm> exact_form(const RequantizeChannel& channel, const Demands& demands,
                                      Offsets offsets, int exceptions) {
  const std::optional<Line> line = find_line(channel, demands, offsets, exceptions);
  if (!line || (line->multiplier == 1 && line->odd == 1)) return std::nullopt;
  IntegerForm form{Rung::kMultiplyShift, *line, {}, 0};
  if (exceptions > 0) add_exceptions(form, channel, demands);
  if (!form.exceptions.empty()) form.rung = Rung::kExceptions;
  if (form.line.odd != 0) form.rung = Rung::kTiesToEven;
  const bool few = form.exceptions.size() <= static_cast<std::size_t>(kMostExceptions);
  return few && is_exact(form, channel, demands) ? std::optional(form) : std::nullopt;
}

// Of a scale of 2^-s.
int shift_of(float scale) {
  int exponent = 0;
  std::frexp(scale, &exponent);
  return 1 - exponent;
}

// A scale of 2^-s: the accumulator itself is shifted, to the nearest integer with ties to even.
// Only these lines have a multiplier and an odd offset of 1: shifts_to_even().
std::optional<IntegerForm> shifted_form(const RequantizeChannel& channel, const Demands& demands) {
  if (!may_shift_to_even(channel.scale) || channel.most > most_shifted(channel.scale))
    return std::nullopt;
  const int shift = shift_of(channel.scale);
  const std::int64_t below_half = (std::int64_t{1} << (shift - 1)) - 1;
  const IntegerForm form{Rung::kTiesToEven, {1, below_half, shift, 1}, {}, 0};
  return is_exact(form, channel, demands) ? std::optional(form) : std::nullopt;
}

// What to try, cheapest first.
struct Attempt {
  Offsets offsets;
  int exceptions;
};
constexpr Attempt kAttempts[] = {
    {Offsets::kOne, 0},      {Offsets::kOne, 1}, {Offsets::kOne, 2}, {Offsets::kByParity, 0},
    {Offsets::kByParity, 1}, {Offsets::kOne, 3}, {Offsets::kOne, 4}, {Offsets::kByParity, 2}};

}  // namespace

int count_mismatches(const IntegerForm& form, const RequantizeChannel& channel,
                     const Demands& demands) {
  std::set<std::int64_t> points = {channel.least, channel.most};
  for (const Demand& demand : demands.reach) points.insert(demand.acc);
  for (const Demand& demand : demands.below) points.insert(demand.acc);
  for (const RequantizeException& e : form.exceptions) {
    for (std::int64_t acc = std::int64_t{e.acc} - 1; acc <= std::int64_t{e.acc} + 1; ++acc) {
      if (acc >= channel.least && acc <= channel.most) points.insert(acc);
    }
  }
  return static_cast<int>(std::count_if(
      points.begin(), points.end(), [&](std::int64_t acc) { return differs(form, channel, acc); }));
}

bool may_shift_to_even(float scale) {
  int exponent = 0;
  return std::frexp(scale, &exponent) == 0.5F && scale >= 0x1p-30F && scale <= 0.5F;
}

std::int64_t most_shifted(float scale) {
  return std::numeric_limits<std::int32_t>::max() - (std::int64_t{1} << (shift_of(scale) - 1));
}

IntegerForm choose_form(const RequantizeChannel& channel) {
  ETCH_CHECK(std::isfinite(channel.scale) && channel.scale > 0);
  ETCH_CHECK(channel.least <= channel.most && channel.low <= channel.high);
  const Demands demands = demands_of(channel);
  if (const auto form = shifted_form(channel, demands)) return *form;
  for (const Attempt& attempt : kAttempts) {
    const auto form = exact_form(channel, demands, attempt.offsets, attempt.exceptions);
    if (form) return *form;
  }
  IntegerForm form{Rung::kEmulation, {}, {}, std::bit_cast<std::uint32_t>(channel.scale)};
  ETCH_CHECK(count_mismatches(form, channel, demands) == 0);
  return form;
}

int RungCounts::total() const { return std::accumulate(channels.begin(), channels.end(), 0); }

void RungCounts::add(const IntegerForm& form) {
  ++channels[static_cast<std::size_t>(form.rung)];
  exceptions += static_cast<int>(form.exceptions.size());
}

void RungCounts::add(const RungCounts& other) {
  for (std::size_t i = 0; i < channels.size(); ++i) channels[i] += other.channels[i];
  exceptions += other.exceptions;
}

}  // namespace etch
