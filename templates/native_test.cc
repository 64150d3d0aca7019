// The portable verbs against the meanings that verbs.def states, on values small enough to follow.
// The vocabularies of all instruction sets are then compared with them (isa/vocab_test.cc).

#include "templates/native.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

namespace etch {
namespace {

constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

NativeVerbs verbs(int lanes, WeightForm form = WeightForm::kS8x4) {
  IsaTraits isa;
  isa.lanes = lanes;
  isa.weight_form = form;
  return NativeVerbs(isa);
}

std::vector<std::int32_t> lanes_of(const NativeVerbs& s, const NativeVerbs::I32& v) {
  return {v.lane.begin(), v.lane.begin() + s.isa().lanes};
}

std::vector<int> bytes_of(const NativeVerbs& s, const NativeVerbs::Bytes& v) {
  return {v.at.begin(), v.at.begin() + s.isa().byte_lanes()};
}

// Bytes 0, 1, 2, ...
NativeVerbs::Bytes counting(const NativeVerbs& s, int first = 0) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(s.isa().byte_lanes()));
  std::iota(bytes.begin(), bytes.end(), static_cast<std::uint8_t>(first));
  return s.load_bytes("bytes", bytes.data());
}

TEST(NativeVerbs, Dot4AddsFourProductsOfUnsignedAndSigned) {
  const auto s = verbs(2);
  const std::uint8_t x[] = {255, 1, 2, 200};
  alignas(64) const std::int8_t w[] = {-128, 1, 2, 3, 127, 0, 0, -1};
  auto acc = s.splat_i32("acc", 10);
  s.dot4(acc, s.broadcast4("x", x), s.load_w4("w", reinterpret_cast<const std::uint8_t*>(w)));
  EXPECT_EQ(lanes_of(s, acc),
            (std::vector<std::int32_t>{10 - 32640 + 1 + 4 + 600, 10 + 32385 - 200}));
}

TEST(NativeVerbs, SplitWeightsHoldEvenThenOddBytesAsWords) {
  const auto s = verbs(2, WeightForm::kS16EvenOdd);
  const std::uint8_t x[] = {1, 10, 100, 200};
  alignas(64) const std::int16_t w[] = {1, 2, -3, -4, 5, 6, -7, -8};  // k0 k2 k0 k2, k1 k3 k1 k3
  auto acc = s.zero_i32("acc");
  s.dot4(acc, s.broadcast4("x", x), s.load_w4("w", reinterpret_cast<const std::uint8_t*>(w)));
  EXPECT_EQ(lanes_of(s, acc),
            (std::vector<std::int32_t>{1 + 50 + 200 + 1200, -3 - 70 - 400 - 1600}));
}

TEST(NativeVerbs, SumsWrap) {
  const auto s = verbs(1);
  auto acc = s.splat_i32("acc", kMost);
  s.add_i32(acc, s.splat_i32("one", 1));
  EXPECT_EQ(acc.lane[0], kLeast);
}

TEST(NativeVerbs, InLaneOrderTakesFourLanesOfEachVectorInTurn) {
  const auto s = verbs(8);
  const auto wide = s.widen4("wide", counting(s));
  EXPECT_EQ(lanes_of(s, s.part(wide, 0)), (std::vector<std::int32_t>{0, 1, 2, 3, 16, 17, 18, 19}));
  EXPECT_EQ(lanes_of(s, s.part(wide, 3)),
            (std::vector<std::int32_t>{12, 13, 14, 15, 28, 29, 30, 31}));
}

TEST(NativeVerbs, InLaneOrderOfOneLaneIsOneBytePerVector) {
  const auto s = verbs(1);
  const auto wide = s.widen4("wide", counting(s, 5));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(s.part(wide, i).lane[0], 5 + i);
}

TEST(NativeVerbs, Interleave4PutsTheSameByteOfFourRowsIntoALane) {
  const auto s = verbs(8);
  const auto quad =
      s.interleave4("quad", counting(s), counting(s, 50), counting(s, 100), counting(s, 150));
  using Group = std::array<std::uint8_t, 4>;
  EXPECT_EQ(s.part(quad, 0).lane[1], (Group{1, 51, 101, 151}));
  EXPECT_EQ(s.part(quad, 2).lane[5], (Group{25, 75, 125, 175}));
}

TEST(NativeVerbs, Narrow4UndoesWiden4) {
  for (const int lanes : {1, 2, 4, 8, 16}) {
    const auto s = verbs(lanes);
    const auto wide = s.widen4("wide", counting(s, 100));
    const auto back =
        s.narrow4("back", s.part(wide, 0), s.part(wide, 1), s.part(wide, 2), s.part(wide, 3), 0);
    EXPECT_EQ(bytes_of(s, back), bytes_of(s, counting(s, 100))) << lanes;
  }
}

TEST(NativeVerbs, Narrow4SaturatesTo16BitsBeforeItAddsTheZeroPoint) {
  const auto s = verbs(1);
  const auto narrow = [&](std::int32_t v, int zp) {
    const auto x = s.splat_i32("x", v);
    return int{s.narrow4("y", x, x, x, x, zp).at[0]};
  };
  EXPECT_EQ(narrow(-3, 10), 7);
  EXPECT_EQ(narrow(250, 10), 255);
  EXPECT_EQ(narrow(-11, 10), 0);
  EXPECT_EQ(narrow(kMost, 255), 255);
  EXPECT_EQ(narrow(kLeast, 255), 0);
  EXPECT_EQ(narrow(100000, -32600), 167);  // 32767 - 32600
}

TEST(NativeVerbs, Arrange1PutsTheVectorsOneAfterTheOther) {
  const auto s = verbs(8);
  const auto bytes = bytes_of(s, s.arrange1("bytes", counting(s)));
  EXPECT_EQ(bytes,
            (std::vector<int>{0, 1, 2,  3,  16, 17, 18, 19, 4,  5,  6,  7,  20, 21, 22, 23,
                              8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31}));
}

// Packs vectors whose lanes hold their channel's number and expects these in order.
void expect_channel_order(int lanes, int vectors) {
  const auto s = verbs(lanes);
  const int pixels = vectors == 2 ? 2 : 1;
  std::array<NativeVerbs::I32, 4> v{};
  for (int i = 0; i < vectors * pixels; ++i) {
    for (int c = 0; c < lanes; ++c) {
      v[static_cast<std::size_t>(i)].lane[static_cast<std::size_t>(c)] =
          100 * (i / vectors) + channel_of(s.isa(), vectors, i % vectors, c);
    }
  }
  auto bytes = s.narrow4("bytes", v[0], v[1], v[2], v[3], 0);
  if (vectors == 3) bytes = s.arrange3("bytes", bytes);
  if (vectors == 2) bytes = s.arrange2("bytes", bytes);
  for (int i = 0; i < vectors * pixels * lanes; ++i) {
    const int channels = vectors * lanes;
    EXPECT_EQ(bytes.at[static_cast<std::size_t>(i)], 100 * (i / channels) + i % channels)
        << lanes << " lanes, " << vectors << " vectors";
  }
}

TEST(NativeVerbs, ArrangedBytesAreInChannelOrder) {
  for (const int lanes : {1, 4, 8, 16}) {
    for (const int vectors : {2, 3, 4}) expect_channel_order(lanes, vectors);
  }
}

TEST(NativeVerbs, StoresTouchOnlyTheirBytes) {
  const auto s = verbs(4);
  std::vector<std::uint8_t> y(12, 99);
  s.store_slice(y.data() + 1, counting(s), 5, 3);
  s.store_spread(y.data() + 5, counting(s), 3, 2);
  EXPECT_EQ(y, (std::vector<std::uint8_t>{99, 5, 6, 7, 99, 0, 99, 99, 1, 99, 99, 99}));
}

TEST(NativeVerbs, PartialLoadsFillWithZero) {
  const auto s = verbs(1);
  const std::uint8_t bytes[] = {7, 8, 9};
  EXPECT_EQ(bytes_of(s, s.load_bytes_n("v", bytes, 3)), (std::vector<int>{7, 8, 9, 0}));
  EXPECT_EQ(s.load_u8_n("v", nullptr, 0).lane[0], 0);
}

TEST(NativeVerbs, RoundingIsToNearestEven) {
  const auto s = verbs(1);
  const auto rounded = [&](float v) { return s.round_i32("q", s.splat_f32("v", v)).lane[0]; };
  EXPECT_EQ(rounded(0.5F), 0);
  EXPECT_EQ(rounded(1.5F), 2);
  EXPECT_EQ(rounded(-2.5F), -2);
  EXPECT_EQ(rounded(2147483520.0F), 2147483520);
}

TEST(NativeVerbs, TwoMoreRoundingsGoAwayFromAndTowardsZero) {
  const auto s = verbs(1);
  const auto away = [&](float v) { return s.round_away_i32("q", s.splat_f32("v", v)).lane[0]; };
  const auto cut = [&](float v) { return s.trunc_i32("q", s.splat_f32("v", v)).lane[0]; };
  EXPECT_EQ(away(0.5F), 1);
  EXPECT_EQ(away(-2.5F), -3);
  EXPECT_EQ(away(0x1.fffffep-2F), 0);
  EXPECT_EQ(cut(2.9F), 2);
  EXPECT_EQ(cut(-2.9F), -2);
}

TEST(NativeVerbs, ScalingRoundsTheAccumulatorToFloatFirst) {
  const auto s = verbs(1);
  const auto acc = s.splat_i32("acc", 16777217);  // 2^24 + 1 is no float
  EXPECT_EQ(s.scale_round("q", acc, s.splat_f32("s", 1.0F)).lane[0], 16777216);
}

TEST(NativeVerbs, ClampTurnsNanIntoTheLowerLimit) {
  const auto s = verbs(1);
  EXPECT_EQ(s.clamp_f32("v", s.splat_f32("v", kNan), -3.0F, 5.0F).lane[0], -3.0F);
  EXPECT_EQ(s.scale_clamp_round("q", s.splat_i32("acc", kMost), s.splat_f32("s", 8.0F), -3.0F, 5.0F)
                .lane[0],
            5);
}

TEST(NativeVerbs, FmaRoundsOnceAndAProductWithASumTwice) {
  const auto s = verbs(1);
  const auto a = s.splat_f32("a", 1.0F + 0x1p-12F);
  const auto c = s.splat_f32("c", -(1.0F + 0x1p-11F));
  EXPECT_EQ(s.fma_f32("v", a, a, c).lane[0], 0x1p-24F);
  EXPECT_EQ(s.add_f32("v", s.mul_f32("p", a, a), c).lane[0], 0.0F);
}

TEST(NativeVerbsDeathTest, CatchAVectorThatIsNotAligned) {
  const auto s = verbs(4);
  alignas(64) const std::int32_t values[8] = {};
  EXPECT_DEATH(s.load_i32("v", values + 1), "is_aligned");
}

// 2 * 128 * 128 is more than 16 bits hold.
TEST(NativeVerbs, PairsOfTheSmallestWeightDoNotFit) {
  IsaTraits isa;
  isa.lanes = 4;
  EXPECT_TRUE(fits_in_pairs(isa, -128, -128, -128, -128));
  isa.weights_in_pairs = true;
  EXPECT_TRUE(fits_in_pairs(isa, -128, -128, 127, -127));
  EXPECT_FALSE(fits_in_pairs(isa, -128, 0, -128, 0));
  EXPECT_FALSE(fits_in_pairs(isa, 0, -128, 0, -128));
}

// 255 * (64 + 64) is the most that 16 bits hold.
TEST(NativeVerbs, Sums16HoldTwoProducts) {
  EXPECT_TRUE(fits_sums16(64, 64));
  EXPECT_FALSE(fits_sums16(64, 65));
  EXPECT_TRUE(fits_sums16(-64, -64));
  EXPECT_FALSE(fits_sums16(-1, -128));
  EXPECT_TRUE(fits_sums16(0, -128));
  EXPECT_TRUE(fits_sums16(127, -128));
}

TEST(NativeVerbs, Sums16MultiplyBytesOfAnyPlace) {
  const auto s = verbs(4);
  const std::uint8_t x[] = {1, 2, 3, 4, 5, 6};
  const std::int32_t place = 2;
  std::uint8_t at[4];
  std::memcpy(at, &place, sizeof at);
  NativeVerbs::Bytes w;
  w.at = {1, 1, 1, 1, 255, 0, 0, 0};
  auto acc = s.splat_i32("acc", 100);
  s.dot_sums16(acc, s.repeat4_at("x", x, at, 6), w);
  EXPECT_EQ(lanes_of(s, acc), (std::vector<std::int32_t>{118, 97, 100, 100}));
}

TEST(NativeVerbsDeathTest, CatchAPlaceBeyondTheRow) {
  const auto s = verbs(4);
  const std::uint8_t x[8] = {}, at[4] = {5, 0, 0, 0};
  EXPECT_DEATH(s.repeat4_at("x", x, at, 8), "place <= n - 4");
}

TEST(NativeVerbsDeathTest, CatchWeightsThatDoNotFitSums16) {
  const auto s = verbs(4);
  NativeVerbs::Bytes w;
  w.at = {65, 64};
  auto acc = s.splat_i32("acc", 0);
  EXPECT_DEATH(s.dot_sums16(acc, w, w), "fits_sums16");
}

// As a tile of 2 pixels and 2 channels.
TEST(NativeVerbs, SquaresMultiplyTwoRowsByTwo) {
  const auto s = verbs(4);
  NativeVerbs::Bytes w;
  w.at[0] = 1;     // row 0 takes byte 0
  w.at[15] = 255;  // row 1 takes -1 times byte 7
  auto acc = s.splat_i32("acc", 100);
  s.dot_squares(acc, counting(s), w);
  EXPECT_EQ(lanes_of(s, acc), (std::vector<std::int32_t>{100, 93, 108, 85}));
}

}  // namespace
}  // namespace etch
