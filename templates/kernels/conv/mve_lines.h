// Depthwise convolutions along one axis for Arm cores with Helium: every line of x is split into
// its channels in scratch memory, all or some at a time, then tiles of up to eight pixels are
// multiplied, both by functions in assembly (compiler/kernels/conv/helium; portable:
// runtime/etch_mve.h). Padding is put into the scratch memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/check.h"
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

// Blocks of equally many channels.
struct MveLineBlocks {
  int first = 0, count = 1;  // the first channel; blocks
  rt::MveLine line{};
  std::string split;  // function
  std::vector<MveLinePhases> phases;
  rt::MveLineTile tile{};                     // pixels: the most
  std::int64_t stream = 0, stream_words = 0;  // words before the first block, and of each
};

struct MveLinesPlan {
  int images = 1, lines = 1;
  std::int64_t x_image = 0, x_line = 0;  // bytes of x
  std::int64_t y_image = 0, y_line = 0;  // elements of y
  std::int64_t y_phase = 0;              // elements of y from phase to phase
  std::int64_t start = 0;                // bytes of scratch before the first position
  int padding = 0;                       // the zero point of x, as stored
  bool pads = false;
  std::vector<MveLineBlocks> blocks;
  rt::MveStore out{};
  std::int64_t scratch_bytes = 0;
};

namespace mve_lines_detail {

template <class S, class Out>
struct Lines {
  using Index = typename S::Index;
  S& s;
  const MveLinesPlan& plan;

  void split(const MveLineBlocks& block, const Index& x) {
    const rt::MveLine& line = block.line;
    const std::int64_t read = (line.positions - 1) * line.step + line.channels;
    // Later phases of the first positions are before `start`.
    const Span written{-plan.start, plan.scratch_bytes - plan.start};
    const auto native = [&](const std::uint8_t* in, std::uint8_t* out) {
      rt::mve_split_line(in, out, line);
    };
    s.call(PlannedAssembly<decltype(native), 2>({block.split, "etch_mve.h", FloatUse::kNone},
                                                native, {Span{0, read}, written}),
           s.template operand<const std::uint8_t>(0) + x,
           s.template operand<std::uint8_t>(1) + Index(plan.start));
  }

  // `x` and `y`: to the tile's first pixel; `stream`: words.
  void multiply(const Index& x, const Index& stream, const Index& y, const MveLineBlocks& block,
                const MveLineTiles& tiles) {
    rt::MveLineTile tile = block.tile;
    tile.pixels = tiles.pixels;
    const std::int64_t read = (tile.channels - 1) * tile.channel_step +
                              (tile.pixels - 1) * tile.x_step + std::int64_t{16} * tile.vectors;
    const std::int64_t written = ((tile.pixels - 1) * plan.out.step + tile.channels) *
                                 static_cast<std::int64_t>(sizeof(Out));
    const auto native = [this, tile](const std::uint8_t* in, const std::int32_t* factors, Out* to) {
      rt::mve_line_tile(in, factors, to, tile, plan.out);
    };
    const FloatUse floats = plan.out.is_int32 ? FloatUse::kNone : FloatUse::kUsed;
    s.call(assembly_call({tiles.function, "etch_mve.h", floats}, native, read,
                         4 * block.stream_words, written),
           s.template operand<const std::uint8_t>(1) + x,
           s.template constant<const std::int32_t>("stream") + stream,
           s.template operand<Out>(2) + y);
  }

  void phases(const MveLineBlocks& block, const Index& stream, const Index& y) {
    for (const MveLinePhases& each : block.phases) {
      s.loop("phase", each.count, [&](const Index& phase) {
        const Index number = phase + Index(each.first);
        for (const MveLineTiles& tiles : each.tiles) {
          s.loop("tile", tiles.count, [&](const Index& tile) {
            const Index pixel = tile * tiles.pixels + Index(tiles.first);
            multiply(number * block.line.phase_step + pixel * block.tile.x_step, stream,
                     y + number * plan.y_phase + pixel * plan.out.step, block, tiles);
          });
        }
      });
    }
  }

  void line(const Index& x, const Index& y) {
    for (const MveLineBlocks& blocks : plan.blocks) {
      s.loop("block", blocks.count, [&](const Index& block) {
        const Index channel = block * blocks.tile.channels + Index(blocks.first);
        split(blocks, x + channel);
        phases(blocks, block * blocks.stream_words + Index(blocks.stream), y + channel);
      });
    }
  }
};

template <class Out, class S>
void all_lines(S& s, const MveLinesPlan& plan) {
  using Index = typename S::Index;
  Lines<S, Out> lines{s, plan};
  s.loop("image", plan.images, [&](const Index& image) {
    s.loop("line", plan.lines, [&](const Index& line) {
      lines.line(image * plan.x_image + line * plan.x_line,
                 image * plan.y_image + line * plan.y_line);
    });
  });
}

}  // namespace mve_lines_detail

template <class S>
void mve_lines_kernel(S& s, const MveLinesPlan& plan) {
  if (plan.pads) {
    ETCH_CHECK(plan.scratch_bytes <= INT32_MAX);
    s.call(external::Fill{}, s.template operand<std::uint8_t>(1), plan.padding ^ 0x80,
           static_cast<int>(plan.scratch_bytes));
  }
  if (plan.out.is_int32) return mve_lines_detail::all_lines<std::int32_t>(s, plan);
  mve_lines_detail::all_lines<std::uint8_t>(s, plan);
}

}  // namespace etch
