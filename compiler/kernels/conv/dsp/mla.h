// The functions in assembly for Cortex-M3, which multiplies one pair at a time (MLA) and has no
// SIMD on halfwords; otherwise as functions.h. Tiles of 4 pixels x 2 channels read x in place: per
// element of K two loads of weights, four of x and eight products, 14 instructions.
#pragma once

#include "compiler/kernels/conv/dsp/functions.h"

namespace etch {

struct MlaTile {
  int pixels = 4;
  std::int64_t x_step = 0;  // bytes from pixel to pixel
  int run_bytes = 1;        // contiguous elements of K
  int runs = 1;
  std::int64_t run_step = 0;  // bytes
  int channels = 2;
  DspEpilogue out;      // kInt32 or kHigh
  bool planar = false;  // weights channel after channel, instead of two channels together
};

// Offsets in loads reach so far: (pixels - 1) * x_step may not be more.
inline constexpr std::int64_t kMostMlaReach = 4095;

// (const uint8_t* x, const int32_t* stream, y, int32_t zero_points), as rt::mla_tile() and
// rt::mla_depthwise().
AssemblyFunction mla_tile(const MlaTile& tile);
AssemblyFunction mla_depthwise(const DspDepthwise& tile);

}  // namespace etch
