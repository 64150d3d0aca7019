// Convolutions whose result another tensor is added to: the sum runs in the convolution's epilogue.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

// Either side of the sum; the other tensor is an input, another convolution's result or the image
// itself; with and without limits of the sum and a padded convolution after it.
std::vector<Case> residual_convolutions(int count);

}  // namespace etch
