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
  // Floats: the largest absolute difference divided by max(1, |expected|), the cosine of the angle
  // between the two as vectors, and whether the first largest elements are at the same place.
  double largest_share = 0;
  double cosine = 1;
  bool same_arg_max = true;
  bool integer = true;

  // Integers differ by at most `steps`: 0 means equal.
  bool within(std::int64_t steps) const {
    return different == 0 || (integer && largest <= static_cast<double>(steps));
  }
  // Floats differ by at most `tolerance`, absolute below 1 and relative above.
  bool within_tolerance(double tolerance) const {
    return different == 0 || (!integer && largest_share <= tolerance);
  }
  // Neither more elements differ than in `other`, nor one of them by more.
  bool no_worse_than(const Difference& other) const {
    return different <= other.different && largest <= other.largest;
  }
};

// Both have the same type and shape. Floats are compared by their bits, except that every NaN
// equals every other; so +0 and -0 differ, by 0.
Difference compare(const Tensor& actual, const Tensor& expected);

// "exact", "3 of 1000 differ, max 1", for floats with ", cosine 0.999998, same arg-max".
std::string to_string(const Difference& difference);

}  // namespace etch::cli
