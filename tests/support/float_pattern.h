// Floats of both signs that repeat after a hundred, for kernels whose results are compared bit by
// bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace etch {

inline std::vector<float> float_pattern(std::int64_t n) {
  std::vector<float> out(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<float>(i * 37 % 101) * 0.3F - 14.7F;
  return out;
}

}  // namespace etch
