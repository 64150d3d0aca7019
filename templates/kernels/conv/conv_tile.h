// One tile of a convolution (conv.h): its registers, products and epilogue.
// How a step of the K loop multiplies depends on the form of the tile's block of channels
// (conv_plan.h): by broadcast groups, by groups of one register, or in squares.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "templates/external/ops.h"
#include "templates/kernels/conv/conv_plan.h"
#include "templates/kernels/conv/half_vectors.h"
#include "templates/kernels/conv/lane_tile.h"
#include "templates/kernels/conv/tap_grid.h"
#include "templates/kernels/quantize/requantize.h"
#include "templates/stage.h"

namespace etch {

namespace conv_detail {

constexpr int kLineBytes = 64;  // of a cache
constexpr int kLaneGroups = 4;  // groups of 4 bytes in a load of kLanes

template <class S>
struct TilePtrs {
  typename S::template Ptr<const std::uint8_t> x, w, ahead;
  typename S::template Ptr<const std::int32_t> terms, bias;
  Factors<S> factors;
  Residual<S> residual;
};

// The body of one tile: registers, products, epilogue.
template <class S, class Out>
class Tile {
 public:
  Tile(S& s, const ConvPlan& plan, const ConvRegion& region, const ChannelBlock& block, int rows,
       int cols, const TilePattern& pattern)
      : s_(s),
        plan_(plan),
        region_(region),
        block_(block),
        rows_(rows),
        cols_(cols),
        pairs_(block.form == BlockForm::kPairs),
        units_(pairs_ ? (cols + 1) / 2 : cols),
        step_(block.form == BlockForm::kSplit || block.form == BlockForm::kSquares ? 8 : 4),
        pattern_(pattern),
        squares_(s, block.vectors, rows * cols) {}

  // `lines`: how many of 64 bytes every iteration over K prefetches from in.ahead on.
  void run(const TilePtrs<S>& in, const typename S::template Ptr<Out>& y, int lines) {
    lines_ = lines;
    if (block_.form == BlockForm::kSquares) {
      using Ptr = typename S::template Ptr<const std::int32_t>;
      const bool has_terms = plan_.operands.row_terms >= 0;
      squares_.start(in.bias, pattern_.bias,
                     has_terms ? std::optional<Ptr>(in.terms) : std::nullopt);
    } else {
      start(in);
    }
    for (std::size_t r = 0; r < pattern_.runs.size(); ++r) {
      products(in, pattern_.runs[r], static_cast<int>(r));
    }
    if (region_.rest > 0) rest_of_weights(in);
    if (is_half(block_.form)) {
      store_halves(in, y);
      return;
    }
    if (block_.form == BlockForm::kSquares) acc_ = squares_.sums();
    store_tile(s_, plan_.out, block_.vectors, block_.channels, pixels(), acc_, in.factors, y,
               in.residual);
  }

 private:
  using Index = typename S::Index;

  bool straight_line() const { return region_.groups(block_.form) <= plan_.straight_line; }

  void store_halves(const TilePtrs<S>& in, const typename S::template Ptr<Out>& y) {
    if constexpr (std::is_same_v<Out, std::uint8_t>) {
      if (!pairs_) acc_ = half_vectors::add_halves(s_, acc_);
      half_vectors::store(s_, plan_.out, block_.channels,
                          half_vectors::slots(pixels(), pairs_ ? cols_ : 0), acc_, in.factors, y,
                          in.residual);
    }
  }

  std::int64_t group_bytes() const { return block_.step_bytes(s_.isa().weight_bytes()); }

  std::vector<PixelPlace> pixels() const {
    std::vector<PixelPlace> out;
    for (int r = 0; r < rows_; ++r) {
      for (int c = 0; c < cols_; ++c) {
        out.push_back(
            {r, c, r * region_.y_row + c * region_.y_col, r * region_.r_row + c * region_.r_col});
      }
    }
    return out;
  }

  void start(const TilePtrs<S>& in) {
    acc_.clear();
    for (int p = 0; p < rows_ * units_; ++p) {
      for (int v = 0; v < block_.vectors; ++v) {
        const std::int64_t lane =
            pattern_.bias[static_cast<std::size_t>(p)] + std::int64_t{v} * s_.isa().lanes;
        acc_.push_back(s_.load_i32(Name("acc").at("p", p).at("v", v), in.bias + Index(lane)));
      }
      if (plan_.operands.row_terms < 0) continue;
      const auto term = s_.load_i32(Name("term").at("p", p), in.terms + Index(p * s_.isa().lanes));
      for (int v = 0; v < block_.vectors; ++v) s_.add_i32(acc(p, v), term);
    }
  }

  // All products of one run; loops where the tile would grow too long.
  void products(const TilePtrs<S>& in, const TileRun& tile_run, int r) {
    const KRun& run = tile_run.k;
    const std::int64_t w_offset = tile_run.weights * group_bytes();
    const std::int64_t w_step = tile_run.weights_step * group_bytes();
    choose_pixels(tile_run.pixels);
    if (straight_line()) {
      for (int k = 0; k < run.repeat; ++k) {
        s_.block([&] {
          if (run.repeat > 1 || pattern_.runs.size() > 1) tap_comment(r, k);
          row_of_taps(reads_again(r) ? afresh(in) : in, Index(run.x_offset + k * run.repeat_step),
                      Index(w_offset + k * w_step), run);
        });
      }
      return;
    }
    const auto tap_row = [&](const Index& k) {
      row_of_taps(in, Index(run.x_offset) + k * run.repeat_step, Index(w_offset) + k * w_step, run);
    };
    if (run.repeat > 1) {
      s_.loop("tap_row", run.repeat, tap_row);
    } else {  // without a loop, the names of several runs need scopes of their own
      s_.block([&] { tap_row(Index(0)); });
    }
  }

  // Groups whose weights do not fit dot_sums16, in two parts: the second ones.
  void rest_of_weights(const TilePtrs<S>& in) {
    const std::int64_t first = region_.panel_groups(block_.form) * group_bytes();
    const std::int64_t places = first + region_.rest * group_bytes();
    s_.comment("second parts of weights, and the places of their bytes in x");
    s_.loop("rest", region_.rest, [&](const Index& r) {
      std::vector<typename S::Bytes> pixels;
      for (int p = 0; p < rows_ * units_; ++p) {
        pixels.push_back(s_.repeat4_at(Name("r").at("p", p), in.x + place_of(p),
                                       in.w + Index(places) + r * 4, region_.reach));
      }
      multiply_sums16(in, Index(first) + r * group_bytes(), 0, pixels);
    });
  }

  // One dot_sums16 per pixel and vector.
  void multiply_sums16(const TilePtrs<S>& in, const Index& w, int u,
                       const std::vector<typename S::Bytes>& pixels) {
    for (int v = 0; v < block_.vectors; ++v) {
      const auto from = in.w + w + Index(v * block_.vector_bytes(s_.isa().weight_bytes()));
      const auto weights = s_.load_bytes(Name("w").at("k", u).at("v", v), from);
      for (std::size_t p = 0; p < pixels.size(); ++p)
        s_.dot_sums16(acc(static_cast<int>(p), v), pixels[p], weights);
    }
  }

  // Whether an earlier run has read the same x, for other parts of the weights.
  bool reads_again(int r) const {
    const auto runs = pattern_.runs.begin();
    return std::any_of(runs, runs + r, [&](const TileRun& earlier) {
      return earlier.k.x_offset == runs[r].k.x_offset;
    });
  }

  // From a pointer of its own, or compilers keep all of x in registers, and most of these in
  // memory.
  TilePtrs<S> afresh(TilePtrs<S> in) {
    in.x = s_.base("xr", in.x);
    return in;
  }

  void choose_pixels(const PixelRect& rect) {
    pixels_.clear();
    for (int p = 0; p < rows_ * units_; ++p) {
      if (rect.has(p / units_, p % units_)) pixels_.push_back(p);
    }
  }

  void tap_comment(int r, int k) {
    s_.comment("taps: run " + std::to_string(r) + ", row " + std::to_string(k));
  }

  void row_of_taps(const TilePtrs<S>& in, const Index& x, const Index& w, const KRun& run) {
    const int groups = run.groups;
    const int unroll = straight_line() ? groups : std::min(groups, plan_.unroll);
    const bool half = block_.form == BlockForm::kSquares && run.bytes > 0 &&
                      run.bytes <= step_ * groups - step_ / 2;  // the last step, of 4 bytes
    const int full = (half ? groups - 1 : groups) / unroll;
    s_.loop("k", full, [&](const Index& k) {
      const Index at = w + k * (unroll * group_bytes());
      for (int u = 0; u < unroll; ++u) {
        step(in, x + k * (step_ * unroll), at, {u, unroll - u, u % kLaneGroups, false});
        if (u < lines_) prefetch(in, at, u);
      }
      for (int line = unroll; line < lines_; ++line) prefetch(in, at, line);
    });
    const int first = full * unroll;
    if (first == groups) return;
    s_.block([&] {
      for (int u = first; u < groups; ++u)
        step(in, x, w, {u, groups - u, (u - first) % kLaneGroups, half && u == groups - 1});
    });
  }

  struct Step {
    int u = 0;     // its number in the loop's body
    int left = 1;  // steps to the body's end
    int lane = 0;  // group of a register of kLanes
    bool half = false;
  };

  void step(const TilePtrs<S>& in, const Index& x, const Index& w, const Step& at) {
    const Index here = x + Index(step_ * at.u);
    const Index weights = w + Index(at.u * group_bytes());
    if (block_.form == BlockForm::kLanes) {
      if (at.lane == 0) load_lanes(in, here, at.u, std::min(kLaneGroups, at.left));
      lane_group(in, weights, at.u, at.lane);
    } else if (block_.form == BlockForm::kSquares) {
      square_step(in, here, weights, at.u, at.half ? 4 : 8);
    } else {
      one_group(in, here, weights, at.u);
    }
  }

  // One dot4 per pixel and vector. The smaller side stays in registers, the other one streams.
  void one_group(const TilePtrs<S>& in, const Index& x, const Index& w, int u) {
    if (block_.form == BlockForm::kSums16) {
      std::vector<typename S::Bytes> pixels;
      for (const int p : pixels_)
        pixels.push_back(s_.repeat4(Name("x").at("k", u).at("p", p), in.x + x + place_of(p)));
      multiply_sums16(in, w, u, pixels);
      return;
    }
    if (block_.vectors < static_cast<int>(pixels_.size())) {
      std::vector<typename S::W4> weights;
      weights.reserve(static_cast<std::size_t>(block_.vectors));
      for (int v = 0; v < block_.vectors; ++v) weights.push_back(load_weights(in, w, u, v));
      for (const int p : pixels_) {
        const auto pixel = load_pixel(in, x, u, p);
        for (int v = 0; v < block_.vectors; ++v)
          s_.dot4(acc(p, v), pixel, weights[static_cast<std::size_t>(v)]);
      }
      return;
    }
    std::vector<typename S::X4> pixels;
    for (const int p : pixels_) pixels.push_back(load_pixel(in, x, u, p));
    for (int v = 0; v < block_.vectors; ++v) {
      const auto weights = load_weights(in, w, u, v);
      for (std::size_t i = 0; i < pixels_.size(); ++i)
        s_.dot4(acc(pixels_[i], v), pixels[i], weights);
    }
  }

  // Up to 16 bytes of every pixel, from step u of the loop on.
  void load_lanes(const TilePtrs<S>& in, const Index& x, int u, int groups) {
    lanes_.clear();
    for (const int p : pixels_) {
      const Name name = Name("x").at("k", u).at("p", p);
      lanes_.push_back(lane_tile::load(s_, name, in.x + x + place_of(p), groups));
    }
  }

  // One dot4_lane per pixel and vector, with a group of what load_lanes() left. Weights of two
  // vectors are loaded one after the other: g++ makes one instruction of that.
  void lane_group(const TilePtrs<S>& in, const Index& w, int u, int group) {
    for (int first = 0; first < block_.vectors; first += 2) {
      std::vector<typename S::W4> weights;
      for (int v = first; v < std::min(first + 2, block_.vectors); ++v) {
        weights.push_back(s_.load_moved_w4(Name("w").at("k", u).at("v", v),
                                           in.w + w + Index(v * s_.isa().weight_bytes())));
      }
      for (std::size_t v = 0; v < weights.size(); ++v) {
        for (std::size_t i = 0; i < pixels_.size(); ++i)
          s_.dot4_lane(acc(pixels_[i], first + static_cast<int>(v)), lanes_[i], group, weights[v]);
      }
    }
  }

  // One dot_squares per two pixels and two channels. The last step of a run may have half the
  // bytes.
  void square_step(const TilePtrs<S>& in, const Index& x, const Index& w, int u, int bytes) {
    std::vector<std::optional<typename S::Bytes>> pairs;
    for (int pair = 0; pair < squares_.pairs(); ++pair) {
      const auto pixel = [&](int p) -> std::optional<typename S::template Ptr<const std::uint8_t>> {
        if (std::find(pixels_.begin(), pixels_.end(), p) == pixels_.end()) return std::nullopt;
        return in.x + x + place_of(p);
      };
      pairs.push_back(lane_tile::load_pair(s_, Name("x").at("k", u).at("p", 2 * pair),
                                           pixel(2 * pair), pixel(2 * pair + 1), bytes));
    }
    for (int v = 0; v < 2 * block_.vectors; v += 2) {
      const auto load = [&](int i) {
        return s_.load_bytes(Name("w").at("k", u).at("v", i),
                             in.w + w + Index(i * s_.isa().weight_bytes()));
      };
      const auto weights = load(v);  // two one after the other, as in lane_group()
      const auto next = load(v + 1);
      squares_.multiply(v, pairs, weights);
      squares_.multiply(v + 1, pairs, next);
    }
  }

  // Bytes from the tile's first pixel to another one.
  Index place_of(int p) const {
    const int col = p % units_ * (pairs_ ? 2 : 1);
    return Index((p / units_) * region_.x_row + col * region_.x_col);
  }

  // The weights of the next block are one panel after those that are in use. After the last block
  // come the constants of the steps that follow.
  void prefetch(const TilePtrs<S>& in, const Index& w, int line) {
    const auto panel = static_cast<int>(region_.panel_bytes(block_, s_.isa().weight_bytes()));
    s_.call(external::Prefetch{}, in.ahead, in.w, in.w + w, panel + line * kLineBytes);
  }

  auto load_weights(const TilePtrs<S>& in, const Index& w, int u, int v) {
    const Name name = Name("w").at("k", u).at("v", v);
    const auto from = in.w + w + Index(v * block_.vector_bytes(s_.isa().weight_bytes()));
    return block_.form == BlockForm::kBytes ? s_.load_byte_w4(name, from) : s_.load_w4(name, from);
  }
  auto load_pixel(const TilePtrs<S>& in, const Index& x, int u, int p) {
    const auto from = in.x + x + place_of(p);
    const Name name = Name("x").at("k", u).at("p", p);
    return is_half(block_.form) ? s_.broadcast8(name, from) : s_.broadcast4(name, from);
  }
  typename S::I32& acc(int p, int v) {
    const int at = p * block_.vectors + v;
    return acc_[static_cast<std::size_t>(at)];
  }

  S& s_;
  const ConvPlan& plan_;
  const ConvRegion& region_;
  const ChannelBlock& block_;
  int rows_, cols_;
  bool pairs_;
  int units_;  // accumulators per row of the tile and vector
  int step_;   // bytes of x from one step of the K loop to the next
  const TilePattern& pattern_;
  int lines_ = 0;
  std::vector<int> pixels_;  // that need the current run
  std::vector<typename S::I32> acc_;
  std::vector<typename S::Bytes> lanes_;  // of pixels_
  lane_tile::Squares<S> squares_;
};

}  // namespace conv_detail

}  // namespace etch
