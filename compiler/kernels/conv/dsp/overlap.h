// How far the output of a convolution in assembly may run over its dying input.
#pragma once

#include <cstdint>

#include "templates/kernels/conv/dsp_conv.h"

namespace etch {

// The most bytes that have been written of y, from its first byte, beyond the first byte of x that
// is still to be read; for one image of `image_bytes` bytes, one group, and results of one byte.
std::int64_t overlap_distance(const DspConvPlan& plan, std::int64_t image_bytes);

}  // namespace etch
