// The region planner: splits the output of a convolution or pooling, forward or transposed, into
// rectangles whose pixels all see the same taps, so that kernels never test for a border.
//
// Along one axis a Segment is a run of output positions with a fixed step that read the same
// taps, each advancing by the same number of input positions. Taps that fall outside what can
// be read (the image and its halo) are dropped: padding contributes nothing.
// Forward convolution has one segment where a halo covers the padding, else one per border
// position; transposed convolution has one per residue of the output position modulo the stride.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "compiler/ir/geometry/convolution.h"

namespace etch {

struct SegmentTap {
  int kernel = 0;          // index along the kernel's axis
  std::int64_t input = 0;  // input position read by the segment's first output
  bool operator==(const SegmentTap&) const = default;
};

struct Segment {
  std::int64_t first = 0;  // output position
  std::int64_t count = 0;
  std::int64_t step = 1;     // between output positions
  std::int64_t advance = 1;  // of the input position, per output position
  std::vector<SegmentTap> taps;
};

// Positions [-halo_begin, in + halo_end) are readable. Where there are more than `most` segments,
// only the first most + 1.
std::vector<Segment> plan_segments(const ConvAxis& axis, ConvDirection direction,
                                   std::int64_t halo_begin, std::int64_t halo_end,
                                   std::size_t most = std::numeric_limits<std::size_t>::max() - 1);

// How many segments there are, up to most + 1, and how many taps these have, without making them.
struct SegmentCount {
  std::size_t segments = 0;
  std::int64_t taps = 0;
};
SegmentCount count_segments(const ConvAxis& axis, ConvDirection direction, std::int64_t halo_begin,
                            std::int64_t halo_end, std::size_t most);

// How much halo an axis would need to have no border: a single segment forward, one per residue
// transposed.
struct HaloNeed {
  std::int64_t begin = 0, end = 0;
};
HaloNeed halo_need(const ConvAxis& axis, ConvDirection direction);

}  // namespace etch
