// The functions in assembly of runtime/etch_winograd.h: 3x3 convolutions by Winograd's F(2x2, 3x3)
// for Cortex-M cores with SIMD on halfwords; see dsp/functions.h.
#pragma once

#include "compiler/kernels/conv/dsp/functions.h"

namespace etch {

struct WinogradInput {
  int channels = 4;  // a multiple of 4, at most 64
  std::int64_t row_bytes = 0;
};

inline constexpr int kMostWinogradChannels = 64;      // which offsets in loads and stores reach
inline constexpr std::int64_t kWinogradReach = 4095;  // from a tile's first byte to its last

struct WinogradTiles {
  int in = 4, out = 2;        // channels
  int rows = 2, columns = 8;  // of pixels that are stored
  std::int64_t y_row = 0, residual_row = 0;
  DspEpilogue epilogue;
  std::optional<DspResidual> residual = {};
};

// (const uint8_t* x, int32_t* v)
AssemblyFunction winograd_input(const WinogradInput& input);
// (int32_t* v, const int32_t* stream, uint8_t* y, int32_t zero_points), and with a residual besides
// (const uint8_t* residual, const int32_t* line)
AssemblyFunction winograd_tiles(const WinogradTiles& tiles);

}  // namespace etch
