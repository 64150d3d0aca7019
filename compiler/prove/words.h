// Which words of a step's constants are the biases and which are the factors of requantization, in
// whatever order a kernel packs them: found by what differs where the graph differs in nothing
// else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program/step.h"
#include "compiler/prove/layer.h"

namespace etch {

// How often the second of two channels counts in kernels that sum both in one word (Cortex-M, joint
// weights of 8 bits, and of 4). All words of a step have the same.
inline constexpr int kSharedFactors[] = {256, 16};

struct ConstantWord {
  int array = 0;           // of Step::constants
  int word = 0;            // 4 bytes each
  int channel = -1;        // of a bias
  int second = -1;         // of a bias: the word holds `times` this channel's as well
  float unit = 1;          // of a factor: what the word is for a factor of 1
  std::uint32_t only = 0;  // of a factor without floats: the word for ConstantWords::only_factor
  int times = 1;           // one of kSharedFactors where there is a second channel
  bool operator==(const ConstantWord&) const = default;
};

struct ConstantWords {
  std::vector<ConstantWord> biases;  // a channel can have several: one per set of taps
  std::vector<ConstantWord> factors;
  // Of requantization without floats, whose words for other factors are not known.
  std::optional<float> only_factor;
};

// From the constants of a step, of that of a graph with tag_bias(), and of that of a graph with
// double_scale(); see layer.h. An empty result has a reason in `why`.
ConstantWords find_words(const Step& step, const Step& tagged, const Step& doubled,
                         const Layer& layer, std::string& why);

// Without floats: from the step's constants, those of a graph with set_factor() whose code is the
// same, and those of one with set_factor() and tag_bias(). `factor` is the one that was set.
ConstantWords find_words_without_floats(const Step& step, const Step& set,
                                        const Step& set_and_tagged, std::int64_t channels,
                                        float factor, std::string& why);

// The biases alone, of every channel; empty: they have another form.
std::vector<ConstantWord> find_bias_words(const Step& step, const Step& tagged,
                                          std::int64_t channels);

// Without floats, the words of a factor: those that differ from the step's own for any factor.
struct FactorWords {
  float factor = 0;
  std::vector<ConstantWord> words;
};
// Of the same step of graphs that differ in its factor alone. Empty: constants have another form.
std::vector<FactorWords> find_factor_words(const Step& step,
                                           const std::vector<std::pair<float, const Step*>>& sets);

// The factors alone, as far as words that are doubled are floats; empty: something else differs.
std::vector<ConstantWord> find_factors(const Step& step, const Step& doubled);

}  // namespace etch
