// Cases of operators whose rows are taken in vectors, of lengths that fill some and leave a rest:
// conversions, Clip, extremes of integers, pixels of few channels to planes and back, nearest
// neighbours, Pad, one row times transposed matrices, patches of images; Pad and Tile along more
// than four axes.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

std::vector<Case> wide_cases();

}  // namespace etch
