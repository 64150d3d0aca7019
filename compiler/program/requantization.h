// Requantization without floats in a step: the formula of every output channel, what the lanes of
// the step need together, and the constants that the verbs read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/program/requantize/form.h"
#include "compiler/program/step.h"
#include "templates/kernels/quantize/requantize.h"

namespace etch {

// The formula of every channel, what their lanes need together, and a fact about them.
struct IntegerRequantization {
  std::vector<RequantizedChannel> channels;
  IntegerLayout layout;
  std::string fact;
};
IntegerRequantization requantize_without_floats(const std::vector<RequantizeChannel>& channels);

// The channel of factor `scale` whose accumulators stay within [least, most]; if they may wrap,
// they are any int32. `out` gives the zero point and the fused clamp.
RequantizeChannel requantize_channel(const Requantize& out, float scale, std::int64_t least,
                                     std::int64_t most);

// The constant "requantize": the parameters of each lane's channel, in vectors of `lanes`. A
// channel of -1 is a lane that is not stored.
ConstantArray requantize_constants(const std::vector<RequantizedChannel>& channels,
                                   const IntegerLayout& layout,
                                   const std::vector<int>& lane_channels, int lanes);

// "62 channels multiply-shift, 2 with 1 exception".
std::string describe(const std::vector<RequantizedChannel>& channels);

// Channels of all steps per rung.
RungCounts count_rungs(const Step& step);
RungCounts count_rungs(const Program& program);

}  // namespace etch
