// Which words of a step's constants are the biases and which are the factors of requantization, in
// whatever order a kernel packs them: found by what differs where the graph differs in nothing
// else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/program/step.h"

namespace etch {

struct ConstantWord {
  int array = 0;     // of Step::constants
  int word = 0;      // 4 bytes each
  int channel = -1;  // of a bias
  bool operator==(const ConstantWord&) const = default;
};

struct ConstantWords {
  std::vector<ConstantWord> biases;  // a channel can have several: one per set of taps
  std::vector<ConstantWord> factors;
};

// From the constants of a step, of that of a graph with tag_bias(), and of that of a graph with
// double_scale(); see layer.h. An empty result has a reason in `why`.
ConstantWords find_words(const Step& step, const Step& tagged, const Step& doubled,
                         std::int64_t channels, std::string& why);

}  // namespace etch
