// Constants of fewer bits than what is computed with them: weights and tables that generated code
// keeps as integers and widens to floats as it goes.
#pragma once

#include "compiler/program/step.h"

namespace etch {

// A second base of the steps that have such constants.
class PacksWeights {
 public:
  virtual ~PacksWeights() = default;
  virtual int weight_bits() const = 0;  // of one weight: 2, 4 or 8
};

// Bits of a weight of this step; 0: it has none of this kind.
int weight_bits(const Step& step);

}  // namespace etch
