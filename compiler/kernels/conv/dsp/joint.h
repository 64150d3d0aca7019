// Joint weights of two channels for Cortex-M cores with SIMD on halfwords: a halfword holds
// w0 + 256 * w1, so that SMLAD by it adds s0 + 256 * s1 to a sum, where s0 and s1 are the channels'
// sums. Only the weights of channel 0 are widened, for s0 itself; the difference of both sums is
// 256 * s1. This saves one of two widenings, and is exact where every pair of weights fits a
// halfword and every s1, with its bias, 24 bits.
//
// Weights of 4 bits share a byte in the same way: u0 + 16 * w1, where u0 = w0 minus the least
// weight is in [0, 15], and w1 minus 8 more in [-8, 7]. SXTB16 widens both, AND leaves u0 of both;
// products of what weights are moved by are sums of x. It is exact where every s1 has 28 bits.
#pragma once

#include <optional>

#include "compiler/kernels/conv/dsp/functions.h"
#include "compiler/kernels/conv/problem.h"
#include "templates/kernels/conv/dsp_conv.h"

namespace etch {

// What a difference of sums is more than the sum of the second channel.
inline constexpr int kJointFactor = 256;
inline constexpr int kNibbleFactor = 16;
inline constexpr int kNibbleMoved = 8;  // what a second channel's weights are moved by more

// Whether the weights of this tile or row are packed so: it is exact, and saves instructions.
bool has_joint_weights(const ConvProblem& problem, const DspConvPlan& plan);

// What the first channels' weights of 4 bits are moved by. Nothing where they do not fit or are not
// to be packed so: that takes half of the flash, and, beside joint weights of 8 bits, time. So it
// is for files that store 4 bits, and where code is to be small.
std::optional<int> nibbles_moved(const ConvProblem& problem, const DspConvPlan& plan);

}  // namespace etch
