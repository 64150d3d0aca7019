// The second stage of a convolution for Cortex-M: the stream that its functions in assembly read
// (stream.h), and what finishes sums after them.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/kernels/conv/dsp/plan.h"
#include "compiler/program/step.h"

namespace etch {

struct PackedDspConv {
  std::vector<ConstantArray> constants;
  std::int64_t stream_words = 0;  // of a group
};
PackedDspConv pack_dsp_conv(const ConvProblem& problem, const IsaTraits& isa,
                            const PlannedDspConv& conv);

// The constant "line": along which a residual is added.
ConstantArray pack_line(const SumLine& line, const AddResidual& add);

}  // namespace etch
