// What the two kernels for depthwise convolutions on Helium share: which positions of x an axis
// reads, weights of more than 8 bits as sums of int8 ones, and what a channel's stream ends with.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/kernels/conv/problem.h"
#include "runtime/etch_mve.h"

namespace etch {

// Along an axis: all, from the left padding on, and those of x.
std::int64_t positions_read(const ConvAxis& axis);
std::int64_t positions_inside(const ConvAxis& axis);

// How many int8 weights add up to each weight: 1, 2, or 3 for weights of 255.
int mve_parts(const ConvProblem& problem);
// The one of them numbered `part`.
int mve_part(int weight, int part);

// `step`: elements of y from pixel to pixel.
rt::MveStore mve_store(const Requantize& out, std::int64_t step);

// Appends the bias, activations being moved by -128, and the scale, if results are bytes.
void append_mve_factors(const ConvProblem& problem, std::int64_t m,
                        std::vector<std::int32_t>& stream);

}  // namespace etch
