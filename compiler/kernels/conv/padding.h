// Whether leaving out taps on padding is worth the code for tiles at the borders of a map.
#pragma once

#include <cstdint>

namespace etch {

struct TapCost {
  double cycles = 0;
  std::int64_t statements = 0;
};

// It has to save 3 % of a step's cycles; if less than a tenth, also so many for each statement
// more, of which compilers do some 4,000 in a second.
inline bool padding_pays(const TapCost& spared, const TapCost& whole) {
  constexpr double kGain = 0.97, kLargeGain = 0.9, kCyclesPerStatement = 1.5;
  if (spared.cycles >= kGain * whole.cycles) return false;
  const auto more = static_cast<double>(spared.statements - whole.statements);
  return spared.cycles < kLargeGain * whole.cycles ||
         whole.cycles - spared.cycles > kCyclesPerStatement * more;
}

}  // namespace etch
