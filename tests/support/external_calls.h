// Arguments for calls of the runtime's functions between guards, and the loops over them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "templates/external.h"
#include "tests/support/guarded.h"

namespace etch::testing {

using Byte = std::uint8_t;
inline const Bytes<const Byte> kBytes;
inline const Bytes<Byte> kOut;
inline const Bytes<const float> kFloats;
inline const Bytes<float> kFloatsOut;
inline const Bytes<const std::uint16_t> kHalves;
inline const Bytes<std::uint16_t> kHalvesOut;
inline const Bytes<const std::int32_t> kInts;
inline const Bytes<std::int32_t> kIntsOut;
inline const Bytes<std::int64_t> kLongsOut;
inline constexpr rt::Stored kStored{0, 0};
inline constexpr int kSteps[] = {1, 0, 3, -2};
// Beyond one vector of any width, with and without a rest.
inline constexpr int kCounts[] = {1, 7, 16, 67};

template <class Check>
void expect_inside(Check check) {
  const auto run = [&] {
    check();
    std::_Exit(0);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

// check(n, step, step of another operand)
template <class Check>
void for_each_row(Check check) {
  expect_inside([&] {
    for (const int n : kCounts) {
      for (const int a : kSteps) {
        for (const int b : kSteps) check(n, a, b);
      }
    }
  });
}

}  // namespace etch::testing
