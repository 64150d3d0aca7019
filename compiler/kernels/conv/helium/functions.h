// The functions in assembly for Cortex-M cores with Helium: one generator per function of
// runtime/etch_mve.h, which says what each computes and which packed weights it reads. Sizes and
// steps are immediates; steps of equal geometry share a function by its name.
//
// How they use the core: VMLADAVA adds 16 products to one of the 8 even general registers, so a
// tile has 8 sums, such as 4 pixels times 2 channels, and the 6 odd registers are pointers. Both
// sides are unsigned: weights are stored plus an offset (128 for int8), and the offset times the
// sum of a pixel's bytes, which is computed once per tile, is subtracted from all its sums.
// Requantization works on 4 sums at a time, stores scatter the bytes to their pixels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/program/step.h"
#include "runtime/etch_mve.h"

namespace etch {

struct MveConv {
  rt::MveTile tile{};
  std::vector<rt::MvePiece> pieces;
  rt::MveStore out{};
  rt::MveAdd add{};
  bool words = false;  // x, its steps and offsets are multiples of 4

  int vectors() const;                // of 16 bytes of K
  std::int64_t stream_words() const;  // of all channels
};

// How results are stored, as part of a function's name and as an argument of its fallback.
std::string mve_store_name(const rt::MveStore& out);
std::string mve_store_text(const rt::MveStore& out);

// Whether the function would not be too long, and everything is within the instructions' reach.
bool fits(const MveConv& conv);

// (const uint8_t* x, const int32_t* stream, uint8_t* or int32_t* y[, const uint8_t* residual]). Up
// to 15 bytes after a piece are read and ignored.
AssemblyFunction mve_conv(const MveConv& conv);

// (const uint8_t* x, uint8_t* scratch). Up to 15 bytes after a row are read and ignored.
AssemblyFunction mve_interleave(const rt::MveRows& rows);

struct MveDepthwiseConv {
  rt::MveDepthwise tile{};
  rt::MveStore out{};

  int vectors() const { return tile.row_groups * tile.column_groups * tile.parts; }  // per row
  int channel_words() const { return 4 * vectors() * tile.rows + (out.is_int32 ? 1 : 2); }
  std::int64_t stream_words() const { return std::int64_t{tile.channels} * channel_words(); }
};
bool fits(const MveDepthwiseConv& conv);

// (const uint8_t* x, const int32_t* stream, uint8_t* or int32_t* y).
AssemblyFunction mve_depthwise(const MveDepthwiseConv& conv);

bool fits(const rt::MveLine& line);
// (const uint8_t* x, uint8_t* scratch). Up to 7 bytes after a position are read and ignored.
AssemblyFunction mve_split_line(const rt::MveLine& line);

// Tiles of 8 pixels, or of up to 4.
struct MveLineConv {
  rt::MveLineTile tile{};
  rt::MveStore out{};

  int channel_words() const { return 4 * tile.vectors * tile.parts + (out.is_int32 ? 1 : 2); }
  std::int64_t stream_words() const { return std::int64_t{tile.channels} * channel_words(); }
};
bool fits(const MveLineConv& conv);

// (const uint8_t* x, const int32_t* stream, uint8_t* or int32_t* y).
AssemblyFunction mve_line_tile(const MveLineConv& conv);

}  // namespace etch
