// Where a requantization that never falls changes: what a proof has to call on both sides of.
#pragma once

#include <cstdint>
#include <vector>

namespace etch::cli {

// For value(a) that does not fall from low to high: the last a before and the first a after each
// place where it rises, found by halving. At most 256 or 65,536 of each, as results have no more.
template <class Value>
std::vector<std::int32_t> thresholds_of(std::int64_t low, std::int64_t high, Value value) {
  std::vector<std::int32_t> out;
  std::int64_t from = low;
  const auto end = value(high);
  for (auto next = value(low) + 1; next <= end; ++next) {
    std::int64_t least = from, most = high;  // the result reaches `next` in (least, most]
    while (most - least > 1) {
      const std::int64_t middle = least + (most - least) / 2;
      (value(middle) >= next ? most : least) = middle;
    }
    out.push_back(static_cast<std::int32_t>(most - 1));
    out.push_back(static_cast<std::int32_t>(most));
    from = most - 1;
  }
  return out;
}

}  // namespace etch::cli
