// Convolution as a matrix product over packed weights, straight from the image: no im2col, no
// pointer tables. Serves QLinearConv, ConvInteger, transposed and grouped convolution, Gemm and
// MatMul alike: a plan is a list of regions (rectangles of output pixels that share their taps),
// and a tap list is a list of runs (contiguous bytes of the image).
//
// A tile is a rectangle of output pixels times a block of output channels. Its accumulators are
// named scalars; per group of 4 bytes of a run it does one broadcast per pixel and one dot4 per
// pixel and vector. Accumulators start from the bias, which already contains all zero points.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "templates/external/ops.h"
#include "templates/external/products.h"
#include "templates/kernels/conv/conv_plan.h"
#include "templates/kernels/conv/conv_tile.h"
#include "templates/kernels/conv/tap_function.h"
#include "templates/kernels/conv/tap_grid.h"
#include "templates/kernels/quantize/requantize.h"
#include "templates/stage.h"

namespace etch {

// Lines of the next block's weights that each of so many tiles of a block prefetches in every
// iteration of its loop over K: all tiles go over a whole panel of weights, and share the next one.
inline int prefetched_lines(const ConvPlan& plan, const ConvRegion& region,
                            const ChannelBlock& block, int tiles, const IsaTraits& isa) {
  if (region.groups(block.form) <= plan.straight_line) return 0;
  if (tiles == 1) return 0;  // the memory is the limit then, and it is read in order
  const auto lines = static_cast<int>(plan.unroll * block.step_bytes(isa.weight_bytes()) /
                                      conv_detail::kLineBytes);
  const int part = (lines + tiles - 1) / tiles;
  const std::int64_t panel = region.panel_bytes(block, isa.weight_bytes());
  return std::int64_t{tiles} * part * conv_detail::kLineBytes <= panel ? part : 0;
}

namespace conv_detail {

// Where loops have moved the pointers so far.
template <class S>
struct Place {
  typename S::Index x{0}, y{0}, residual{0}, weights{0}, lane{0};
};

// The loops of one region: rows, columns and blocks of channels around tiles.
template <class S, class Out>
class RegionLoops {
 public:
  using Index = typename S::Index;
  RegionLoops(S& s, const ConvPlan& plan, int region)
      : s_(s),
        plan_(plan),
        region_index_(region),
        region_(plan.regions[static_cast<std::size_t>(region)]) {}

  void run(const Place<S>& start) {
    s_.loop("plane", region_.planes, [&](const Index& plane) {
      Place<S> place = start;
      place.x = place.x + plane * region_.x_plane;
      place.y = place.y + plane * region_.y_plane;
      place.residual = place.residual + plane * region_.r_plane;
      run_plane(place);
    });
  }

 private:
  void run_plane(const Place<S>& place) {
    if (plan_.order == LoopOrder::kChannelsOutside) {
      blocks(place, [&](const Place<S>& at, const ChannelBlock& block) {
        tiles([&](const Spot& row, const Spot& col) { tile(at, block, row, col); });
      });
      return;
    }
    tiles([&](const Spot& row, const Spot& col) {
      blocks(place,
             [&](const Place<S>& at, const ChannelBlock& block) { tile(at, block, row, col); });
    });
  }

  template <class Body>
  void blocks(const Place<S>& place, Body body) {
    std::int64_t weights = region_.weights;
    for (const ChannelBlock& block : plan_.blocks) {
      const std::int64_t panel = region_.panel_bytes(block, s_.isa().weight_bytes());
      const int lanes = block.vectors * s_.isa().lanes;
      s_.loop("block", block.repeat, [&](const Index& b) {
        Place<S> at = place;
        at.y = at.y + Index(block.first) + b * block.channels;
        at.residual = at.residual + Index(block.first) + b * block.channels;
        at.weights = at.weights + Index(weights) + b * panel;
        at.lane = at.lane + Index(block.first_lane) + b * lanes;
        body(at, block);
      });
      weights += block.repeat * panel;
    }
  }

  // Where a tile is along one axis: one of the alike tiles of a span.
  struct Spot {
    TileSpan span;
    Index position;
    Index number;  // of the tile, along the axis
    int tiles;     // along the axis
  };

  template <class Body>
  void tiles(Body body) {
    const TapAxis* const row_taps = region_.grid ? &region_.grid->rows : nullptr;
    const TapAxis* const col_taps = region_.grid ? &region_.grid->cols : nullptr;
    const auto rows = tiles_along(row_taps, region_.rows, region_.tile_rows);
    const auto cols = tiles_along(col_taps, region_.cols, region_.tile_cols);
    along("row", rows, region_.tile_rows, [&](const Spot& row) {
      along("col", cols, region_.tile_cols, [&](const Spot& col) { body(row, col); });
    });
  }

  // A loop for every span of alike tiles.
  template <class Body>
  void along(const char* name, const std::vector<TileSpan>& spans, int tile, Body body) {
    int tiles = 0;
    for (const TileSpan& span : spans) tiles += span.count;
    for (const TileSpan& span : spans) {
      s_.loop(name, span.count, [&](const Index& i) {
        body(Spot{span, Index(span.first) + i * span.size, Index(span.first / tile) + i, tiles});
      });
    }
  }

  void tile(const Place<S>& at, const ChannelBlock& block, const Spot& row_spot,
            const Spot& col_spot) {
    const Index& row = row_spot.position;
    const Index& col = col_spot.position;
    const int rows = row_spot.span.size;
    const int cols = col_spot.span.size;
    const TilePattern pattern = region_.pattern(row_spot.span, col_spot.span, block.form);
    const auto x = s_.template operand<const std::uint8_t>(plan_.operands.x) + at.x +
                   Index(region_.x_offset + pattern.x_shift) + row * region_.x_row +
                   col * region_.x_col;
    const auto y = s_.template operand<Out>(plan_.operands.y) + at.y + Index(region_.y_offset) +
                   row * region_.y_row + col * region_.y_col;
    const std::int64_t group_bytes = block.step_bytes(s_.isa().weight_bytes());
    const auto panel = data<std::uint8_t>(plan_.operands.weights, "weights") + at.weights;
    const auto w = panel + Index(pattern.weights_shift * group_bytes);
    const auto bias = data<std::int32_t>(plan_.operands.start, "bias") + at.lane +
                      Index(region_.bias + pattern.bias_shift);
    const int tiles = row_spot.tiles * col_spot.tiles;
    const int lines = plan_.prefetch ? prefetched_lines(plan_, region_, block, tiles, s_.isa()) : 0;
    const auto ahead = panel +
                       row_spot.number * (std::int64_t{col_spot.tiles} * lines * kLineBytes) +
                       col_spot.number * (std::int64_t{lines} * kLineBytes);
    using TilePtr = TilePtrs<S>;  // x, w, ahead and terms: what call() fills in
    const auto body = [&](TilePtr t, const auto& tb, const Factors<S>& tf, const auto& ty,
                          const Residual<S>& tr) {
      t.bias = tb;
      t.factors = tf;
      t.residual = tr;
      Tile<S, Out>(s_, plan_, region_, block, rows, cols, pattern).run(t, s_.base("yt", ty), lines);
    };
    const std::string name = tile_name(block, rows, cols, pattern);
    const auto function = [&](auto of_rest, const auto&... rest) {
      call(name, of_rest, lines > 0, ahead, col, x, w, rest...);
    };
    if (plan_.out.kind == Requantize::Kind::kInt32) {
      function([&](const TilePtr& t, const auto& tb,
                   const auto& ty) { body(t, tb, Factors<S>{}, ty, {}); },
               std::pair{"bias", bias}, std::pair{"y", y});
      return;
    }
    with_factors(s_, plan_.out, at.lane, [&](const char* parameter, const auto& p, auto make) {
      if (!plan_.add) {
        function([&](const TilePtr& t, const auto& tb, const auto& tf,
                     const auto& ty) { body(t, tb, make(tf), ty, {}); },
                 std::pair{"bias", bias}, std::pair{parameter, p}, std::pair{"y", y});
        return;
      }
      const auto r = s_.template operand<const std::uint8_t>(1) + at.residual +
                     Index(region_.r_offset) + row * region_.r_row + col * region_.r_col;
      function(
          [&](const TilePtr& t, const auto& tb, const auto& tf, const auto& tr, const auto& ty) {
            body(t, tb, make(tf), ty, {&*plan_.add, tr});
          },
          std::pair{"bias", bias}, std::pair{parameter, p}, std::pair{"residual", r},
          std::pair{"y", y});
    });
  }

  // Operand `i` of the step, or the constant.
  template <class Element>
  auto data(int i, const char* name) {
    return i < 0 ? s_.template constant<const Element>(name)
                 : s_.template operand<const Element>(i);
  }

  // The function of a tile, with a parameter more if it prefetches or adds terms of its pixels.
  template <class Body, class Bytes, class... Rest>
  void call(const std::string& name, Body body, bool prefetches, const Bytes& ahead,
            const Index& col, const Bytes& x, const Bytes& w, const Rest&... rest) {
    const Taps taps = region_.runs.empty() ? Taps::kNone : Taps::kSome;
    if (plan_.operands.row_terms >= 0) {
      const auto terms = s_.template operand<const std::int32_t>(plan_.operands.row_terms) +
                         col * std::int64_t{s_.isa().lanes};
      tap_function(
          s_, name, taps,
          [&](const auto& tx, const auto& tw, const auto& tt, const auto&... p) {
            body({tx, tw, Bytes{}, tt, {}, {}, {}}, p...);
          },
          x, w, std::pair{"terms", terms}, rest...);
      return;
    }
    if (prefetches) {
      tap_function(
          s_, name, taps,
          [&](const auto& tx, const auto& tw, const auto& ta, const auto&... p) {
            body({tx, tw, ta, {}, {}, {}, {}}, p...);
          },
          x, w, std::pair{"ahead", ahead}, rest...);
      return;
    }
    tap_function(
        s_, name, taps,
        [&](const auto& tx, const auto& tw, const auto&... p) {
          body({tx, tw, Bytes{}, {}, {}, {}, {}}, p...);
        },
        x, w, rest...);
  }

  std::string tile_name(const ChannelBlock& block, int rows, int cols,
                        const TilePattern& pattern) const {
    const std::string where =
        plan_.regions.size() > 1 ? "r" + std::to_string(region_index_) + "_" : "";
    return where + "tile_" + std::to_string(rows) + "x" + std::to_string(cols) + "_c" +
           std::to_string(block.channels) + pattern.name;
  }

  S& s_;
  const ConvPlan& plan_;
  int region_index_;
  const ConvRegion& region_;
};

template <class S, class Out>
void regions(S& s, const ConvPlan& plan, std::size_t axis, const Place<S>& place) {
  if (axis == plan.axes.size()) {
    for (std::size_t r = 0; r < plan.regions.size(); ++r) {
      RegionLoops<S, Out>(s, plan, static_cast<int>(r)).run(place);
    }
    return;
  }
  const ConvLoop& loop = plan.axes[axis];
  s.loop(loop.name, loop.count, [&](const typename S::Index& i) {
    Place<S> at = place;
    at.x = at.x + i * loop.x_step;
    at.y = at.y + i * loop.y_step;
    at.residual = at.residual + i * loop.r_step;
    if (loop.is_group) {
      at.weights = at.weights + i * plan.weights_per_group;
      at.lane = at.lane + i * plan.lanes_per_group;
    }
    regions<S, Out>(s, plan, axis + 1, at);
  });
}

}  // namespace conv_detail

// From a place on, for kernels with loops of their own around it.
template <class S>
void conv_kernel_at(S& s, const ConvPlan& plan, const conv_detail::Place<S>& start) {
  if (plan.out.kind == Requantize::Kind::kInt32) {
    conv_detail::regions<S, std::int32_t>(s, plan, 0, start);
  } else {
    conv_detail::regions<S, std::uint8_t>(s, plan, 0, start);
  }
}

template <class S>
void conv_kernel(S& s, const ConvPlan& plan) {
  if (plan.terms) {
    const auto addend = s.template constant<const std::uint8_t>("addend");
    s.call(external::RowTermsOf{}, *plan.terms,
           s.template operand<const std::uint8_t>(plan.operands.x), addend, addend + 1,
           s.template operand<std::int32_t>(plan.operands.row_terms));
  }
  conv_kernel_at(s, plan, conv_detail::Place<S>{});
}

}  // namespace etch
