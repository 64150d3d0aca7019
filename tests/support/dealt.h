// What files that deal cases have in common: declared shapes of constant sizes, and a number of
// cases from one seed. Each of them had these words for itself, and files with equal names of their
// own are not compiled as one (cmake/unity.cmake).
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/cases.h"
#include "tests/support/model_builder.h"

namespace etch {

inline std::vector<Dim> declared_dims(const Shape& shape) { return {shape.begin(), shape.end()}; }

inline std::vector<Case> dealt(int count, std::uint64_t seed, Case (*make)(int, Dice&)) {
  Dice dice(seed);
  std::vector<Case> out;
  for (int i = 0; i < count; ++i) out.push_back(make(i, dice));
  return out;
}

}  // namespace etch
