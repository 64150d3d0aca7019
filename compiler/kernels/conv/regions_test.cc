// The region planner over all small axes, against the definition of ConvAxis.
#include "compiler/kernels/conv/regions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

namespace etch {
namespace {

constexpr ConvDirection kDirections[] = {ConvDirection::kForward, ConvDirection::kTransposed};

std::vector<ConvAxis> small_axes(ConvDirection direction) {
  std::vector<ConvAxis> out;
  for (int in = 1; in <= 5; ++in) {
    for (int kernel = 1; kernel <= 4; ++kernel) {
      for (int stride = 1; stride <= 3; ++stride) {
        for (int dilation = 1; dilation <= 2; ++dilation) {
          for (int pad = 0; pad < 9; ++pad) {
            ConvAxis axis{in, kernel, stride, dilation, pad % 3, pad / 3, 0};
            const std::int64_t reach = (axis.kernel - 1) * axis.dilation + 1;
            const std::int64_t pads = axis.pad_begin + axis.pad_end;
            axis.out = direction == ConvDirection::kForward
                           ? (axis.in + pads - reach) / axis.stride + 1
                           : (axis.in - 1) * axis.stride + reach - pads;
            const bool exists = axis.in + pads >= reach || direction != ConvDirection::kForward;
            if (exists && axis.out > 0) out.push_back(axis);
          }
        }
      }
    }
  }
  return out;
}

std::string text_of(const ConvAxis& a) {
  return "in " + std::to_string(a.in) + " kernel " + std::to_string(a.kernel) + " stride " +
         std::to_string(a.stride) + " dilation " + std::to_string(a.dilation) + " pads " +
         std::to_string(a.pad_begin) + " " + std::to_string(a.pad_end);
}

// Whether tap `j` connects input `i` with output `o`.
bool connects(const ConvAxis& a, ConvDirection direction, std::int64_t i, std::int64_t j,
              std::int64_t o) {
  if (direction == ConvDirection::kForward) {
    return i == o * a.stride + j * a.dilation - a.pad_begin;
  }
  return o == i * a.stride + j * a.dilation - a.pad_begin;
}

// The taps of output `o`, from the definition: all inputs in [low, high) against all taps.
std::vector<SegmentTap> defined_taps(const ConvAxis& axis, ConvDirection direction, std::int64_t o,
                                     std::int64_t low, std::int64_t high) {
  std::vector<SegmentTap> out;
  for (int j = 0; j < axis.kernel; ++j) {
    for (std::int64_t i = low; i < high; ++i) {
      if (connects(axis, direction, i, j, o)) out.push_back({j, i});
    }
  }
  return out;
}

TEST(Regions, CoverEveryOutputOnceWithTheTapsOfItsDefinition) {
  for (const ConvDirection direction : kDirections) {
    for (const ConvAxis& axis : small_axes(direction)) {
      for (const std::int64_t halo : {0, 1, 4}) {
        std::vector<int> seen(static_cast<std::size_t>(axis.out), 0);
        for (const Segment& segment : plan_segments(axis, direction, halo, halo)) {
          for (std::int64_t p = 0; p < segment.count; ++p) {
            const std::int64_t o = segment.first + p * segment.step;
            ++seen.at(static_cast<std::size_t>(o));
            std::vector<SegmentTap> taps = segment.taps;
            for (SegmentTap& tap : taps) tap.input += p * segment.advance;
            EXPECT_EQ(taps, defined_taps(axis, direction, o, -halo, axis.in + halo))
                << text_of(axis) << " output " << o;
          }
        }
        EXPECT_EQ(seen, std::vector<int>(seen.size(), 1)) << text_of(axis);
      }
    }
  }
}

TEST(Regions, AreCountedAsTheyArePlannedAndCutShort) {
  for (const ConvDirection direction : kDirections) {
    for (const ConvAxis& axis : small_axes(direction)) {
      const auto segments = plan_segments(axis, direction, 0, 0);
      std::int64_t taps = 0;
      for (const Segment& segment : segments) taps += std::ssize(segment.taps);
      const SegmentCount count = count_segments(axis, direction, 0, 0, 1000);
      EXPECT_EQ(count.segments, segments.size()) << text_of(axis);
      EXPECT_EQ(count.taps, taps) << text_of(axis);
      const std::size_t cut = std::min<std::size_t>(segments.size(), 3);
      EXPECT_EQ(count_segments(axis, direction, 0, 0, 2).segments, cut) << text_of(axis);
      EXPECT_EQ(plan_segments(axis, direction, 0, 0, 2).size(), cut) << text_of(axis);
    }
  }
}

// In less time than a loop over positions and taps would take.
TEST(Regions, OfHugeAxesAndKernelsAreFoundSoon) {
  const std::int64_t big = std::int64_t{1} << 25;
  EXPECT_EQ(
      count_segments({big, big / 2, 1, 1, 0, 0, big / 2 + 1}, ConvDirection::kForward, 0, 0, 9)
          .segments,
      1U);
  EXPECT_EQ(count_segments({big, big / 2, 1, 1, big / 2, big / 2, big + big / 2 + 1},
                           ConvDirection::kForward, 0, 0, 9)
                .segments,
            10U);
  // Three positions: before, at and after the one input.
  const ConvAxis padded{1, 1, 1, 1, big, big, 2 * big + 1};
  const auto segments = plan_segments(padded, ConvDirection::kForward, 0, 0);
  ASSERT_EQ(segments.size(), 3U);
  EXPECT_EQ(segments[0].count, big);
  EXPECT_EQ(segments[2].first, big + 1);
  // One input, spread over a kernel, with a stride that plays no part.
  const ConvAxis spread{1, big, std::int64_t{1} << 30, 1, 0, 0, big};
  EXPECT_EQ(count_segments(spread, ConvDirection::kTransposed, 0, 0, 9).segments, 10U);
}

TEST(Regions, AreOnePerResidueWhereTheHaloIsAsLargeAsNeeded) {
  for (const ConvDirection direction : kDirections) {
    for (const ConvAxis& axis : small_axes(direction)) {
      const HaloNeed need = halo_need(axis, direction);
      const auto segments = plan_segments(axis, direction, need.begin, need.end);
      const std::int64_t residues =
          direction == ConvDirection::kForward ? 1 : std::min(axis.stride, axis.out);
      EXPECT_EQ(segments.size(), static_cast<std::size_t>(residues)) << text_of(axis);
    }
  }
}

}  // namespace

void PrintTo(const SegmentTap& tap, std::ostream* out) {
  *out << "tap " << tap.kernel << " at " << tap.input;
}

}  // namespace etch
