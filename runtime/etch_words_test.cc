// How sums of 16-bit activations are requantized: rounded to the nearest integer, ties to even.
#include "etch_words.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace etch {
namespace rt {
namespace {

// rne((sum * high + rest) / 2^shift)
std::int64_t nearest(std::int32_t sum, std::int32_t high, std::int32_t shift, std::int32_t rest) {
  const std::int64_t value = std::int64_t{sum} * high + rest;
  const std::int64_t below = value >> shift;
  const std::int64_t left = value - (below << shift), half = std::int64_t{1} << (shift - 1);
  return left > half || (left == half && below % 2 != 0) ? below + 1 : below;
}

// Odd multiples of half a unit of y, and what is beside them.
std::vector<std::int32_t> sums_for(std::int32_t shift) {
  const std::int32_t half = shift > 29 ? 1 << (shift > 58 ? 29 : shift - 29) : 1;
  std::vector<std::int32_t> out{INT32_MIN, INT32_MAX, 0};
  for (const std::int32_t odd : {-3, -1, 1, 3}) {
    for (const std::int32_t beside : {-1, 0, 1}) out.push_back(odd * half + beside);
  }
  return out;
}

TEST(Words, AreRoundedToTheNearestAndTiesToEven) {
  for (std::int32_t shift = 1; shift < 62; ++shift) {
    const std::int32_t tie = shift < 30 ? 1 << (shift - 1) : 0;
    for (const std::int32_t sum : sums_for(shift)) {
      for (const std::int32_t high : {1 << 28, (1 << 28) + 1, (1 << 29) - 1}) {
        for (const std::int32_t rest : {0, 1, -1, tie, -tie}) {
          const std::int64_t expected = nearest(sum, high, shift, rest);
          ASSERT_EQ(scaled_word(sum, high, 0, shift, rest), expected) << sum << " >> " << shift;
          if (shift > 32) {
            ASSERT_EQ(far_word(sum, high, 0, shift, rest), expected) << sum << " >> " << shift;
          }
        }
      }
    }
  }
}

TEST(Words, OfFarShiftsAreThoseOfAllShifts) {
  std::mt19937 dice(16);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::int32_t>(dice() % limit); };
  for (int i = 0; i < 200000; ++i) {
    const std::int32_t sum = static_cast<std::int32_t>(dice()) >> below(31);
    const std::int32_t high = (1 << 28) + below(1u << 28), low = below(1u << 31);
    const std::int32_t shift = 33 + below(26), rest = below(1u << 29) - (1 << 28);
    ASSERT_EQ(far_word(sum, high, low, shift, rest), scaled_word(sum, high, low, shift, rest));
    // Just beside a tie, which only the last bits of the multiplier decide.
    const std::int32_t half = 1 << (shift - 29);
    ASSERT_EQ(far_word(half, 1 << 28, low, shift, 0), scaled_word(half, 1 << 28, low, shift, 0));
  }
}

// Where no sum is a tie, adding a half is enough.
TEST(Words, WithoutTiesAreThoseOfAnyFactor) {
  std::mt19937 dice(17);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::int32_t>(dice() % limit); };
  for (int i = 0; i < 200000; ++i) {
    const std::int32_t sum = static_cast<std::int32_t>(dice()) >> below(31);
    const std::int32_t high = (1 << 28) + below(1u << 28), low = below(1u << 31) | 1;
    const std::int32_t shift = 33 + below(29), rest = below(1u << 29) - (1 << 28);
    const std::int64_t twice = ((std::int64_t{high} << 31) + low) * 2;
    const auto word = static_cast<std::int32_t>(static_cast<std::uint32_t>(twice));
    const std::int64_t offset = (std::int64_t{1} << (shift - 1)) + rest;
    ASSERT_EQ(untied_word(sum, static_cast<std::int32_t>((twice - word) >> 32), word, shift - 32,
                          static_cast<std::int32_t>(static_cast<std::uint32_t>(offset)),
                          static_cast<std::int32_t>(offset >> 32)),
              scaled_word(sum, high, low, shift, rest))
        << sum << " * " << twice << " >> " << shift;
  }
}

}  // namespace
}  // namespace rt
}  // namespace etch
