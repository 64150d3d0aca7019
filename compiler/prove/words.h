// Which words of a step's constants are the biases and which are the factors of requantization, in
// whatever order a kernel packs them: found by what differs where the graph differs in nothing
// else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/program/step.h"
#include "compiler/prove/layer.h"

namespace etch {

// Of kernels that sum two channels in one word, the second 256 times (Cortex-M, joint weights).
inline constexpr int kSharedFactor = 256;

struct ConstantWord {
  int array = 0;     // of Step::constants
  int word = 0;      // 4 bytes each
  int channel = -1;  // of a bias
  int second = -1;   // of a bias: the word holds kSharedFactor times this channel's as well
  float unit = 1;    // of a factor: what the word is for a factor of 1
  bool operator==(const ConstantWord&) const = default;
};

struct ConstantWords {
  std::vector<ConstantWord> biases;  // a channel can have several: one per set of taps
  std::vector<ConstantWord> factors;
};

// From the constants of a step, of that of a graph with tag_bias(), and of that of a graph with
// double_scale(); see layer.h. An empty result has a reason in `why`.
ConstantWords find_words(const Step& step, const Step& tagged, const Step& doubled,
                         const Layer& layer, std::string& why);

// The factors alone, as far as words that are doubled are floats; empty: something else differs.
std::vector<ConstantWord> find_factors(const Step& step, const Step& doubled);

}  // namespace etch
