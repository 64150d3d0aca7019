// See tuner.h.
#include "compiler/tune/tuner.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/host/data_set.h"
#include "compiler/host/interrupt.h"
#include "compiler/import/file.h"
#include "compiler/program/tunable.h"
#include "compiler/text/numbers.h"

namespace etch::cli {
namespace {

constexpr std::size_t kCandidates = 6;
// Of the time: for builds until the first measurement, and left for building and measuring the
// network of all choices.
constexpr double kBuilding = 0.45;
constexpr double kConfirming = 0.3;

// Time of all steps of a layer.
double time_of(const TunedLayer& layer, const Times& times) {
  double sum = 0;
  for (const std::string& step : layer.steps) {
    const auto it = times.find(step);
    if (it != times.end()) sum += it->second.median_us;
  }
  return sum;
}

double to_beat(double us) { return std::min(us * (1 - kLeastGain), us - kLeastMicroseconds); }

void keep_least(Times& least, const Times& times) {
  for (const auto& [name, time] : times) {
    const auto [it, inserted] = least.emplace(name, time);
    if (!inserted) it->second.median_us = std::min(it->second.median_us, time.median_us);
  }
}

}  // namespace

void Tuner::say(const std::string& what) const {
  if (!reporter_.quiet()) {
    print_error_line(cat("etch tune: ", fixed(watch_.seconds(), 1), " s: ", what));
  }
}

// The first time with the model's diagnostics.
std::unique_ptr<Program> Tuner::compiled(const Tuning& tuning) {
  options_.tuning = tuning;
  Sink sink;
  std::unique_ptr<Program> program = compile(bytes_, options_, sink);
  if (builds_.empty() || program == nullptr) reporter_.diagnostics(sink, model_);
  if (program == nullptr && !reporter_.failed()) {
    reporter_.internal_error(cat(model_, ": refused without a reason"));
  }
  return program;
}

void Tuner::find_layers(const Program& program) {
  isa_ = program.isa;
  std::map<std::string, std::size_t> known;
  for (const auto& step : program.steps) {
    const TunableTiles* const tiles = step->tunable();
    if (tiles == nullptr) continue;
    const auto [it, inserted] = known.emplace(tiles->key, result_.layers.size());
    if (inserted) {
      TunedLayer& layer = result_.layers.emplace_back();
      layer.key = tiles->key;
      layer.usual = text_of(tiles->choice(), isa_);
      layer.candidates = tiles->candidates(isa_, kCandidates);
    }
    result_.layers[it->second].steps.push_back(step->name);
  }
  keep_shard();
}

void Tuner::keep_shard() {
  std::vector<TunedLayer> kept;
  for (std::size_t i = 0; i < result_.layers.size(); ++i) {
    const std::size_t number = i % static_cast<std::size_t>(shard_.of) + 1;
    if (number != static_cast<std::size_t>(shard_.number)) continue;
    kept.push_back(std::move(result_.layers[i]));
  }
  result_.layers = std::move(kept);
}

Tuning Tuner::candidates_of(std::size_t number) const {
  Tuning tuning;
  for (const TunedLayer& layer : result_.layers) {
    if (number >= layer.candidates.size()) continue;
    tuning.entries[{std::string(isa_.name), layer.key}] = {layer.candidates[number], 0};
  }
  return tuning;
}

Tuning Tuner::chosen() const {
  Tuning tuning;
  for (const TunedLayer& layer : result_.layers) {
    if (layer.chosen < 0) continue;
    const auto number = static_cast<std::size_t>(layer.chosen);
    tuning.entries[{std::string(isa_.name), layer.key}] = {layer.candidates[number], 0};
  }
  return tuning;
}

bool Tuner::add_build(const Tuning& tuning) {
  std::unique_ptr<Program> program = compiled(tuning);
  if (program == nullptr) return false;
  if (builds_.empty()) find_layers(*program);
  if (builds_.empty() && result_.layers.empty()) return true;  // nothing to tune
  const Stopwatch building;
  auto build = std::make_unique<Build>();
  build->network = Network::build(std::move(program), Timing::kSteps, {}, reporter_);
  if (build->network == nullptr) return false;
  build_seconds_ = building.seconds();
  builds_.push_back(std::move(build));
  ++result_.builds;
  return true;
}

bool Tuner::build_candidates() {
  if (!add_build({})) return false;
  std::size_t most = 0;
  for (const TunedLayer& layer : result_.layers) most = std::max(most, layer.candidates.size());
  say(cat(result_.layers.size(), " kinds of layers, ", most, " candidates each at most"));
  for (std::size_t number = 0; number < most; ++number) {
    if (number > 0 && watch_.seconds() + build_seconds_ > kBuilding * seconds_) {
      say(cat("no time for more than ", number, " candidates (--seconds)"));
      break;
    }
    if (!add_build(candidates_of(number))) return false;
    say(cat("built candidate ", number + 1, " of ", most));
  }
  return true;
}

// Runs the builds in turns, at least so often, until the time has come.
bool Tuner::measure(std::vector<Build*> builds, double until, int least_rounds) {
  constexpr double kRounds = 6;
  const double left = until - watch_.seconds();
  const double slice = std::clamp(left / kRounds / static_cast<double>(builds.size()), 0.05, 2.0);
  for (int round = 0; round < least_rounds || watch_.seconds() < until; ++round) {
    for (Build* const build : builds) {
      const auto output = build->network->bench(sample_, slice, reporter_);
      if (!output) return false;
      keep_least(build->least, parse_times(*output));
    }
    std::ranges::reverse(builds);
    ++result_.rounds;
  }
  return true;
}

// The fastest candidate of each layer, if it wins.
void Tuner::choose() {
  for (TunedLayer& layer : result_.layers) {
    layer.usual_us = time_of(layer, builds_.front()->least);
    double least = to_beat(layer.usual_us);
    for (std::size_t i = 1; i < builds_.size() && i <= layer.candidates.size(); ++i) {
      const double time = time_of(layer, builds_[i]->least);
      if (time >= least) continue;
      least = time;
      layer.chosen = static_cast<int>(i) - 1;
    }
  }
}

// Takes back what does not win when all choices are made together.
void Tuner::confirm(const Build& usual, const Build& tuned) {
  for (TunedLayer& layer : result_.layers) {
    layer.usual_us = time_of(layer, usual.least);
    layer.chosen_us = time_of(layer, tuned.least);
    if (layer.chosen_us >= to_beat(layer.usual_us)) layer.chosen = -1;
  }
  result_.usual_us = usual.least.at("network").median_us;
  result_.tuned_us = tuned.least.at("network").median_us;
}

bool Tuner::run() {
  Sink sink;
  const InterruptGuard guard;
  const auto bytes = read_model_file(model_, options_.import.limits, sink);
  reporter_.diagnostics(sink, model_);
  if (!bytes) return false;
  bytes_ = *bytes;
  const auto data = find_data_sets(model_);
  if (!data.empty()) options_.import.data_shapes = shapes_of_inputs(data.front());
  if (!build_candidates()) return false;
  if (builds_.empty()) return true;
  sample_ = sample_for(model_, builds_.front()->network->program());
  std::vector<Build*> all;
  for (const auto& build : builds_) all.push_back(build.get());
  const double first = seconds_ * (1 - kConfirming) - build_seconds_;
  say(cat("measuring ", all.size(), " builds in turns"));
  if (!measure(all, first, 3)) return false;
  choose();
  const Tuning best = chosen();
  if (best.entries.empty()) return true;
  say(cat("building the choices for ", best.entries.size(), " of ", result_.layers.size(),
          " kinds of layers"));
  if (!add_build(best)) return false;
  Build usual{std::move(builds_.front()->network), {}};
  Build tuned{std::move(builds_.back()->network), {}};
  say("measuring them against the defaults");
  if (!measure({&usual, &tuned}, seconds_, 3)) return false;
  confirm(usual, tuned);
  result_.tuning = chosen();
  return true;
}

}  // namespace etch::cli
