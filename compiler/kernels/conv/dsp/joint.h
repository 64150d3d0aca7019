// Joint weights of two channels for Cortex-M cores with SIMD on halfwords: a halfword holds
// w0 + 256 * w1, so that SMLAD by it adds s0 + 256 * s1 to a sum, where s0 and s1 are the channels'
// sums. Only the weights of channel 0 are widened, for s0 itself; the difference of both sums is
// 256 * s1. This saves one of two widenings, and is exact where every pair of weights fits a
// halfword and every s1, with its bias, 24 bits.
#pragma once

#include "compiler/kernels/conv/dsp/functions.h"
#include "compiler/kernels/conv/problem.h"
#include "templates/kernels/conv/dsp_conv.h"

namespace etch {

// What a difference of sums is more than the sum of the second channel.
inline constexpr int kJointFactor = 256;

// Whether the weights of this tile or row are packed so: it is exact, and saves instructions.
bool has_joint_weights(const ConvProblem& problem, const DspConvPlan& plan);

}  // namespace etch
