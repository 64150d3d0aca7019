// Depthwise convolution by quads: four rows of bytes are interleaved byte by byte, so that one dot4
// multiplies four taps of a channel at once. As a rule these are vertical; what is left of the
// kernel's rows is taken four taps at a time in any order. A quad that is loaded for output row y
// also serves row y + 1 with the weights shifted by one row (stride 1).
//
// A row of outputs is one flat run of columns * channels values; a chunk of 4 L of them may span
// pixels and the weights repeat after lcm(channels, 4 L). With stride 1 its inputs have the layout
// of its outputs; otherwise each tap's inputs are composed from the pieces of its pixels.
// Transposed, the outputs of one phase of the stride are such a row, whose pixels are stored one by
// one. Chunks a whole repetition apart take the same weights, and next to each other share quads as
// well. Where that does not pay, a chunk is a part of one pixel's channels.
//
// Weights of 9 bits are w = s + d with an int8 s and one d per channel: each quad is multiplied by
// d besides, which is the same vector for all quads with taps in the same of their four places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "templates/kernels/conv/tap_function.h"
#include "templates/kernels/quantize/requantize.h"
#include "templates/stage.h"

namespace etch {

// Four taps at once: where they are and which weights they take.
struct QuadTap {
  // Bytes from the chunk's first byte (unused places repeat another one).
  std::int64_t offset[4] = {};
  bool on_padding[4] = {};  // its weights are not zero, so zeros take the place of x
  int weights = 0;          // which quad of the panel
  int places[2] = {};       // per output row: which of the panel's vectors of d
};

// The weights of all taps of the kernel, for each phase: quads, then vectors of d.
struct DepthwisePanel {
  int rows = 1;    // output rows together
  int quads = 0;   // each with 4 vectors per row
  int shifts = 0;  // 4 vectors each, several per set of places if d takes more than 8 bits
  std::int64_t weights = 0;  // bytes from the start of "weights"
};

struct DepthwiseRegion {
  std::int64_t x_offset = 0, y_offset = 0;         // to the taps' origin and to output (0, 0)
  int planes = 1;                                  // of output rows
  int rows = 1;                                    // output rows
  int cols = 1;                                    // runs per row: pixels, or 1 when flat
  std::int64_t x_plane = 0, x_row = 0, x_col = 0;  // bytes
  std::int64_t y_plane = 0, y_row = 0, y_col = 0;  // elements
  int bytes = 0;                     // channels of a pixel, or columns * channels when flat
  int period = 1;                    // chunks after which the weights repeat
  std::int64_t x_period = 0;         // bytes of x from one repetition to the next
  int together = 1;                  // repetitions that are computed at once
  int piece = 0;                     // channels, if chunks are composed of pieces of pixels, or 0
  std::int64_t x_piece = 0;          // then: bytes of x from one pixel's piece to the next
  int apart = 0;                     // channels, if whole pixels of a chunk are apart in y, or 0
  std::int64_t y_apart = 0;          // then: elements of y from one pixel to the next
  std::int64_t y_period = 0;         // elements of y from one repetition to the next
  std::vector<QuadTap> taps;         // for one pass; the same for every row of the pass
  int rows_together = 1;             // output rows that share the taps' quads
  std::int64_t bias = 0;             // lanes from the start of "bias" (regions differ in taps)
  std::vector<QuadTap> taps_single;  // for a pass over one row (when rows is odd)
};

struct DepthwisePlan {
  int images = 1;  // batch
  std::int64_t x_image = 0, y_image = 0;
  DepthwisePanel single, pair;    // of regions by rows_together
  int parts = 0;                  // of d: int8 vectors that add up to it
  bool start_is_operand = false;  // operand 1 instead of the constant "bias"
  std::uint8_t moved = 0;         // isa.moved, if products take it from every x
  std::vector<DepthwiseRegion> regions;
  Requantize out;
};

namespace depthwise_detail {

template <class S, class Out>
struct ChunkPtrs {
  typename S::template Ptr<const std::uint8_t> x, w;
  typename S::template Ptr<const std::int32_t> bias;
  Factors<S> factors;
  typename S::template Ptr<Out> y;
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
        const typename S::template Ptr<const std::uint8_t>& x, int zero)
      : s_(s), region_(region), shape_(shape), x_(x), zero_(zero) {}

  // `moved`: bytes from the first chunk.
  typename S::QuadX at(std::int64_t moved, const QuadTap& tap) {
    Key key;
    for (int i = 0; i < 4; ++i) key.push_back(tap.on_padding[i] ? kZeros : moved + tap.offset[i]);
    for (std::size_t q = 0; q < keys_.size(); ++q) {
      if (keys_[q] == key) return quads_[q];
    }
    const int q = static_cast<int>(keys_.size());
    typename S::Bytes row[4];
    for (int i = 0; i < 4; ++i) {
      const auto place = static_cast<std::size_t>(i);
      int same = 0;
      while (key[static_cast<std::size_t>(same)] != key[place]) ++same;
      const Name name = Name("row").at("q", q).at("i", i);
      if (same < i) {
        row[i] = row[same];
      } else {
        row[i] = key[place] == kZeros ? s_.splat_bytes(name, zero_)
                                      : load_row(s_, region_, shape_, name, x_ + key[place]);
      }
    }
    keys_.push_back(key);
    quads_.push_back(s_.interleave4(Name("quad").at("q", q), row[0], row[1], row[2], row[3]));
    return quads_.back();
  }

 private:
  using Key = std::vector<std::int64_t>;
  static constexpr std::int64_t kZeros = std::numeric_limits<std::int64_t>::min();

  S& s_;
  const DepthwiseRegion& region_;
  const ChunkShape& shape_;
  const typename S::template Ptr<const std::uint8_t>& x_;
  int zero_;  // the byte of which products are 0
  std::vector<Key> keys_;
  std::vector<typename S::QuadX> quads_;
};

// Bytes of weights of one chunk.
template <class S>
std::int64_t panel_bytes(const S& s, const DepthwisePanel& panel) {
  return (std::int64_t{panel.quads} * panel.rows + panel.shifts) * 4 * s.isa().weight_bytes();
}

// The products and sums of one chunk.
template <class S, class Out>
class Chunk {
 public:
  Chunk(S& s, const DepthwisePlan& plan, const DepthwisePanel& panel, const DepthwiseRegion& region,
        const ChunkShape& shape, const ChunkPtrs<S, Out>& at)
      : s_(s), plan_(plan), panel_(panel), region_(region), shape_(shape), at_(at) {}

  void run(const std::vector<QuadTap>& taps) {
    start();
    Quads<S> quads(s_, region_, shape_, at_.x, plan_.moved);
    for (std::size_t t = 0; t < taps.size(); ++t) {
      quad_.clear();
      for (int d = 0; d < shape_.together; ++d)
        quad_.push_back(quads.at(d * region_.x_period, taps[t]));
      for (int r = 0; r < shape_.rows; ++r) row(static_cast<int>(t), taps[t], r);
    }
    store();
  }

 private:
  using W4 = typename S::W4;

  void start() {
    const int lanes = s_.isa().lanes;
    for (int d = 0; d < shape_.together; ++d) {
      for (int r = 0; r < shape_.rows; ++r) {
        places_.push_back(
            {r, d, r * region_.y_row + d * region_.y_period, 0, region_.apart, region_.y_apart});
        const Name name = Name("acc").at("d", d).at("r", r);
        for (int v = 0; v < 4; ++v)
          acc_.push_back(s_.load_i32(Name(name).at("v", v), at_.bias + v * lanes));
      }
    }
  }

  // The products of one quad that belong to output row r.
  void row(int t, const QuadTap& tap, int r) {
    const std::int64_t vector = std::int64_t{4} * (tap.weights * panel_.rows + r);
    for (int v = 0; v < 4; ++v) {
      const Name name = Name("w").at("t", t).at("r", r).at("v", v);
      add(r, v, load(name, at_.w + (vector + v) * s_.isa().weight_bytes()));
    }
    for (int part = 0; part < plan_.parts; ++part) {
      for (int v = 0; v < 4; ++v) add(r, v, shift(tap.places[r] * plan_.parts + part, v));
    }
  }

  W4 load(const Name& name, const typename S::template Ptr<const std::uint8_t>& from) {
    return plan_.moved == 0 ? s_.load_w4(name, from) : s_.load_moved_w4(name, from);
  }

  void add(int r, int v, const W4& weights) {
    for (int d = 0; d < shape_.together; ++d) {
      const int at = 4 * (d * shape_.rows + r) + v;
      auto& acc = acc_[static_cast<std::size_t>(at)];
      const auto x = s_.part(quad_[static_cast<std::size_t>(d)], v);
      if (plan_.moved == 0) {
        s_.dot4(acc, x, weights);
      } else {
        s_.dot4_moved(acc, x, weights);
      }
    }
  }

  // Vector v of one of the panel's vectors of d, loaded where it is first used.
  W4 shift(int which, int v) {
    const auto [it, inserted] = shifts_.try_emplace(4 * which + v);
    if (inserted) {
      const std::int64_t vector = std::int64_t{4} * (panel_.quads * panel_.rows + which) + v;
      it->second =
          load(Name("d").at("n", which).at("v", v), at_.w + vector * s_.isa().weight_bytes());
    }
    return it->second;
  }

  void store() {
    if constexpr (std::is_same_v<Out, std::int32_t>) {
      for (std::size_t p = 0; p < places_.size(); ++p) {
        const auto quad = s_.natural4(Name("sums").at("p", static_cast<int>(p)), acc_[4 * p],
                                      acc_[4 * p + 1], acc_[4 * p + 2], acc_[4 * p + 3]);
        for (int v = 0; v < 4; ++v) acc_[4 * p + static_cast<std::size_t>(v)] = s_.part(quad, v);
      }
    }
    store_tile(s_, plan_.out, 4, shape_.n, places_, acc_, at_.factors, at_.y);
  }

  S& s_;
  const DepthwisePlan& plan_;
  const DepthwisePanel& panel_;
  const DepthwiseRegion& region_;
  const ChunkShape& shape_;
  const ChunkPtrs<S, Out>& at_;
  std::vector<typename S::I32> acc_;  // [repetition][row][vector]
  std::vector<PixelPlace> places_;
  std::vector<typename S::QuadX> quad_;  // the current one of each repetition
  std::map<int, W4> shifts_;
};

// One run of chunks in `rows` output rows.
template <class S, class Out>
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
           const typename S::template Ptr<Out>& y) const {
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
              const typename S::template Ptr<Out>& y, const Index& repeat, int count,
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
           const typename S::template Ptr<Out>& y, const Index& repeat, const Index& phase,
           const ChunkShape& shape) const {
    const std::vector<QuadTap>& taps = single_ ? region_.taps_single : region_.taps;
    const DepthwisePanel& panel = region_.rows_together == 1 ? plan_.single : plan_.pair;
    const auto w = s_.template constant<const std::uint8_t>("weights") + panel.weights +
                   phase * panel_bytes(s_, panel);
    const auto start = plan_.start_is_operand ? s_.template operand<const std::int32_t>(1)
                                              : s_.template constant<const std::int32_t>("bias");
    const Index from = region_.piece > 0 ? Index(0) : phase * full_;
    const Index to = repeat * region_.y_period + phase * full_;
    const Index lane = phase * full_;
    const auto px = x + repeat * region_.x_period + from;
    const std::pair bias{"bias", start + lane + Index(region_.bias)};
    const auto kind = taps.empty() ? Taps::kNone : Taps::kSome;
    const auto body = [&](const auto& tx, const auto& tw, const auto& tb, const Factors<S>& tf,
                          const auto& ty) {
      const ChunkPtrs<S, Out> at{tx, tw, tb, tf, s_.base("yt", ty)};
      Chunk<S, Out>(s_, plan_, panel, region_, shape, at).run(taps);
    };
    if constexpr (std::is_same_v<Out, std::int32_t>) {
      tap_function(
          s_, name(shape), kind,
          [&](const auto& tx, const auto& tw, const auto& tb, const auto& ty) {
            body(tx, tw, tb, Factors<S>{}, ty);
          },
          px, w, bias, std::pair{"y", y + to});
    } else {
      with_factors(s_, plan_.out, lane, [&](const char* parameter, const auto& p, auto make) {
        tap_function(
            s_, name(shape), kind,
            [&](const auto& tx, const auto& tw, const auto& tb, const auto& tf, const auto& ty) {
              body(tx, tw, tb, make(tf), ty);
            },
            px, w, bias, std::pair{parameter, p}, std::pair{"y", y + to});
      });
    }
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

// All pixels of one region of one plane.
template <class S, class Out>
void region_pass(S& s, const DepthwisePlan& plan, const DepthwiseRegion& region,
                 const std::string& prefix, const typename S::template Ptr<const std::uint8_t>& x,
                 const typename S::template Ptr<Out>& y) {
  using Index = typename S::Index;
  const auto pass = [&](const Index& row, int rows) {
    s.loop("col", region.cols, [&](const Index& col) {
      RowPass<S, Out>(s, plan, region, rows, prefix)
          .run(x + row * region.x_row + col * region.x_col,
               y + row * region.y_row + col * region.y_col);
    });
  };
  s.loop("row", region.rows / region.rows_together,
         [&](const Index& row) { pass(row * region.rows_together, region.rows_together); });
  if (region.rows % region.rows_together != 0) pass(Index(region.rows - 1), 1);
}

template <class S, class Out>
void kernel(S& s, const DepthwisePlan& plan) {
  using Index = typename S::Index;
  s.loop("image", plan.images, [&](const Index& image) {
    for (std::size_t r = 0; r < plan.regions.size(); ++r) {
      const DepthwiseRegion& region = plan.regions[r];
      const std::string prefix = plan.regions.size() > 1 ? "r" + std::to_string(r) + "_" : "";
      s.loop("plane", region.planes, [&](const Index& plane) {
        const auto x = s.template operand<const std::uint8_t>(0) + image * plan.x_image +
                       Index(region.x_offset) + plane * region.x_plane;
        const auto y = s.template operand<Out>(plan.start_is_operand ? 2 : 1) +
                       image * plan.y_image + Index(region.y_offset) + plane * region.y_plane;
        region_pass<S, Out>(s, plan, region, prefix, x, y);
      });
    }
  });
}

}  // namespace depthwise_detail

// Operands: x, the start of all lanes if it is one, y.
template <class S>
void depthwise_kernel(S& s, const DepthwisePlan& plan) {
  if (plan.out.kind == Requantize::Kind::kInt32) {
    depthwise_detail::kernel<S, std::int32_t>(s, plan);
  } else {
    depthwise_detail::kernel<S, std::uint8_t>(s, plan);
  }
}

}  // namespace etch
