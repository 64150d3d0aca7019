// Measures a network's convolutions with different tiles, for `etch tune`. Not layer by layer: the
// whole network is built once with the first candidate of every layer, once with the second ones
// and so on, and the steps are timed within runs of it, with caches as they are in use. The builds
// run in turns, so that what else the machine does hits all of them. What looks faster is built
// into one network and measured against the default once more; only what wins again is kept.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/host/measure.h"
#include "compiler/host/network.h"
#include "compiler/kernels/conv/tuning.h"

namespace etch::cli {

// All layers of one geometry: they share one choice.
struct TunedLayer {
  std::string key;
  std::vector<std::string> steps;
  std::string usual;                   // the default, as text
  std::vector<TileChoice> candidates;  // that are not the default
  int chosen = -1;                     // of the candidates; -1: the default
  double usual_us = 0, chosen_us = 0;  // of all its steps; 0: not measured
};

// A faster choice is one that takes this much less time, in both measurements, and more than the
// clock cannot tell.
inline constexpr double kLeastGain = 0.02;
inline constexpr double kLeastMicroseconds = 0.02;

// Every so many-th kind of layer, so that several machines share the work; their files, put
// together, are the whole.
struct TuneShard {
  int number = 1;  // from 1 to `of`
  int of = 1;
};

struct TuneResult {
  std::vector<TunedLayer> layers;     // in the order of the network
  double usual_us = 0, tuned_us = 0;  // the whole network
  int builds = 0, rounds = 0;         // what was measured
  Tuning tuning;
};

class Tuner {
 public:
  // `seconds` of building and measuring together, but at least two builds and some rounds of each.
  Tuner(std::string model, CompileOptions options, double seconds, TuneShard shard,
        Reporter& reporter)
      : model_(std::move(model)),
        options_(std::move(options)),
        seconds_(seconds),
        shard_(shard),
        reporter_(reporter) {}

  // False after an error, which has been reported.
  bool run();
  const TuneResult& result() const { return result_; }
  const IsaTraits& isa() const { return isa_; }

 private:
  // A build and its least medians.
  struct Build {
    std::unique_ptr<Network> network;
    Times least;
  };

  std::unique_ptr<Program> compiled(const Tuning& tuning);
  bool add_build(const Tuning& tuning);
  bool measure(std::vector<Build*> builds, double until, int least_rounds);
  bool build_candidates();
  void find_layers(const Program& program);
  void keep_shard();
  Tuning candidates_of(std::size_t number) const;
  Tuning chosen() const;
  void choose();
  void confirm(const Build& usual, const Build& tuned);
  void say(const std::string& what) const;

  const std::string model_;
  CompileOptions options_;
  const double seconds_;
  const TuneShard shard_;
  Reporter& reporter_;
  const Stopwatch watch_;
  std::string bytes_;  // of the model
  IsaTraits isa_;
  std::vector<std::unique_ptr<Build>> builds_;  // the default first
  std::vector<Tensor> sample_;
  double build_seconds_ = 0;  // of the last one
  TuneResult result_;
};

}  // namespace etch::cli
