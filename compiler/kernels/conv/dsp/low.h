// The functions in assembly for Cortex-M0, M0+, M1 and M23, whose Thumb instructions multiply and
// load in r0 to r7 only; otherwise as mla.h. Sums are in r8 to r11, to which ADD reaches. One index
// moves through x and the weights of two channels, so weights are planar: channel after channel.
// Tiles of 2 pixels x 2 channels take 14 instructions for 4 products.
#pragma once

#include "compiler/kernels/conv/dsp/mla.h"

namespace etch {

// What low_depthwise() can do without a jump that is too far.
bool low_depthwise_serves(std::int64_t rows, std::int64_t cols);

// As rt::mla_tile() with planar weights, 1 or 2 pixels, and rt::mla_depthwise() of one pixel; both
// store sums (kInt32).
AssemblyFunction low_tile(const MlaTile& tile);
AssemblyFunction low_depthwise(const DspDepthwise& tile);
AssemblyFunction low_copy(const DspCopy& copy);  // as dsp_copy()

}  // namespace etch
