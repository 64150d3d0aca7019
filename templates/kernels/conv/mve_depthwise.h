// Depthwise convolutions for Arm cores with Helium: for every row of the output, or two, the rows
// of x that it reads are interleaved in scratch memory, then tiles of pixels are multiplied, both
// by functions in assembly (compiler/kernels/conv/helium; portable: runtime/etch_mve.h). Padding is
// put into the scratch memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/check.h"
#include "runtime/etch_mve.h"
#include "templates/external/ops.h"
#include "templates/stage.h"

namespace etch {

// Rows of the output, or pairs, whose taps are on x and on padding alike.
struct MveDepthwiseRows {
  struct Group {  // four rows of taps
    rt::MveRows rows{};
    std::int64_t x = 0;    // bytes of x to the first row that there is
    std::string function;  // interleaves
  };
  int count = 1;
  std::int64_t y = 0;  // elements
  std::vector<Group> groups;
};

struct MveDepthwisePlan {
  int images = 1, cols = 1;  // of the output
  int blocks = 1;            // of tile.channels each, one after the other in scratch memory
  std::vector<MveDepthwiseRows> rows;
  std::int64_t x_image = 0, x_step = 0;  // bytes of x per image, and per row or pair of rows
  std::int64_t y_image = 0, y_step = 0;  // elements of y
  std::int64_t left = 0;                 // bytes of scratch before the first column of x
  int padding = 0;                       // the zero point of x, as stored
  bool pads_columns = false;
  rt::MveDepthwise tile{};  // except the last one of a row
  rt::MveStore out{};
  std::string whole, rest;  // functions for tiles, and for the last of a row
  int rest_pixels = 0;      // 0: there is none
  std::int64_t stream_words = 0, scratch_bytes = 0;  // of a block
};

namespace mve_depthwise_detail {

template <class S, class Out>
struct Tiles {
  using Index = typename S::Index;
  S& s;
  const MveDepthwisePlan& plan;

  void interleave(const MveDepthwiseRows& segment, const Index& x) {
    const auto scratch = s.template operand<std::uint8_t>(1);
    for (std::size_t g = 0; g < segment.groups.size(); ++g) {
      const MveDepthwiseRows::Group& group = segment.groups[g];
      const rt::MveRows& rows = group.rows;
      const std::int64_t read = rows.count == 0
                                    ? 0
                                    : (rows.count - 1) * rows.row_step +
                                          (rows.columns - 1) * rows.column_step + rows.channels;
      const std::int64_t written =
          (rows.channels - 1) * rows.channel_step + std::int64_t{4} * rows.columns;
      // Where all of a group is padding, its place would be outside of x; it reads nothing there.
      const Index from = rows.count == 0 ? Index(0) : x + Index(group.x);
      const auto native = [&](const std::uint8_t* in, std::uint8_t* out) {
        rt::mve_interleave(in, out, rows);
      };
      s.call(assembly_call({group.function, "etch_mve.h", FloatUse::kNone}, native, read, written),
             s.template operand<const std::uint8_t>(0) + from,
             scratch + Index(static_cast<std::int64_t>(g) * plan.tile.group_step + plan.left));
    }
  }

  void multiply(const Index& block, const Index& y, const Index& column,
                const std::string& function, int pixels) {
    rt::MveDepthwise tile = plan.tile;
    tile.pixels = pixels;
    const std::int64_t written =
        ((tile.rows - 1) * tile.y_row + (pixels - 1) * plan.out.step + tile.channels) *
        static_cast<std::int64_t>(sizeof(Out));
    const std::int64_t read = plan.scratch_bytes - (plan.cols - pixels) * tile.x_step;
    const typename S::template Ptr<const std::uint8_t> scratch =
        s.template operand<const std::uint8_t>(1);
    const auto native = [this, tile](const std::uint8_t* x, const std::int32_t* stream, Out* to) {
      rt::mve_depthwise(x, stream, to, tile, plan.out);
    };
    const FloatUse floats = plan.out.is_int32 ? FloatUse::kNone : FloatUse::kUsed;
    s.call(assembly_call({function, "etch_mve.h", floats}, native, read, 4 * plan.stream_words,
                         written),
           scratch + column * tile.x_step,
           s.template constant<const std::int32_t>("stream") + block * plan.stream_words,
           s.template operand<Out>(2) + y + column * plan.out.step);
  }

  void row(const MveDepthwiseRows& segment, const Index& x, const Index& y) {
    s.loop("block", plan.blocks, [&](const Index& block) {
      interleave(segment, x + block * plan.tile.channels);
      const int n = plan.tile.pixels;
      const Index at = y + block * plan.tile.channels;
      s.loop("tile", plan.cols / n,
             [&](const Index& i) { multiply(block, at, i * n, plan.whole, n); });
      if (plan.rest_pixels > 0)
        multiply(block, at, Index(plan.cols / n * n), plan.rest, plan.rest_pixels);
    });
  }
};

template <class Out, class S>
void all_rows(S& s, const MveDepthwisePlan& plan) {
  using Index = typename S::Index;
  Tiles<S, Out> tiles{s, plan};
  s.loop("image", plan.images, [&](const Index& image) {
    for (const MveDepthwiseRows& segment : plan.rows) {
      s.loop("row", segment.count, [&](const Index& row) {
        tiles.row(segment, image * plan.x_image + row * plan.x_step,
                  image * plan.y_image + row * plan.y_step + Index(segment.y));
      });
    }
  });
}

}  // namespace mve_depthwise_detail

template <class S>
void mve_depthwise_kernel(S& s, const MveDepthwisePlan& plan) {
  if (plan.pads_columns) {
    ETCH_CHECK(plan.scratch_bytes <= INT32_MAX);
    s.call(external::Fill{}, s.template operand<std::uint8_t>(1), plan.padding ^ 0x80,
           static_cast<int>(plan.scratch_bytes));
  }
  if (plan.out.is_int32) return mve_depthwise_detail::all_rows<std::int32_t>(s, plan);
  mve_depthwise_detail::all_rows<std::uint8_t>(s, plan);
}

}  // namespace etch
