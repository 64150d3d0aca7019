// Runs that are copied by words: every length and place, and not a byte more.
#include "runtime/etch_move.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace etch {
namespace {

TEST(CopyRun, CopiesEveryLengthAndNothingElse) {
  for (int n = 0; n < 70; ++n) {
    for (std::size_t from = 0; from < 4; ++from) {
      std::vector<std::uint8_t> x(80), y(80, 0xaa);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint8_t>(i + 1);
      rt::copy_run(x.data() + from, y.data() + 1, n);
      for (std::size_t i = 0; i < y.size(); ++i) {
        const bool copied = i >= 1 && i <= static_cast<std::size_t>(n);
        ASSERT_EQ(y[i], copied ? x[i - 1 + from] : 0xaa) << n << " from " << from << " at " << i;
      }
    }
  }
}

TEST(FlipRun, InvertsTheSameBitsOfEveryByteAndNothingElse) {
  for (int n = 0; n < 70; ++n) {
    std::vector<std::uint8_t> x(80), y(80, 0xaa);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint8_t>(i + 1);
    rt::flip_run(x.data() + 3, y.data() + 1, n, 0x81);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const bool flipped = i >= 1 && i <= static_cast<std::size_t>(n);
      ASSERT_EQ(y[i], flipped ? x[i + 2] ^ 0x81 : 0xaa) << n << " at " << i;
    }
  }
}

}  // namespace
}  // namespace etch
