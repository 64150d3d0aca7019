// Depthwise convolutions along one axis for Arm cores with Helium: every line of x is split into
// its channels in scratch memory, then tiles of up to eight pixels are multiplied, both by
// functions in assembly (compiler/kernels/conv/helium; portable: runtime/etch_mve.h). Padding is
// put into the scratch memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/etch_mve.h"
#include "templates/external/ops.h"
#include "templates/stage.h"

namespace etch {

// Tiles of one size, one after the other.
struct MveLineTiles {
  int count = 1, pixels = 8;
  std::int64_t first = 0;  // pixel of the phase
  std::string function;
};

// Phases of the line that have equally many pixels.
struct MveLinePhases {
  int first = 0, count = 1;
  std::vector<MveLineTiles> tiles;
};

struct MveLinesPlan {
  int images = 1, lines = 1;
  std::int64_t x_image = 0, x_line = 0;  // bytes of x
  std::int64_t y_image = 0, y_line = 0;  // bytes of y
  std::int64_t y_phase = 0;              // bytes of y from phase to phase
  std::int64_t start = 0;                // bytes of scratch before the first position
  int padding = 0;                       // the zero point of x, as stored
  bool pads = false;
  rt::MveLine line{};
  std::string split;  // function
  std::vector<MveLinePhases> phases;
  rt::MveLineTile tile{};  // pixels: the most
  rt::MveStore out{};
  std::int64_t stream_words = 0, scratch_bytes = 0;
};

namespace mve_lines_detail {

template <class S>
struct Lines {
  using Index = typename S::Index;
  S& s;
  const MveLinesPlan& plan;

  void split(const Index& x) {
    const rt::MveLine& line = plan.line;
    const std::int64_t read = (line.positions - 1) * line.step + line.channels;
    const std::int64_t written = plan.scratch_bytes - plan.start;
    const auto native = [&](const std::uint8_t* in, std::uint8_t* out) {
      rt::mve_split_line(in, out, line);
    };
    s.call(assembly_call({plan.split, "etch_mve.h", FloatUse::kNone}, native, read, written),
           s.template operand<const std::uint8_t>(0) + x,
           s.template operand<std::uint8_t>(1) + Index(plan.start));
  }

  // `x` and `y`: bytes to the tile's first pixel.
  void multiply(const Index& x, const Index& y, const MveLineTiles& tiles) {
    rt::MveLineTile tile = plan.tile;
    tile.pixels = tiles.pixels;
    const std::int64_t read = (tile.channels - 1) * tile.channel_step +
                              (tile.pixels - 1) * tile.x_step + std::int64_t{16} * tile.vectors;
    const std::int64_t written = (tile.pixels - 1) * plan.out.step + tile.channels;
    const auto native = [this, tile](const std::uint8_t* in, const std::int32_t* stream,
                                     std::uint8_t* to) {
      rt::mve_line_tile(in, stream, to, tile, plan.out);
    };
    s.call(assembly_call({tiles.function, "etch_mve.h", FloatUse::kUsed}, native, read,
                         4 * plan.stream_words, written),
           s.template operand<const std::uint8_t>(1) + x,
           s.template constant<const std::int32_t>("stream"),
           s.template operand<std::uint8_t>(2) + y);
  }

  void line(const Index& x, const Index& y) {
    split(x);
    for (const MveLinePhases& each : plan.phases) {
      s.loop("phase", each.count, [&](const Index& phase) {
        const Index number = phase + Index(each.first);
        for (const MveLineTiles& tiles : each.tiles) {
          s.loop("tile", tiles.count, [&](const Index& tile) {
            const Index pixel = tile * tiles.pixels + Index(tiles.first);
            multiply(number * plan.line.phase_step + pixel * plan.tile.x_step,
                     y + number * plan.y_phase + pixel * plan.out.step, tiles);
          });
        }
      });
    }
  }
};

}  // namespace mve_lines_detail

template <class S>
void mve_lines_kernel(S& s, const MveLinesPlan& plan) {
  using Index = typename S::Index;
  mve_lines_detail::Lines<S> lines{s, plan};
  if (plan.pads) {
    s.call(external::Fill{}, s.template operand<std::uint8_t>(1), plan.padding ^ 0x80,
           static_cast<int>(plan.scratch_bytes));
  }
  s.loop("image", plan.images, [&](const Index& image) {
    s.loop("line", plan.lines, [&](const Index& line) {
      lines.line(image * plan.x_image + line * plan.x_line,
                 image * plan.y_image + line * plan.y_line);
    });
  });
}

}  // namespace etch
