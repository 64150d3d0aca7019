// Functions of 16-bit values in pieces that are polynomials of degree 3 in integers, without a
// result that differs: every result is known when compiling, and every piece is computed on all
// its values as generated code does it (runtime/etch_word_table.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace etch {

constexpr int kWordBlockBits = 8;  // a block of the index has up to 2^8 values

struct WordCubic {
  std::int32_t last = 0;  // the number of its last value; it begins after that of the one before
  int shift = 0;
  std::array<std::int32_t, 4> factors{};  // of powers of the distance from the last value
};

// Of all 65,536 results in the order of their values: as few pieces as a greedy choice finds. All
// but the last have two values or more. How they are rounded is a matter of the whole function.
enum class WordRounding : std::uint8_t { kDown, kToEven };
std::vector<WordCubic> word_cubics(std::span<const std::int32_t> results, WordRounding rounding);

}  // namespace etch
