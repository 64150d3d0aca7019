// The same as compositions_test.cc of Fourier transforms and windows of known size.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "tests/support/one_operator.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(Spectra, AndWindowsOfKnownSize) {
  OneOperator forward("DFT", 17);
  EXPECT_EQ(forward.input(f32({1, 4, 1}, {1, 2, 4, 8})).output(),
            f32({1, 4, 2}, {15, 0, -3, 6, -5, 0, -3, -6}));
  OneOperator inverse("DFT", 20);
  inverse.input(f32({1, 2, 2}, {4, 0, 2, 2})).attribute("inverse", std::int64_t{1});
  EXPECT_EQ(inverse.output(), f32({1, 2, 2}, {3, 1, 1, -1}));
  EXPECT_EQ(OneOperator("HannWindow", 17).constant(s64({}, {4})).output(),
            f32({4}, {0, 0.5F, 1, 0.5F}));
}

OneOperator inverse_of_half(const Tensor& x) {
  OneOperator node("DFT", 17);
  node.input(x).attribute("inverse", std::int64_t{1}).attribute("onesided", std::int64_t{1});
  return node;
}

TEST(Spectra, TheInverseOfHalfASpectrumIsReal) {
  // An imaginary part of the first and the middle place counts for nothing.
  const Tensor half = f32({1, 3, 2}, {15, 9, -3, 6, -5, 7});
  EXPECT_EQ(inverse_of_half(half).output(), f32({1, 4, 1}, {1, 2, 4, 8}));
  EXPECT_EQ(inverse_of_half(half).constant(s64({}, {2})).output(), f32({1, 2, 1}, {6, 9}));
  const Tensor odd = f32({1, 3, 2}, {6, 0, 3, 0, 8, 8});
  EXPECT_EQ(inverse_of_half(odd).constant(s64({}, {3})).output(), f32({1, 3, 1}, {4, 1, 1}));
  EXPECT_NE(inverse_of_half(half)
                .constant(s64({}, {6}))
                .errors()
                .find("half a spectrum of length 6 has 4 places, the input has 3"),
            std::string::npos);
  EXPECT_NE(inverse_of_half(f32({1, 2, 1}, {1, 2})).errors().find("and of 2 for the inverse"),
            std::string::npos);
}

// Frames [1, 2, 4, 8] and [4, 8, 16, 32] times the window.
TEST(Spectra, OfFrames) {
  const auto frames = [](Shape window_shape) {
    OneOperator node("STFT", 17);
    node.input(f32({1, 7, 1}, {1, 2, 4, 8, 16, 32, 9})).constant(s64({}, {2}));
    node.constant(f32(std::move(window_shape), {1, 1, 2, 1}));
    return node;
  };
  EXPECT_EQ(frames({4}).output(), f32({1, 2, 3, 2}, {19, 0, -7, 6, -1, 0, 76, 0, -28, 24, -4, 0}));
  EXPECT_NE(frames({2, 2}).errors().find("input 2 (window): must be a list"), std::string::npos);
  OneOperator parts("STFT", 17);  // i times the frame, without a window
  parts.input(f32({1, 4, 2}, {0, 1, 0, 2, 0, 4, 0, 8})).constant(s64({}, {1})).omitted();
  parts.constant(s64({}, {4})).attribute("onesided", std::int64_t{0});
  EXPECT_EQ(parts.output(), f32({1, 1, 4, 2}, {0, 15, -6, -3, 0, -5, 6, -3}));
}

}  // namespace
}  // namespace etch
