// Layouts of integer requantization that one compilation has chosen, for another one to keep:
// `etch prove` compiles a network again with factors that show sums, whose formulas are simpler,
// and their constants have to fit the code that exists. Without such an observer
// (compiler/base/observation.h), as in every compilation whose code is kept, nothing is different.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/program/requantization.h"

namespace etch {

class IntegerLayouts {
 public:
  // From now on what is settled, in the same order, is made to fit what was noted.
  void repeat() { repeats_ = true, next_ = 0; }
  // Formulas have to hold for every accumulator.
  bool repeats() const { return repeats_; }

  // Notes the layout and the results at the ends of each channel's range; or makes room for the
  // words of the layout that was noted, and changes the ranges so that results have the same ends.
  void settle(IntegerRequantization& found);

 private:
  struct Noted {
    IntegerLayout layout;
    std::vector<std::pair<std::int32_t, std::int32_t>> results;
  };
  std::vector<Noted> noted_;
  std::size_t next_ = 0;
  bool repeats_ = false;
};

}  // namespace etch
