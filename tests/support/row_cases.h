// Cases of operators on float32 and integers, and of quantization in all its granularities,
// with data that has ties, infinities and, where the result does not depend on which of two NaN is
// kept, NaN.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

std::vector<Case> arithmetic_cases(int count);
std::vector<Case> map_cases(int count);               // Relu, LeakyRelu, Sigmoid, Round, Clip
std::vector<Case> integer_function_cases(int count);  // Relu, Abs, Neg, Sign
std::vector<Case> cast_cases(int count);
std::vector<Case> float_window_cases(int count);  // MaxPool, reductions, global pools
std::vector<Case> quantization_cases(int count);  // with their parameters at run time or not

}  // namespace etch
