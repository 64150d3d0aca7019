// The parts of the proof of one layer; docs/proof.md says why they prove what they say.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/prove/trials.h"

namespace etch::cli {

inline constexpr std::int32_t kIntegerUnit = 2;  // times kIntegerFactor it is one step of a result

// What a part has done.
struct PhaseResult {
  std::string name;           // "products", "extremes", "thresholds", "sums", "random"
  std::int64_t done = 0;      // of what the name says
  std::int64_t possible = 0;  // the same, if nothing is left out
  std::int64_t calls = 0;
  Mismatch mismatch;
  bool failed = false;  // could not be carried out
  bool good() const { return !failed && mismatch.count == 0; }
  bool complete() const { return good() && done == possible; }
};

// What all parts work on.
class Laboratory {
 public:
  // `most_work`: multiplications of one part at most; what is left out is reported.
  Laboratory(const Subject& subject, const Places& places, const ProofRunner& runner,
             double most_work, Reporter& reporter);

  // Why no sum can be read from results; empty: they can, and the parts below may be called.
  std::string why_not() const;
  // Every weight, every bias and every zero point as each output uses them.
  PhaseResult products();
  // The greatest and the least sum of every channel: no partial sum saturates.
  PhaseResult extremes();
  // Every accumulator at which a channel's result changes, the one before it, and the ends.
  PhaseResult thresholds();
  // Every pair of a result and a residual.
  PhaseResult sums();
  // Random inputs with the network's own constants.
  PhaseResult random();

 private:
  // A factor, and the accumulators whose results at this factor belong to no other one. Where the
  // factor is below 1 those are multiples of a unit, and inputs are as far from the zero point.
  struct Window {
    float factor = 1;
    int residual = 0;
    std::int32_t first = 0, last = -1;  // in units
    std::int32_t unit = 1;
    std::int64_t size() const { return last - first + 1; }
  };
  using Range = std::pair<int, int>;  // the least and the greatest
  using Bounds = std::pair<std::int64_t, std::int64_t>;
  // The output positions of a class, by the taps through which they depend on inputs.
  using Kinds = std::vector<std::vector<std::int64_t>>;

  const Layer& layer() const { return *subject_.layer; }
  std::int64_t channels() const { return layer().geometry.out_channels; }
  std::vector<std::uint8_t> uniform_input(int value) const;
  std::vector<std::uint8_t> uniform_residual(int value) const;
  std::vector<std::uint8_t> residual_bytes(std::int64_t turn) const;
  int result(std::int32_t accumulator, float factor, int residual) const;
  void fill_sum_table();
  Window widest_window() const;
  int one_away() const;
  // The step between the tasks that are done, so that the work stays below the limit.
  std::int64_t stride_for(std::int64_t tasks) const;
  PhaseResult conclude(std::string name, std::int64_t done, std::int64_t possible,
                       Trials& trials) const;

  int product_parts() const;
  std::vector<Trial> product_trials(int part);
  std::vector<std::uint32_t> product_offsets();
  std::vector<Range> product_ranges() const;
  std::vector<std::int32_t> product_targets(const Window& window, const std::vector<Range>& ranges,
                                            std::int64_t pass) const;
  bool shows(const Window& window, const std::vector<Range>& ranges, std::int64_t pass,
             const std::vector<std::int32_t>& sums) const;
  std::vector<std::uint32_t> shift_to(const std::vector<std::int32_t>& targets) const;
  std::vector<std::int32_t> sums_of(const Trial& trial) const;
  std::int64_t products_in(const Trial& trial) const;
  void expect_sums(const Window& window, const std::vector<std::int32_t>& targets,
                   const std::vector<std::int32_t>& sums, Trial& trial) const;
  std::vector<Kinds> output_classes() const;
  std::int32_t make_extreme(std::int64_t channel, bool most,
                            const std::vector<std::int64_t>& positions,
                            std::vector<std::uint8_t>& x) const;
  std::int64_t extreme_turns(const Kinds& kinds) const;
  std::int64_t extreme_trial(const Window& window, const Kinds& kinds, std::int64_t turn, bool most,
                             Trials& trials) const;
  std::int32_t sharp_target(const Window& window, bool most) const;
  std::int32_t accumulator_with(int result) const;
  Bounds possible_sums(std::int64_t channel) const;
  std::vector<std::int32_t> check_points(std::int64_t channel) const;
  Trial uniform_trial(const std::vector<std::int32_t>& accumulators, float factor,
                      std::int64_t turn) const;

  const Subject& subject_;
  const Places& places_;
  const ProofRunner& runner_;
  const double most_work_;
  Reporter& reporter_;
  const Reach reach_;
  const std::vector<Kinds> classes_;                  // output_classes()
  std::vector<std::vector<std::uint8_t>> sum_table_;  // [result][residual], as stored
  Window window_;                                     // widest_window()
  std::mt19937 random_{20261123};
};

}  // namespace etch::cli
