// Small networks as they run on microcontrollers: quantization of the input, a stem, then residual
// blocks with and without a convolution on the short way, and depthwise ones. Random but made from
// an index, so that a failing one can be made again.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

std::vector<Case> networks_of_blocks(int count);

}  // namespace etch
