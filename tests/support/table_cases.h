// Cases of elementwise functions on 8-bit tensors: operators that are tables by themselves, float
// chains between DequantizeLinear and QuantizeLinear that become one, and convolutions that limit
// their results.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

std::vector<Case> activation_tables(int count);  // QLinearSigmoid, QLinearLeakyRelu
// Rows of every byte, as long as vectors of 16 to 64 bytes and what is left after them.
std::vector<Case> tables_of_every_byte();
std::vector<Case> quantized_choices(int count);  // QLinearWhere
std::vector<Case> float_chains(int count);       // some before a convolution with padding
std::vector<Case> limited_convolutions(int every);
// Dense and depthwise, with and without limits, for each position of results in their type: on
// ties, at its ends, beyond 16 and 32 bits.
std::vector<Case> scaled_convolutions();

}  // namespace etch
