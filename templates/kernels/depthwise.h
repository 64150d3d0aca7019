// Depthwise convolution by quads of rows: four image rows are interleaved byte by byte, so that
// one dot4 multiplies four vertical taps of a channel at once. A quad that is loaded for output
// row y also serves row y + 1 with the weights shifted by one row (stride 1).
//
// With stride 1 along the row, the row is one flat run of columns * channels bytes; a chunk of
// 4 L bytes may span pixels and the weights repeat after lcm(channels, 4 L) bytes. Otherwise a
// chunk is a piece of one pixel's channels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "templates/kernels/requantize.h"
#include "templates/kernels/tap_function.h"
#include "templates/stage.h"

namespace etch {

// One horizontal tap of one quad of rows: where its four rows lie and which weights it takes.
struct QuadTap {
  std::int64_t x_offset = 0;        // bytes from the chunk's first byte
  std::int64_t row_offset[4] = {};  // bytes from there, one per row (unused rows repeat one)
};

struct DepthwiseRegion {
  std::int64_t x_offset = 0, y_offset = 0;  // bytes to the taps' origin and to output (0, 0)
  int rows = 1;                             // output rows
  int cols = 1;                             // chunk groups per row: pixels, or 1 when flat
  std::int64_t x_row = 0, x_col = 0, y_row = 0, y_col = 0;  // bytes
  int bytes = 0;                    // channels of a pixel, or columns * channels when flat
  int period = 1;                   // chunks after which the weights repeat
  std::vector<QuadTap> taps;        // for one pass; the same for every row of the pass
  int rows_together = 1;            // output rows that share the taps' quads
  std::int64_t bias = 0;            // lanes from the start of "bias" (regions differ in taps)
  std::int64_t weights = 0;         // bytes from the start of "weights" (all rows together)
  std::int64_t weights_single = 0;  // the same for a pass over one row (when rows is odd)
  std::vector<QuadTap> taps_single;
};

struct DepthwisePlan {
  int images = 1;  // batch
  std::int64_t x_image = 0, y_image = 0;
  std::vector<DepthwiseRegion> regions;
  Requantize out;
};

namespace depthwise_detail {

template <class S>
struct ChunkPtrs {
  typename S::template Ptr<const std::uint8_t> x, w;
  typename S::template Ptr<const std::int32_t> bias;
  Factors<S> factors;
  typename S::template Ptr<std::uint8_t> y;
};

// One chunk of `n` bytes in `rows` output rows.
template <class S>
void chunk(S& s, const DepthwisePlan& plan, const DepthwiseRegion& region,
           const std::vector<QuadTap>& taps, int rows, int n, const ChunkPtrs<S>& at) {
  const int lanes = s.isa().lanes;
  const int full = 4 * lanes;
  std::vector<typename S::I32> acc;
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < 4; ++v)
      acc.push_back(s.load_i32(Name("acc").at("r", r).at("v", v), at.bias + v * lanes));
  }
  std::int64_t w = 0;
  for (std::size_t t = 0; t < taps.size(); ++t) {
    const int tap = static_cast<int>(t);
    typename S::Bytes row[4];
    for (int i = 0; i < 4; ++i) {
      int same = 0;
      while (taps[t].row_offset[same] != taps[t].row_offset[i]) ++same;
      if (same < i) {
        row[i] = row[same];
        continue;
      }
      const auto p = at.x + (taps[t].x_offset + taps[t].row_offset[i]);
      const Name name = Name("row").at("t", tap).at("i", i);
      row[i] = n == full || s.isa().lanes > 1 ? s.load_bytes(name, p) : s.load_bytes_n(name, p, n);
    }
    const auto quad = s.interleave4(Name("quad").at("t", tap), row[0], row[1], row[2], row[3]);
    for (int r = 0; r < rows; ++r) {
      for (int v = 0; v < 4; ++v) {
        const auto weights = s.load_w4(Name("w").at("t", tap).at("r", r).at("v", v), at.w + w);
        s.dot4(acc[static_cast<std::size_t>(4 * r + v)], s.part(quad, v), weights);
        w += s.isa().weight_bytes();
      }
    }
  }
  std::vector<PixelPlace> places;
  for (int r = 0; r < rows; ++r) places.push_back({r, 0, r * region.y_row});
  store_tile(s, plan.out, 4, n, places, acc, at.factors, at.y);
}

// Bytes of weights of one chunk.
template <class S>
std::int64_t panel_bytes(const S& s, const std::vector<QuadTap>& taps, int rows) {
  return static_cast<std::int64_t>(taps.size()) * rows * 4 * s.isa().weight_bytes();
}

template <class S>
void row_pass(S& s, const DepthwisePlan& plan, const DepthwiseRegion& region, int rows,
              const typename S::template Ptr<const std::uint8_t>& x,
              const typename S::template Ptr<std::uint8_t>& y, const std::string& prefix) {
  using Index = typename S::Index;
  const bool single = rows < region.rows_together;
  const std::vector<QuadTap>& taps = single ? region.taps_single : region.taps;
  const std::int64_t panel = panel_bytes(s, taps, rows);
  const int full = 4 * s.isa().lanes;
  const int chunks = region.bytes / full;
  const auto w = s.template constant<const std::uint8_t>("weights") +
                 (single ? region.weights_single : region.weights);
  const auto bias = s.template constant<const std::int32_t>("bias") + region.bias;
  const auto one = [&](const Index& at, const Index& phase, int n) {
    const std::string name = prefix + "chunk_" + std::to_string(rows) + "x" + std::to_string(n);
    with_factors(s, plan.out, phase * full, [&](const char* parameter, const auto& p, auto make) {
      tap_function(
          s, name, taps.empty() ? Taps::kNone : Taps::kSome,
          [&](const auto& tx, const auto& tw, const auto& tb, const auto& tf, const auto& ty) {
            chunk<S>(s, plan, region, taps, rows, n, {tx, tw, tb, make(tf), s.base("yt", ty)});
          },
          x + at, w + phase * panel, std::pair{"bias", bias + phase * full},
          std::pair{parameter, p}, std::pair{"y", y + at});
    });
  };
  const int repeats = chunks / region.period;
  s.loop("repeat", repeats, [&](const Index& repeat) {
    s.loop("phase", region.period, [&](const Index& phase) {
      one(repeat * (region.period * full) + phase * full, phase, full);
    });
  });
  const int rest = chunks % region.period;
  s.loop("phase", rest, [&](const Index& phase) {
    one(Index(repeats * region.period * full) + phase * full, phase, full);
  });
  if (region.bytes % full != 0)
    one(Index(chunks * full), Index(chunks % region.period), region.bytes % full);
}

}  // namespace depthwise_detail

template <class S>
void depthwise_kernel(S& s, const DepthwisePlan& plan) {
  using Index = typename S::Index;
  s.loop("image", plan.images, [&](const Index& image) {
    for (std::size_t r = 0; r < plan.regions.size(); ++r) {
      const DepthwiseRegion& region = plan.regions[r];
      const std::string prefix = plan.regions.size() > 1 ? "r" + std::to_string(r) + "_" : "";
      const auto x =
          s.template operand<const std::uint8_t>(0) + image * plan.x_image + Index(region.x_offset);
      const auto y =
          s.template operand<std::uint8_t>(1) + image * plan.y_image + Index(region.y_offset);
      const auto pass = [&](const Index& row, int rows) {
        s.loop("col", region.cols, [&](const Index& col) {
          depthwise_detail::row_pass(s, plan, region, rows,
                                     x + row * region.x_row + col * region.x_col,
                                     y + row * region.y_row + col * region.y_col, prefix);
        });
      };
      s.loop("row", region.rows / region.rows_together,
             [&](const Index& row) { pass(row * region.rows_together, region.rows_together); });
      if (region.rows % region.rows_together != 0) pass(Index(region.rows - 1), 1);
    }
  });
}

}  // namespace etch
