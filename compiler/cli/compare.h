// Whether two tensors are the same, and how far apart they are if not.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/ir/tensor.h"

namespace etch::cli {

struct Difference {
  std::int64_t elements = 0;
  std::int64_t different = 0;
  double largest = 0;  // absolute difference; infinite between NaN or infinity and a number
  bool integer = true;

  // Within `steps`: 0 means equal. Only integers may differ, a float has no step.
  bool within(std::int64_t steps) const {
    return different == 0 || (integer && largest <= static_cast<double>(steps));
  }
};

// Both have the same type and shape. Floats are compared by their bits, except that every NaN
// equals every other; so +0 and -0 differ, by 0.
Difference compare(const Tensor& actual, const Tensor& expected);

// "exact" or "3 of 1000 differ, max 1".
std::string to_string(const Difference& difference);

}  // namespace etch::cli
