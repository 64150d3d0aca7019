// Cases whose weights, scales and zero points arrive at run time, made from others.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

// The same model with some of its constants (each with probability 1 / `one_in`) as graph inputs.
Case with_run_time_arguments(const Case& each, int one_in, Dice& dice);

// A case of ai.onnx QLinearConv as ConvInteger: the same geometry, data and zero points. Other
// cases stay as they are.
Case as_conv_integer(const Case& each);

// MatMulInteger and QLinearMatMul with batches, vectors and every form of their parameters.
std::vector<Case> matrix_products(int count);

// The same with both matrices at run time: every `stride`-th of an enumeration of sizes around the
// widths of vectors, with transposed operands, batches of which one operand may have less, all
// pairs of types, and zero points at the ends, in the middle and at run time.
std::vector<Case> products_of_two_inputs(int stride);

}  // namespace etch
