// Integer requantization of a step; see requantization.h.
#include "compiler/program/requantization.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/observation.h"
#include "compiler/base/text.h"
#include "compiler/program/constants.h"
#include "compiler/program/integer_layouts.h"

namespace etch {

namespace {
constexpr std::int64_t kMostAccumulator = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kLeastAccumulator = std::numeric_limits<std::int32_t>::min();
}  // namespace

RequantizeChannel requantize_channel(const Requantize& out, float scale, std::int64_t least,
                                     std::int64_t most) {
  const bool wraps = least < kLeastAccumulator || most > kMostAccumulator;
  return {scale, out.low - out.zero_point, out.high - out.zero_point,
          wraps ? kLeastAccumulator : least, wraps ? kMostAccumulator : most};
}

namespace {

using LineKind = IntegerLayout::Line;

IntegerLayout layout_of(const std::vector<RequantizedChannel>& channels) {
  IntegerLayout layout;
  bool high = true, to_even = true;
  for (const RequantizedChannel& c : channels) {
    layout.exceptions = std::max(layout.exceptions, static_cast<int>(c.form.exceptions.size()));
    const bool emulated = c.form.rung == Rung::kEmulation;
    layout.emulated = layout.emulated || emulated;
    high = high && (emulated || c.form.shifts_high());
    to_even = to_even && !emulated && c.form.shifts_to_even();
  }
  layout.line = high ? LineKind::kHigh : to_even ? LineKind::kToEven : LineKind::kGeneral;
  return layout;
}

// The parameters of the line's verb.
std::vector<std::int32_t> line_words(const Line& line, LineKind kind) {
  const auto offset = static_cast<std::uint64_t>(line.offset);
  const auto low = static_cast<std::int32_t>(static_cast<std::uint32_t>(offset));
  if (kind == LineKind::kToEven) return {low, line.shift};
  const auto high = static_cast<std::int32_t>(static_cast<std::uint32_t>(offset >> 32));
  if (kind == LineKind::kHigh) return {line.multiplier, low, high, line.shift - 32};
  return {line.multiplier, low, high, line.shift, line.odd};
}

// The kinds of parameters of one lane, in the order in which the verbs read them.
std::vector<std::int32_t> lane_words(const IntegerForm& form, const IntegerLayout& layout) {
  const bool emulated = form.rung == Rung::kEmulation;
  const Line line = emulated ? Line{0, 0, 32, 0} : form.line;
  std::vector<std::int32_t> words = line_words(line, layout.line);
  for (std::size_t e = 0; e < static_cast<std::size_t>(layout.exceptions); ++e) {
    const bool used = e < form.exceptions.size();
    words.push_back(used ? form.exceptions[e].acc : 0);
    words.push_back(used ? form.exceptions[e].delta : 0);
  }
  if (layout.emulated) words.push_back(static_cast<std::int32_t>(form.scale_bits));
  ETCH_CHECK(static_cast<int>(words.size()) == layout.words());
  return words;
}

std::string words_comment(const IntegerLayout& layout) {
  std::string out = "for each vector: ";
  out += layout.line == LineKind::kToEven ? "offsets, shifts"
                                          : "multipliers, offsets (low, high halves), shifts";
  if (layout.line == LineKind::kHigh) out += " beyond 32";
  if (layout.line == LineKind::kGeneral) out += ", offsets where odd";
  if (layout.exceptions > 0) out += cat(", ", layout.exceptions, " x (accumulator, correction)");
  if (layout.emulated) out += ", bits of emulated scales";
  return out;
}

std::string channels_text(int channels, const std::string& what) {
  return cat(counted(channels, "channel"), " ", what);
}

}  // namespace

IntegerRequantization requantize_without_floats(const std::vector<RequantizeChannel>& channels) {
  IntegerRequantization out;
  IntegerLayouts* const layouts = Observation<IntegerLayouts>::current();
  for (RequantizeChannel channel : channels) {
    if (layouts != nullptr && layouts->repeats()) {
      channel.least = kLeastAccumulator;
      channel.most =
          may_shift_to_even(channel.scale) ? most_shifted(channel.scale) : kMostAccumulator;
    }
    out.channels.push_back({channel, choose_form(channel)});
  }
  out.layout = layout_of(out.channels);
  out.fact = cat("requantization without floats, proved equal to the float rule: ",
                 describe(out.channels));
  if (layouts != nullptr) layouts->settle(out);
  return out;
}

ConstantArray requantize_constants(const std::vector<RequantizedChannel>& channels,
                                   const IntegerLayout& layout,
                                   const std::vector<int>& lane_channels, int lanes) {
  const auto width = static_cast<std::size_t>(lanes);
  const auto kinds = static_cast<std::size_t>(layout.words());
  ETCH_CHECK(lane_channels.size() % width == 0);
  std::vector<std::int32_t> values(lane_channels.size() * kinds);
  for (std::size_t i = 0; i < lane_channels.size(); ++i) {
    const int channel = lane_channels[i];
    const Line any = layout.line == LineKind::kToEven ? Line{1, 0, 1, 1} : Line{0, 0, 32, 0};
    const IntegerForm unused{Rung::kMultiplyShift, any, {}, 0};
    const auto words =
        lane_words(channel < 0 ? unused : channels[static_cast<std::size_t>(channel)].form, layout);
    const std::size_t vector = i / width * width * kinds;
    for (std::size_t kind = 0; kind < kinds; ++kind)
      values[vector + kind * width + i % width] = words[kind];
  }
  return int32_array("requantize", values, words_comment(layout));
}

std::string describe(const std::vector<RequantizedChannel>& channels) {
  std::map<std::pair<Rung, std::size_t>, int> counts;  // by rung and number of exceptions
  for (const RequantizedChannel& c : channels) ++counts[{c.form.rung, c.form.exceptions.size()}];
  std::vector<std::string> parts;
  for (const auto& [kind, count] : counts) {
    const auto [rung, exceptions] = kind;
    std::string what = rung == Rung::kEmulation ? "emulated" : "multiply-shift";
    if (rung == Rung::kTiesToEven) what += " with ties to even";
    if (exceptions > 0)
      what += cat(" with ", counted(static_cast<std::int64_t>(exceptions), "exception"));
    parts.push_back(channels_text(count, what));
  }
  std::string out;
  for (const std::string& part : parts) out += cat(out.empty() ? "" : ", ", part);
  return out;
}

RungCounts count_rungs(const Step& step) {
  RungCounts counts;
  for (const RequantizedChannel& c : step.requantized) counts.add(c.form);
  return counts;
}

RungCounts count_rungs(const Program& program) {
  RungCounts counts;
  for (const auto& step : program.steps) counts.add(count_rungs(*step));
  return counts;
}

}  // namespace etch
