// Depthwise convolutions for Arm cores with Helium: for every row of the output, or two, the rows
// of x that it reads are interleaved in scratch memory, then tiles of pixels are multiplied, both
// by functions in assembly (compiler/arm; portable: runtime/etch_mve.h). x lies with its padding in
// memory, so there are no borders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/etch_mve.h"
#include "templates/stage.h"

namespace etch {

struct MveDepthwisePlan {
  int images = 1, rows = 1, cols = 1;    // of the output
  std::int64_t x_offset = 0;             // bytes from operand x to the first tap
  std::int64_t x_image = 0, x_row = 0;   // bytes of x per image and row of the output
  std::int64_t y_image = 0, y_row = 0;   // bytes of y
  std::vector<rt::MveRows> interleaved;  // what each four rows of taps read
  std::int64_t x_group = 0;              // bytes of x from four rows of taps to the next
  std::vector<std::string> interleave;   // the functions
  rt::MveDepthwise tile{};               // but for the last one of a row
  rt::MveStore out{};
  std::string whole, rest;  // functions for tiles, and for the last of a row
  int rest_pixels = 0;      // 0: there is none
  std::int64_t stream_words = 0, scratch_bytes = 0;
};

namespace mve_depthwise_detail {

template <class S>
struct Tiles {
  using Index = typename S::Index;
  S& s;
  const MveDepthwisePlan& plan;

  void interleave(const Index& x) {
    const auto from = s.template operand<const std::uint8_t>(0) + x + Index(plan.x_offset);
    const auto scratch = s.template operand<std::uint8_t>(1);
    for (std::size_t g = 0; g < plan.interleaved.size(); ++g) {
      const rt::MveRows& rows = plan.interleaved[g];
      const std::int64_t read =
          (rows.rows - 1) * rows.row_step + (rows.columns - 1) * rows.column_step + rows.channels;
      const std::int64_t written = std::int64_t{4} * rows.columns * rows.channels;
      const auto group = static_cast<std::int64_t>(g);
      s.assembly(
          plan.interleave[g],
          [&](const std::uint8_t* in, std::uint8_t* out) { rt::mve_interleave(in, out, rows); },
          {read, written}, from + Index(group * plan.x_group),
          scratch + Index(group * plan.tile.group_step));
    }
  }

  void multiply(const Index& y, const Index& column, const std::string& function, int pixels) {
    rt::MveDepthwise tile = plan.tile;
    tile.pixels = pixels;
    const std::int64_t written =
        (tile.rows - 1) * tile.y_row + (pixels - 1) * plan.out.step + tile.channels;
    const std::int64_t read = plan.scratch_bytes - (plan.cols - pixels) * tile.x_step;
    const typename S::template Ptr<const std::uint8_t> scratch =
        s.template operand<const std::uint8_t>(1);
    s.assembly(
        function,
        [this, tile](const std::uint8_t* x, const std::int32_t* stream, std::uint8_t* to) {
          rt::mve_depthwise(x, stream, to, tile, plan.out);
        },
        {read, 4 * plan.stream_words, written}, scratch + column * tile.x_step,
        s.template constant<const std::int32_t>("stream"),
        s.template operand<std::uint8_t>(2) + y + column * plan.out.step);
  }

  // `rows` rows of the output.
  void row(const Index& x, const Index& y) {
    interleave(x);
    const int n = plan.tile.pixels;
    s.loop("tile", plan.cols / n, [&](const Index& i) { multiply(y, i * n, plan.whole, n); });
    if (plan.rest_pixels > 0) multiply(y, Index(plan.cols / n * n), plan.rest, plan.rest_pixels);
  }
};

}  // namespace mve_depthwise_detail

template <class S>
void mve_depthwise_kernel(S& s, const MveDepthwisePlan& plan) {
  using Index = typename S::Index;
  mve_depthwise_detail::Tiles<S> tiles{s, plan};
  const int n = plan.tile.rows;
  s.loop("image", plan.images, [&](const Index& image) {
    const Index x = image * plan.x_image;
    const Index y = image * plan.y_image;
    s.loop("row", plan.rows / n, [&](const Index& row) {
      tiles.row(x + row * (n * plan.x_row), y + row * (n * plan.y_row));
    });
    // An odd row is computed together with the one before, once more.
    if (plan.rows % n != 0) {
      tiles.row(x + Index((plan.rows - n) * plan.x_row), y + Index((plan.rows - n) * plan.y_row));
    }
  });
}

}  // namespace etch
