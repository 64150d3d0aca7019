// Depthwise convolution by quads of rows: four image rows are interleaved byte by byte, so that
// one dot4 multiplies four vertical taps of a channel at once. A quad that is loaded for output
// row y also serves row y + 1 with the weights shifted by one row (stride 1).
//
// A row of outputs is one flat run of columns * channels bytes; a chunk of 4 L bytes may span
// pixels and the weights repeat after lcm(channels, 4 L) bytes. With stride 1 its inputs have the
// layout of its outputs; otherwise each tap's inputs are composed from the pieces of its pixels.
// Chunks a whole repetition apart take the same weights, and next to each other share quads as
// well. Where that does not pay, a chunk is a part of one pixel's channels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "templates/kernels/conv/tap_function.h"
#include "templates/kernels/quantize/requantize.h"
#include "templates/stage.h"

namespace etch {

// One horizontal tap of one quad of rows: where its four rows are and which weights it takes.
struct QuadTap {
  std::int64_t x_offset = 0;        // bytes from the chunk's first byte
  std::int64_t row_offset[4] = {};  // bytes from there, one per row (unused rows repeat one)
};

struct DepthwiseRegion {
  std::int64_t x_offset = 0, y_offset = 0;  // bytes to the taps' origin and to output (0, 0)
  int rows = 1;                             // output rows
  int cols = 1;                             // runs per row: pixels, or 1 when flat
  std::int64_t x_row = 0, x_col = 0, y_row = 0, y_col = 0;  // bytes
  int bytes = 0;                    // channels of a pixel, or columns * channels when flat
  int period = 1;                   // chunks after which the weights repeat
  std::int64_t x_period = 0;        // bytes of x from one repetition to the next
  int together = 1;                 // repetitions that are computed at once
  int piece = 0;                    // channels, if chunks are composed of pieces of pixels, or 0
  std::int64_t x_piece = 0;         // then: bytes of x from one pixel's piece to the next
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

// What the code of a chunk depends on.
struct ChunkShape {
  int rows = 1;      // output rows
  int together = 1;  // chunks a repetition apart, with the same weights
  int n = 0;         // bytes of each
  int phase = 0;     // for composed chunks: which one of the period it is
};

// The n bytes of x that belong to one tap: contiguous, or pieces of pixels.
template <class S>
typename S::Bytes load_row(S& s, const DepthwiseRegion& region, const ChunkShape& shape,
                           const Name& name,
                           const typename S::template Ptr<const std::uint8_t>& p) {
  const int lanes = s.isa().lanes;
  const int full = 4 * lanes;
  const int piece = region.piece;
  if (piece == 0) {
    return shape.n == full || lanes > 1 ? s.load_bytes(name, p) : s.load_bytes_n(name, p, shape.n);
  }
  const bool halves = piece == 2 * lanes || piece == lanes || 2 * piece == lanes;
  if (halves && region.x_piece == 2 * piece && shape.n == full) {
    const auto low = s.load_bytes(Name(name).at("low", 0), p);
    const auto high = s.load_bytes(Name(name).at("high", 0), p + full);
    return s.every_second(name, low, high, piece);
  }
  const auto source = [&](int at) { return at / piece * region.x_piece + at % piece; };
  const int first = shape.phase * full;
  auto bytes = s.load_bytes(name, p + source(first));
  int end = std::min(shape.n, piece - first % piece);
  while (end < shape.n) {
    const int n = std::min(shape.n - end, piece);
    s.insert_bytes(bytes, p + source(first + end), end, n);
    end += n;
  }
  return bytes;
}

// The quads of a chunk; taps of neighbours that read the same bytes share one.
template <class S>
class Quads {
 public:
  Quads(S& s, const DepthwiseRegion& region, const ChunkShape& shape,
        const typename S::template Ptr<const std::uint8_t>& x)
      : s_(s), region_(region), shape_(shape), x_(x) {}

  typename S::QuadX at(std::int64_t offset, const QuadTap& tap) {
    const std::vector<std::int64_t> key = {offset + tap.x_offset, tap.row_offset[0],
                                           tap.row_offset[1], tap.row_offset[2], tap.row_offset[3]};
    for (std::size_t q = 0; q < keys_.size(); ++q) {
      if (keys_[q] == key) return quads_[q];
    }
    const int q = static_cast<int>(keys_.size());
    typename S::Bytes row[4];
    for (int i = 0; i < 4; ++i) {
      int same = 0;
      while (tap.row_offset[same] != tap.row_offset[i]) ++same;
      if (same < i) {
        row[i] = row[same];
        continue;
      }
      row[i] = load_row(s_, region_, shape_, Name("row").at("q", q).at("i", i),
                        x_ + (key[0] + tap.row_offset[i]));
    }
    keys_.push_back(key);
    quads_.push_back(s_.interleave4(Name("quad").at("q", q), row[0], row[1], row[2], row[3]));
    return quads_.back();
  }

 private:
  S& s_;
  const DepthwiseRegion& region_;
  const ChunkShape& shape_;
  const typename S::template Ptr<const std::uint8_t>& x_;
  std::vector<std::vector<std::int64_t>> keys_;
  std::vector<typename S::QuadX> quads_;
};

template <class S>
void chunk(S& s, const DepthwisePlan& plan, const DepthwiseRegion& region,
           const std::vector<QuadTap>& taps, const ChunkShape& shape, const ChunkPtrs<S>& at) {
  const int lanes = s.isa().lanes;
  std::vector<typename S::I32> acc;
  std::vector<PixelPlace> places;
  for (int d = 0; d < shape.together; ++d) {
    for (int r = 0; r < shape.rows; ++r) {
      places.push_back({r, d, r * region.y_row + std::int64_t{d} * region.period * 4 * lanes});
      const Name name = Name("acc").at("d", d).at("r", r);
      for (int v = 0; v < 4; ++v)
        acc.push_back(s.load_i32(Name(name).at("v", v), at.bias + v * lanes));
    }
  }
  Quads<S> quads(s, region, shape, at.x);
  std::int64_t w = 0;
  for (std::size_t t = 0; t < taps.size(); ++t) {
    std::vector<typename S::QuadX> quad;
    for (int d = 0; d < shape.together; ++d) quad.push_back(quads.at(d * region.x_period, taps[t]));
    for (int r = 0; r < shape.rows; ++r) {
      for (int v = 0; v < 4; ++v, w += s.isa().weight_bytes()) {
        const Name name = Name("w").at("t", static_cast<int>(t)).at("r", r).at("v", v);
        const auto weights = s.load_w4(name, at.w + w);
        for (int d = 0; d < shape.together; ++d) {
          s.dot4(acc[static_cast<std::size_t>(4 * (d * shape.rows + r) + v)],
                 s.part(quad[static_cast<std::size_t>(d)], v), weights);
        }
      }
    }
  }
  store_tile(s, plan.out, 4, shape.n, places, acc, at.factors, at.y);
}

// Bytes of weights of one chunk.
template <class S>
std::int64_t panel_bytes(const S& s, const std::vector<QuadTap>& taps, int rows) {
  return static_cast<std::int64_t>(taps.size()) * rows * 4 * s.isa().weight_bytes();
}

// One run of chunks in `rows` output rows.
template <class S>
class RowPass {
 public:
  using Index = typename S::Index;
  RowPass(S& s, const DepthwisePlan& plan, const DepthwiseRegion& region, int rows,
          const std::string& prefix)
      : s_(s),
        plan_(plan),
        region_(region),
        prefix_(prefix),
        single_(rows < region.rows_together),
        rows_(rows),
        full_(4 * s.isa().lanes) {}

  void run(const typename S::template Ptr<const std::uint8_t>& x,
           const typename S::template Ptr<std::uint8_t>& y) const {
    const int chunks = region_.bytes / full_;
    const int repeats = chunks / region_.period;
    const int single = repeats % region_.together;
    s_.loop("repeat", repeats / region_.together, [&](const Index& repeat) {
      phases(x, y, repeat * region_.together, region_.period, region_.together);
    });
    s_.loop("repeat", single, [&](const Index& repeat) {
      phases(x, y, repeat + Index(repeats - single), region_.period, 1);
    });
    phases(x, y, Index(repeats), chunks % region_.period, 1);
    if (region_.bytes % full_ == 0) return;
    const int phase = chunks % region_.period;
    one(x, y, Index(repeats), Index(phase), {rows_, 1, region_.bytes % full_, phase});
  }

 private:
  void phases(const typename S::template Ptr<const std::uint8_t>& x,
              const typename S::template Ptr<std::uint8_t>& y, const Index& repeat, int count,
              int together) const {
    if (region_.piece == 0) {
      s_.loop("phase", count, [&](const Index& phase) {
        one(x, y, repeat, phase, {rows_, together, full_, 0});
      });
      return;
    }
    for (int p = 0; p < count; ++p) one(x, y, repeat, Index(p), {rows_, together, full_, p});
  }

  void one(const typename S::template Ptr<const std::uint8_t>& x,
           const typename S::template Ptr<std::uint8_t>& y, const Index& repeat, const Index& phase,
           const ChunkShape& shape) const {
    const std::vector<QuadTap>& taps = single_ ? region_.taps_single : region_.taps;
    const auto w = s_.template constant<const std::uint8_t>("weights") +
                   (single_ ? region_.weights_single : region_.weights);
    const auto bias = s_.template constant<const std::int32_t>("bias") + region_.bias;
    const Index from = region_.piece > 0 ? Index(0) : phase * full_;
    const Index to = repeat * (region_.period * full_) + phase * full_;
    const Index lane = phase * full_;
    with_factors(s_, plan_.out, lane, [&](const char* parameter, const auto& p, auto make) {
      tap_function(
          s_, name(shape), taps.empty() ? Taps::kNone : Taps::kSome,
          [&](const auto& tx, const auto& tw, const auto& tb, const auto& tf, const auto& ty) {
            chunk<S>(s_, plan_, region_, taps, shape, {tx, tw, tb, make(tf), s_.base("yt", ty)});
          },
          x + repeat * region_.x_period + from, w + phase * panel_bytes(s_, taps, rows_),
          std::pair{"bias", bias + lane}, std::pair{parameter, p}, std::pair{"y", y + to});
    });
  }

  std::string name(const ChunkShape& shape) const {
    std::string out = prefix_ + "chunk_" + std::to_string(rows_) + "x" + std::to_string(shape.n);
    if (shape.together > 1) out += "x" + std::to_string(shape.together);
    if (region_.piece > 0) out += "_p" + std::to_string(shape.phase);
    return out;
  }

  S& s_;
  const DepthwisePlan& plan_;
  const DepthwiseRegion& region_;
  const std::string& prefix_;
  bool single_;
  int rows_;
  int full_;
};

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
          depthwise_detail::RowPass<S>(s, plan, region, rows, prefix)
              .run(x + row * region.x_row + col * region.x_col,
                   y + row * region.y_row + col * region.y_col);
        });
      };
      s.loop("row", region.rows / region.rows_together,
             [&](const Index& row) { pass(row * region.rows_together, region.rows_together); });
      if (region.rows % region.rows_together != 0) pass(Index(region.rows - 1), 1);
    }
  });
}

}  // namespace etch
