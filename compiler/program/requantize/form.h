// The cheapest integer formula that equals the float rule for every accumulator of a channel that
// can occur: the ladder of docs/spec/requantization.md section 3.6. Every formula that is handed
// out has been compared with the rule wherever either of the two can change, which proves it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/program/requantize/channel.h"
#include "compiler/program/requantize/line_search.h"

namespace etch {

// From cheap to expensive.
enum class Rung {
  kMultiplyShift,  // (acc * multiplier + offset) >> shift
  kExceptions,     // ... and a correction for each of up to kMostExceptions accumulators
  kTiesToEven,     // kMultiplyShift with another offset where the integer part is odd
  kEmulation,      // the float rule's two roundings carried out in integers
};
inline constexpr int kRungs = 4;
inline constexpr int kMostExceptions = 4;

// For people and report.json: "multiply_shift" ...
std::string_view name_of(Rung rung);

// Where acc == `acc`, `delta` is added to what the line gives.
struct RequantizeException {
  std::int32_t acc = 0;
  int delta = 0;
};

struct IntegerForm {
  Rung rung = Rung::kMultiplyShift;
  Line line;
  std::vector<RequantizeException> exceptions;
  std::uint32_t scale_bits = 0;  // for kEmulation

  // The line fits the verb that shifts by 32 or more.
  bool shifts_high() const { return line.odd == 0 && line.shift >= 32; }
  // The verb that shifts the accumulator itself serves: its sums fit int32.
  bool shifts_to_even() const { return line.multiplier == 1 && line.odd == 1; }
};

// What the generated code computes, before the bytes are clamped.
std::int32_t evaluate(const IntegerForm& form, std::int32_t acc);

// The number of accumulators, out of all at which the rule or the form may change (thresholds,
// the accumulators before them, both ends, exceptions and their neighbours), at which the two
// differ after clamping. 0 proves equality on the whole interval.
int count_mismatches(const IntegerForm& form, const RequantizeChannel& channel,
                     const Demands& demands);

// Whether the scale is one of 2^-30 .. 2^-1, for which a form may shift the accumulator itself: to
// every accumulator up to most_shifted(scale).
bool may_shift_to_even(float scale);
std::int64_t most_shifted(float scale);

// Never fails: emulation works for every channel.
IntegerForm choose_form(const RequantizeChannel& channel);

// How many channels are on each rung, and how many exceptions they have together.
struct RungCounts {
  std::array<int, kRungs> channels{};
  int exceptions = 0;

  int of(Rung rung) const { return channels[static_cast<std::size_t>(rung)]; }
  int total() const;
  void add(const IntegerForm& form);
  void add(const RungCounts& other);
};

}  // namespace etch
