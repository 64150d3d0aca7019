// Which convolutions the functions in assembly for Cortex-M serve.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/kernels/conv/problem.h"
#include "templates/isa/traits.h"

namespace etch {

// One input and one output channel per group.
bool is_per_channel(const ConvGeometry& g);

// Whether its instructions multiply in r0 to r7 only: Cortex-M0 (low.h).
bool is_low(const IsaTraits& isa);

// What makes int8 of all weights if it is subtracted; nothing if their range is larger.
std::optional<int> dsp_weights_moved(const ConvProblem& problem);

// Bytes from a column of x, whose channels follow each other, to the next. A row of one column may
// have any, as row-major tensors do; copied between padding it needs that of whole pixels.
std::int64_t pixel_stride(const ConvProblem& problem);

// False where these kernels do not serve the problem: transposed, three axes, weights whose range
// is wider than 8 bits unless depthwise (without SIMD: wider than int8), or depthwise with channels
// that are not a multiple of 4.
bool dsp_conv_serves(const ConvProblem& problem, const IsaTraits& isa);

}  // namespace etch
