// The parts that look at certain accumulators: extremes, thresholds, sums; see phases.h.
#include <algorithm>
#include <map>
#include <utility>

#include "compiler/ops/reference_math.h"
#include "compiler/prove/phases.h"
#include "compiler/prove/thresholds.h"

namespace etch::cli {

// ---- extremes ----

// Output positions that have no input in common, per class, and of these those that depend on their
// inputs through the same taps: a channel has one extreme there, while borders have others.
std::vector<Laboratory::Kinds> Laboratory::output_classes() const {
  const std::vector<ConvAxis>& axes = layer().geometry.axes;
  std::map<std::int64_t, std::map<std::vector<int>, std::vector<std::int64_t>>> classes;
  for (std::int64_t position = 0; position < layer().positions(); ++position) {
    std::int64_t rest = position, number = 0, factor = 1;
    for (std::size_t axis = axes.size(); axis-- > 0;) {
      number += rest % axes[axis].out % reach_.output_spacing[axis] * factor;
      rest /= axes[axis].out;
      factor *= reach_.output_spacing[axis];
    }
    std::vector<int> taps;
    for (const Reach::Entry& entry : reach_.of_output(position)) taps.push_back(entry.tap);
    classes[number][taps].push_back(position);
  }
  std::vector<Kinds> out;
  for (auto& [number, kinds] : classes) {
    Kinds& here = out.emplace_back();
    for (auto& [taps, positions] : kinds) here.push_back(std::move(positions));
  }
  return out;
}

// The inputs of these positions become those that make the channel's sum the greatest, or the
// least, which is returned.
std::int32_t Laboratory::make_extreme(std::int64_t channel, bool most,
                                      const std::vector<std::int64_t>& positions,
                                      std::vector<std::uint8_t>& x) const {
  const ConvGeometry& g = layer().geometry;
  const std::int64_t first = channel / g.out_per_group() * g.in_per_group();
  std::int64_t sum = 0;
  for (const std::int64_t position : positions) {
    sum = 0;
    for (const Reach::Entry& entry : reach_.of_output(position)) {
      for (std::int64_t c = first; c < first + g.in_per_group(); ++c) {
        const int w = layer().weight(c, entry.tap, channel % g.out_per_group());
        const int value = (w > 0) == most ? 255 : 0;
        sum += std::int64_t{w} * (value - layer().x_zero_point);
        for (std::int64_t n = 0; n < g.batch; ++n) {
          x[static_cast<std::size_t>((n * g.in_channels + c) * layer().inputs() + entry.output)] =
              static_cast<std::uint8_t>(value);
        }
      }
    }
  }
  return wrap_to_int32(sum);
}

// So many calls show every channel of a group at every position of a class: in each of them another
// kind of position is at the extreme of another channel, so that one bias per channel is enough.
std::int64_t Laboratory::extreme_turns(const Kinds& kinds) const {
  return std::max(layer().geometry.out_per_group(), std::ssize(kinds));
}

// A sum within the window from which on (most), or up to which, the result is another one: a sum
// that is less than it should be, or more, shows in any case.
std::int32_t Laboratory::sharp_target(const Window& window, bool most) const {
  std::int32_t at = (window.first + window.last) / 2 * window.unit;
  const auto value = [&](std::int32_t a) { return result(a, window_.factor, window_.residual); };
  while (value(most ? at - 1 : at) == value(most ? at : at + 1)) ++at;
  return at;
}

// One call of a class. Returns the outputs that were at an extreme. A factor of 0 stands for the
// network's own.
std::int64_t Laboratory::extreme_trial(const Window& window, const Kinds& kinds, std::int64_t turn,
                                       bool most, Trials& trials) const {
  const ConvGeometry& g = layer().geometry;
  const std::int32_t sharp = sharp_target(window, most);
  std::vector<std::uint8_t> x = uniform_input(layer().x_zero_point);
  std::vector<std::uint32_t> shift(static_cast<std::size_t>(channels()));
  Trial trial;
  trial.expected.assign(static_cast<std::size_t>(layer().outputs()), -1);
  std::int64_t done = 0;
  for (std::int64_t kind = 0; kind < std::ssize(kinds); ++kind) {
    const std::vector<std::int64_t>& positions = kinds[static_cast<std::size_t>(kind)];
    const std::int64_t in_group = (turn + kind) % extreme_turns(kinds);
    if (in_group >= g.out_per_group()) continue;  // more kinds than channels
    for (std::int64_t channel = in_group; channel < channels(); channel += g.out_per_group()) {
      const auto at = static_cast<std::size_t>(channel);
      const std::int32_t sum = make_extreme(channel, most, positions, x);
      const auto [least, greatest] = possible_sums(channel);  // where integer formulas hold
      const bool bounded = subject_.words.only_factor && window.factor == 0;
      const auto target =
          bounded ? static_cast<std::int32_t>(std::clamp(std::int64_t{sharp}, least, greatest))
                  : sharp;
      shift[at] = static_cast<std::uint32_t>(target) - static_cast<std::uint32_t>(sum) -
                  static_cast<std::uint32_t>(layer().bias[at]);
      const float factor = window.factor > 0 ? window.factor : layer().scale[at];
      const auto byte = static_cast<std::int16_t>(result(target, factor, window.residual));
      for (std::int64_t n = 0; n < g.batch; ++n) {
        for (const std::int64_t position : positions) {
          const std::int64_t row = n * layer().positions() + position;
          trial.expected[static_cast<std::size_t>(row * channels() + channel)] = byte;
        }
      }
      done += g.batch * std::ssize(positions);
    }
  }
  trials.set_input(x);
  trials.set_shift(std::move(shift));
  trials.add(std::move(trial));
  return done;
}

// Twice: with the factor that shows sums exactly, but where an epilogue keeps 16 bits only modulo
// 2^16, and with the network's own, which shows differences of that size.
PhaseResult Laboratory::extremes() {
  Window window = window_;
  std::int64_t turns = 0;
  for (const Kinds& kinds : classes_) turns += extreme_turns(kinds);
  const std::int64_t stride = stride_for(4 * turns);
  PhaseResult both;
  for (const bool own_factors : {false, true}) {
    Trials trials(subject_, places_, runner_, reporter_);
    if (own_factors) window.factor = 0;
    if (!own_factors) trials.set_factor(window.factor);
    if (layer().residual) trials.set_residual(uniform_residual(window.residual));
    std::int64_t done = 0, task = 0;
    for (const Kinds& kinds : classes_) {
      for (std::int64_t turn = 0; turn < extreme_turns(kinds); ++turn) {
        if (task++ % stride != 0) continue;
        for (const bool most : {false, true})
          done += extreme_trial(window, kinds, turn, most, trials);
      }
    }
    PhaseResult one = conclude("extremes", done, 2 * layer().outputs(), trials);
    one.calls += both.calls;
    if (both.good()) both = std::move(one);
  }
  return both;
}

// ---- thresholds ----

// Of a channel, cut off where they wrap.
Laboratory::Bounds Laboratory::possible_sums(std::int64_t channel) const {
  const ConvGeometry& g = layer().geometry;
  const auto at = static_cast<std::size_t>(channel);
  std::int64_t low = layer().bias[at], high = low;
  const std::int64_t first = channel / g.out_per_group() * g.in_per_group();
  for (std::int64_t c = first; c < first + g.in_per_group(); ++c) {
    for (std::int64_t tap = 0; tap < layer().taps(); ++tap) {
      const std::int64_t w = layer().weight(c, tap, channel % g.out_per_group());
      const std::int64_t ends[] = {w * -layer().x_zero_point, w * (255 - layer().x_zero_point)};
      low += std::min(ends[0], ends[1]);
      high += std::max(ends[0], ends[1]);
    }
  }
  return {std::max<std::int64_t>(low, INT32_MIN), std::min<std::int64_t>(high, INT32_MAX)};
}

// The ends of the range that can occur, and both sides of every place where the result changes.
std::vector<std::int32_t> Laboratory::check_points(std::int64_t channel) const {
  const auto at = static_cast<std::size_t>(channel);
  const auto [low, high] = possible_sums(channel);
  const auto value = [&](std::int64_t a) {
    const std::int32_t y = requantize(static_cast<std::int32_t>(a), layer().scale[at],
                                      layer().y_zero_point, layer().y_type);
    return std::clamp(y, layer().low, layer().high);
  };
  std::vector<std::int32_t> out = thresholds_of(low, high, value);
  out.insert(out.begin(), {static_cast<std::int32_t>(low), static_cast<std::int32_t>(high)});
  return out;
}

// All inputs at the zero point, one accumulator per channel.
Trial Laboratory::uniform_trial(const std::vector<std::int32_t>& accumulators, float factor,
                                std::int64_t turn) const {
  const std::vector<std::uint8_t> residual = residual_bytes(turn);
  Trial trial;
  trial.expected.resize(places_.y.size());
  const std::size_t m = accumulators.size();
  std::vector<int> own(m);
  for (std::size_t i = 0; i < m; ++i) {
    const Layer& l = layer();
    own[i] = std::clamp(requantize(accumulators[i], factor > 0 ? factor : l.scale[i],
                                   l.y_zero_point, l.y_type),
                        l.low, l.high) +
             l.y_flip;
  }
  for (std::size_t i = 0; i < trial.expected.size(); ++i) {
    const auto byte = static_cast<std::size_t>(own[i % m]);
    trial.expected[i] =
        static_cast<std::int16_t>(sum_table_.empty() ? own[i % m] : sum_table_[byte][residual[i]]);
  }
  return trial;
}

PhaseResult Laboratory::thresholds() {
  std::vector<std::vector<std::int32_t>> points;
  std::size_t most = 0;
  std::int64_t all = 0, done = 0;
  for (std::int64_t m = 0; m < channels(); ++m) {
    points.push_back(check_points(m));
    most = std::max(most, points.back().size());
    all += std::ssize(points.back());
  }
  Trials trials(subject_, places_, runner_, reporter_);
  trials.set_input(uniform_input(layer().x_zero_point));
  const std::int64_t stride = stride_for(static_cast<std::int64_t>(most));
  for (std::size_t i = 0; i < most; i += static_cast<std::size_t>(stride)) {
    std::vector<std::int32_t> accumulators;
    for (std::size_t m = 0; m < points.size(); ++m) {
      if (i < points[m].size()) ++done;
      accumulators.push_back(points[m][std::min(i, points[m].size() - 1)]);
    }
    const auto turn = static_cast<std::int64_t>(i) * 37;
    if (layer().residual) trials.set_residual(residual_bytes(turn));
    trials.set_shift(shift_to(accumulators));
    trials.add(uniform_trial(accumulators, 0, turn));
  }
  return conclude("thresholds", done, all, trials);
}

// ---- sums with a residual ----

// Whose result, without limits and without what is added to it, is this one at the factor that
// shows sums.
std::int32_t Laboratory::accumulator_with(int result) const {
  const float factor = subject_.words.only_factor.value_or(1.0F);
  std::int32_t a = 2 * (static_cast<std::int32_t>(min_of(layer().y_type)) - 256);
  while (requantize(a, factor, layer().y_zero_point, layer().y_type) < result) ++a;
  return a;
}

PhaseResult Laboratory::sums() {
  const float factor = subject_.words.only_factor.value_or(1.0F);
  Trials trials(subject_, places_, runner_, reporter_);
  trials.set_factor(factor);
  trials.set_input(uniform_input(layer().x_zero_point));
  const auto elements = std::ssize(places_.y);
  const std::int64_t turns = elements >= 256 ? 1 : (255 + elements) / elements;
  std::int64_t done = 0;
  for (int value = layer().low; value <= layer().high; ++value) {
    const std::vector<std::int32_t> accumulators(static_cast<std::size_t>(channels()),
                                                 accumulator_with(value));
    trials.set_shift(shift_to(accumulators));
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      const std::int64_t at = turn * elements + value * 37;
      trials.set_residual(residual_bytes(at));
      trials.add(uniform_trial(accumulators, factor, at));
    }
    done += 256;
  }
  return conclude("sums", done, 256 * (layer().high - layer().low + 1), trials);
}

}  // namespace etch::cli
