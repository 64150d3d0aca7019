// Segments along one axis; see regions.h.
#include "compiler/steps/regions.h"

#include <algorithm>

namespace etch {

namespace {
// Taps that output position `o` reads, in kernel order.
std::vector<SegmentTap> taps_at(const ConvAxis& axis, ConvDirection direction, std::int64_t o,
                                std::int64_t low, std::int64_t high) {
  std::vector<SegmentTap> taps;
  for (std::int64_t j = 0; j < axis.kernel; ++j) {
    std::int64_t input = o * axis.stride + j * axis.dilation - axis.pad_begin;
    if (direction == ConvDirection::kTransposed) {
      const std::int64_t scaled = o + axis.pad_begin - j * axis.dilation;
      if (scaled % axis.stride != 0) continue;
      input = scaled / axis.stride;
    }
    if (input >= low && input < high) taps.push_back({static_cast<int>(j), input});
  }
  return taps;
}

// Whether `taps` are `segment`'s, moved on by its next position.
bool continues(const Segment& segment, const std::vector<SegmentTap>& taps) {
  const std::int64_t moved = segment.count * segment.advance;
  return std::equal(taps.begin(), taps.end(), segment.taps.begin(), segment.taps.end(),
                    [&](const SegmentTap& a, const SegmentTap& b) {
                      return a.kernel == b.kernel && a.input == b.input + moved;
                    });
}
}  // namespace

std::vector<Segment> plan_segments(const ConvAxis& axis, ConvDirection direction,
                                   std::int64_t halo_begin, std::int64_t halo_end) {
  const bool forward = direction == ConvDirection::kForward;
  const std::int64_t step = forward ? 1 : axis.stride;
  const std::int64_t advance = forward ? axis.stride : 1;
  std::vector<Segment> out;
  for (std::int64_t phase = 0; phase < std::min(step, axis.out); ++phase) {
    bool open = false;
    for (std::int64_t o = phase; o < axis.out; o += step) {
      std::vector<SegmentTap> taps = taps_at(axis, direction, o, -halo_begin, axis.in + halo_end);
      if (open && continues(out.back(), taps)) {
        ++out.back().count;
        continue;
      }
      out.push_back({o, 1, step, advance, std::move(taps)});
      open = true;
    }
  }
  return out;
}

HaloNeed halo_need(const ConvAxis& axis, ConvDirection direction) {
  if (direction == ConvDirection::kTransposed) {
    const std::int64_t before = (axis.kernel - 1) * axis.dilation - axis.pad_begin;
    const std::int64_t last = (axis.out - 1 + axis.pad_begin) / axis.stride;
    return {std::max<std::int64_t>(0, before) / axis.stride,
            std::max<std::int64_t>(0, last - (axis.in - 1))};
  }
  const std::int64_t last =
      (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation - axis.pad_begin;
  return {axis.pad_begin, std::max<std::int64_t>(0, last - (axis.in - 1))};
}

}  // namespace etch
