// Which requantizations of 16-bit products have no ties, so that rounding is adding a half.
#pragma once

#include "compiler/ir/tensor.h"
#include "compiler/kernels/products/words.h"

namespace etch {

// False if no sum of 32 bits of any channel has a y within the limits that is halfway between two
// integers, and all shifts are beyond 32, as untied_word() wants.
bool may_have_ties(const WordConv& conv);

// Arguments of untied_word() (runtime/etch_words.h) after the sum: each a row of all channels.
Tensor untied_factors(const WordConv& conv);

}  // namespace etch
