// The parts that are the same for all, products and random inputs; see phases.h.
#include "compiler/prove/phases.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/reference_math.h"

namespace etch::cli {

namespace {
// A wrong pair of places escapes each part with 1 / channels of a group, or with few channels each
// of the random parts with 1/2: with 1/16 at most in all.
constexpr int kMixedChannels = 4, kMixedParts = 2, kSubsets = 4;
constexpr int kRandom = 16;
constexpr int kLeastWindow = 16;
constexpr std::int32_t kTable = 1024;  // accumulators on both sides of 0 that are looked at
}  // namespace

Laboratory::Laboratory(const Subject& subject, const Places& places, const ProofRunner& runner,
                       double most_work, Reporter& reporter)
    : subject_(subject),
      places_(places),
      runner_(runner),
      most_work_(most_work),
      reporter_(reporter),
      reach_(*subject.layer),
      classes_(output_classes()) {
  if (layer().residual) fill_sum_table();
  window_ = widest_window();
}

void Laboratory::fill_sum_table() {
  Layer plain = layer();  // with a factor of 1 and no limits every result is an accumulator
  plain.low = static_cast<int>(min_of(plain.y_type));
  plain.high = static_cast<int>(max_of(plain.y_type));
  for (int result = 0; result < 256; ++result) {
    std::vector<std::uint8_t>& row = sum_table_.emplace_back();
    const int accumulator = result - plain.y_flip - plain.y_zero_point;
    for (int residual = 0; residual < 256; ++residual)
      row.push_back(static_cast<std::uint8_t>(plain.result(accumulator, 1.0F, residual)));
  }
}

std::vector<std::uint8_t> Laboratory::uniform_input(int value) const {
  return std::vector<std::uint8_t>(places_.x.size(), static_cast<std::uint8_t>(value));
}

std::vector<std::uint8_t> Laboratory::uniform_residual(int value) const {
  return std::vector<std::uint8_t>(places_.residual.size(), static_cast<std::uint8_t>(value));
}

// Another one at every element; with 256 turns every one at each.
std::vector<std::uint8_t> Laboratory::residual_bytes(std::int64_t turn) const {
  std::vector<std::uint8_t> out(places_.residual.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::uint8_t>(i + static_cast<std::size_t>(turn));
  return out;
}

int Laboratory::result(std::int32_t accumulator, float factor, int residual) const {
  const Layer& l = layer();
  const int own =
      std::clamp(requantize(accumulator, factor, l.y_zero_point, l.y_type), l.low, l.high) +
      l.y_flip;
  if (sum_table_.empty()) return own;
  return sum_table_[static_cast<std::size_t>(own)][static_cast<std::size_t>(residual)];
}

std::string Laboratory::why_not() const {
  if (window_.size() >= kLeastWindow) return {};
  return cat("its results tell ", std::max<std::int64_t>(0, window_.size()),
             " sums in a row apart, and ", kLeastWindow, " are needed");
}

// Results rise with the accumulator, so one that differs from both neighbours' is its own.
Laboratory::Window Laboratory::widest_window() const {
  Window best;
  const std::optional<float> only = subject_.words.only_factor;
  for (const int steps : {1, 2, 4, 8}) {  // of the result, without what is added to it
    const float factor = only.value_or(static_cast<float>(steps));
    const std::int32_t unit = only ? kIntegerUnit * steps : 1;
    for (const int residual :
         sum_table_.empty() ? std::vector<int>{0} : std::vector<int>{0, 64, 128, 192, 255}) {
      Window window{factor, residual, 0, -1, unit};
      const auto value = [&](std::int32_t a) { return result(a * unit, factor, residual); };
      for (std::int32_t a = -kTable; a < kTable; ++a) {
        const bool own = value(a - 1) < value(a) && value(a) < value(a + 1);
        if (!own) window.first = a + 1;
        if (own) window.last = a;
        if (own && a - window.first + 1 > best.size()) {
          best = window;
        }
      }
    }
  }
  return best;
}

// What an input is that is one unit away from the zero point.
int Laboratory::one_away() const {
  const int above = layer().x_zero_point + window_.unit;
  return above <= 255 ? above : layer().x_zero_point - window_.unit;
}

std::int64_t Laboratory::stride_for(std::int64_t tasks) const {
  // Comparing an output costs about as much as 20 multiplications.
  const double work = static_cast<double>(layer().outputs()) * 20 +
                      static_cast<double>(layer().outputs()) * static_cast<double>(layer().taps()) *
                          static_cast<double>(layer().geometry.in_per_group());
  const double all = work * static_cast<double>(tasks);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(all / most_work_));
}

PhaseResult Laboratory::conclude(std::string name, std::int64_t done, std::int64_t possible,
                                 Trials& trials) const {
  trials.finish();
  return {std::move(name), done, possible, trials.calls(), trials.mismatch(), trials.failed()};
}

// Of input channels there are enough, or too few, to change another one at every position.
int Laboratory::product_parts() const {
  return layer().geometry.in_per_group() >= kMixedChannels ? kMixedParts : 1 + kSubsets;
}

// By which each position of each group and batch element is ahead in the order of its channels.
std::vector<std::uint32_t> Laboratory::product_offsets() {
  const ConvGeometry& g = layer().geometry;
  const auto count = g.batch * layer().inputs() * (g.in_channels / g.in_per_group());
  std::vector<std::uint32_t> out(static_cast<std::size_t>(count));
  if (g.in_per_group() < kMixedChannels) return out;
  for (std::uint32_t& offset : out)
    offset =
        static_cast<std::uint32_t>((random_() >> 8) % static_cast<std::uint64_t>(g.in_per_group()));
  return out;
}

// One trial per class of input positions and channel of a group: at every position of the class one
// channel is one away from the zero point. Which one is random, so that two positions are changed
// in the same trial by chance only; with few channels it is the same one, at all positions in the
// first part and at random ones in the others. Nothing is expected yet.
std::vector<Trial> Laboratory::product_trials(int part) {
  const ConvGeometry& g = layer().geometry;
  const std::int64_t inputs = layer().inputs(), per_group = g.in_per_group();
  const std::int64_t classes =
      std::accumulate(reach_.input_spacing.begin(), reach_.input_spacing.end(), std::int64_t{1},
                      std::multiplies<>());
  std::vector<Trial> trials(static_cast<std::size_t>(classes * per_group));
  const std::vector<std::uint32_t> offsets = product_offsets();
  const bool thinned = part > 0 && per_group < kMixedChannels;
  const auto changed = static_cast<std::uint8_t>(one_away());
  for (std::int64_t position = 0; position < inputs; ++position) {
    std::int64_t rest = position, number = 0, factor = 1;
    for (std::size_t axis = g.axes.size(); axis-- > 0;) {
      number += rest % g.axes[axis].in % reach_.input_spacing[axis] * factor;
      rest /= g.axes[axis].in;
      factor *= reach_.input_spacing[axis];
    }
    for (std::int64_t row = 0; row < g.batch * g.in_channels; ++row) {
      if (thinned && (random_() & 16) != 0) continue;
      const auto ahead = offsets[static_cast<std::size_t>(row / per_group * inputs + position)];
      const std::int64_t trial = number * per_group + (row + ahead) % per_group;
      trials[static_cast<std::size_t>(trial)].inputs.push_back({row * inputs + position, changed});
    }
  }
  return trials;
}

void Laboratory::expect_sums(const Window& window, const std::vector<std::int32_t>& targets,
                             const std::vector<std::int32_t>& sums, Trial& trial) const {
  const auto m = static_cast<std::size_t>(channels());
  std::vector<std::int16_t> table;
  for (std::int32_t a = -kTable; a <= kTable; ++a)
    table.push_back(
        static_cast<std::int16_t>(result(a * window.unit, window.factor, window.residual)));
  trial.expected.resize(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::int32_t a = std::clamp(targets[i % m] + sums[i], -kTable, kTable);
    const std::int32_t at = a + kTable;
    trial.expected[i] = table[static_cast<std::size_t>(at)];
  }
}

// The least and the greatest that one input one away from the zero point adds to each channel, in
// units, as all sums of products() are.
std::vector<Laboratory::Range> Laboratory::product_ranges() const {
  std::vector<Range> out(static_cast<std::size_t>(channels()));  // with 0
  const ConvGeometry& g = layer().geometry;
  const bool down = one_away() < layer().x_zero_point;
  for (std::size_t i = 0; i < layer().weights.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t c = at / g.out_per_group() / layer().taps();
    const auto m =
        static_cast<std::size_t>(c / g.in_per_group() * g.out_per_group() + at % g.out_per_group());
    const int w = down ? -layer().weights[i] : layer().weights[i];
    out[m] = {std::min(out[m].first, w), std::max(out[m].second, w)};
  }
  return out;
}

// The accumulators that channels have with all inputs at the zero point, so that in pass after pass
// another part of the channel's range is in the window.
std::vector<std::int32_t> Laboratory::product_targets(const Window& window,
                                                      const std::vector<Range>& ranges,
                                                      std::int64_t pass) const {
  std::vector<std::int32_t> out;
  for (const auto& [low, high] : ranges) {
    const std::int64_t at = std::min(pass, (high - low) / window.size());
    out.push_back(static_cast<std::int32_t>(window.first - low - at * window.size()));
  }
  return out;
}

std::vector<std::uint32_t> Laboratory::shift_to(const std::vector<std::int32_t>& targets) const {
  std::vector<std::uint32_t> out;
  for (std::size_t m = 0; m < targets.size(); ++m) {
    out.push_back(static_cast<std::uint32_t>(targets[m]) -
                  static_cast<std::uint32_t>(layer().bias[m]));
  }
  return out;
}

// By the definition, without biases.
std::vector<std::int32_t> Laboratory::sums_of(const Trial& trial) const {
  std::vector<std::int32_t> sums(static_cast<std::size_t>(layer().outputs()));
  const std::int64_t inputs = layer().inputs(), in_channels = layer().geometry.in_channels;
  for (const Trial::Byte& byte : trial.inputs) {
    const std::int64_t row = byte.element / inputs;
    add_input(layer(), reach_, {row / in_channels, row % in_channels, byte.element % inputs},
              byte.value - layer().x_zero_point, sums);
  }
  return sums;
}

// Weights that the inputs of a trial show.
std::int64_t Laboratory::products_in(const Trial& trial) const {
  std::int64_t out = 0;
  for (const Trial::Byte& byte : trial.inputs)
    out += std::ssize(reach_.of_input(byte.element % layer().inputs()));
  return out * layer().geometry.out_per_group();
}

// Whether a sum is in its channel's window in this pass, as it is in exactly one.
bool Laboratory::shows(const Window& window, const std::vector<Range>& ranges, std::int64_t pass,
                       const std::vector<std::int32_t>& sums) const {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Range& range = ranges[i % ranges.size()];
    if ((sums[i] - range.first) / window.size() == pass) return true;
  }
  return false;
}

// A call in whose window is no sum shows nothing, and is not made. What the first part leaves out
// counts as left out: the others only look at the same weights in other company.
PhaseResult Laboratory::products() {
  const std::vector<Range> ranges = product_ranges();
  std::int64_t passes = 1;
  for (const auto& [low, high] : ranges)
    passes = std::max(passes, (high - low + window_.size()) / window_.size());
  Trials trials(subject_, places_, runner_, reporter_);
  trials.set_factor(window_.factor);
  trials.set_input(uniform_input(layer().x_zero_point));
  if (layer().residual) trials.set_residual(uniform_residual(window_.residual));
  const std::int64_t turns = passes * product_parts();
  std::int64_t all = 0, done = 0;
  for (int part = 0; part < product_parts(); ++part) {
    std::vector<Trial> batch = product_trials(part);
    const auto stride = static_cast<std::size_t>(stride_for(std::ssize(batch) * turns));
    batch.emplace_back();  // no input: it shows the biases and zero points
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::int64_t here = part == 0 ? products_in(batch[i]) : 0;
      all += here;
      if (i % stride != 0 && i + 1 < batch.size()) continue;
      done += here;
      std::vector<std::int32_t> sums = sums_of(batch[i]);
      for (std::int32_t& sum : sums) sum /= window_.unit;
      for (std::int64_t pass = 0; pass < passes; ++pass) {
        if (!shows(window_, ranges, pass, sums)) continue;
        const std::vector<std::int32_t> targets = product_targets(window_, ranges, pass);
        std::vector<std::int32_t> accumulators = targets;
        for (std::int32_t& each : accumulators) each *= window_.unit;
        trials.set_shift(shift_to(accumulators));
        Trial trial{batch[i].inputs, {}};
        expect_sums(window_, targets, sums, trial);
        trials.add(std::move(trial));
      }
    }
  }
  return conclude("products", done, all, trials);
}

PhaseResult Laboratory::random() {
  Trials trials(subject_, places_, runner_, reporter_);
  for (int turn = 0; turn < kRandom; ++turn) {
    std::vector<std::uint8_t> x = uniform_input(turn == 0 ? 0 : 255);
    for (std::size_t i = 0; turn > 1 && i < x.size(); ++i)
      x[i] = static_cast<std::uint8_t>(random_() >> 8);
    Trial dense;
    for (std::size_t i = 0; i < x.size(); ++i)
      dense.inputs.push_back({static_cast<std::int64_t>(i), x[i]});
    const std::vector<std::int32_t> sums = sums_of(dense);
    const std::vector<std::uint8_t> residual = residual_bytes(turn * 37);
    Trial trial;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto m = i % static_cast<std::size_t>(channels());
      const std::int32_t a = wrap_to_int32(std::int64_t{sums[i]} + layer().bias[m]);
      trial.expected.push_back(static_cast<std::int16_t>(
          result(a, layer().scale[m], residual.empty() ? 0 : residual[i])));
    }
    trials.set_input(x);
    if (!residual.empty()) trials.set_residual(residual);
    trials.add(std::move(trial));
  }
  return conclude("random", kRandom, kRandom, trials);
}

}  // namespace etch::cli
