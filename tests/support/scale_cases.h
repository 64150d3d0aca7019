// Quantized operators whose scales are so far apart that floats leave int32, or float32 itself, on
// their way to a byte: every operator that converts floats to integers, with scales from the least
// subnormal to the greatest float and on both sides of 2^31 output steps. A model may be refused,
// where a ratio of scales is no float; everything else has one result.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

// Number `index` of an endless list. Operators take turns, so that neighbours differ.
Case extreme_scales(int index);
// How many operators take turns.
int extreme_scale_kinds();

// The same of float operators between DequantizeLinear and QuantizeLinear. Where they become
// integer operators these round elsewhere, so that the reference of the model as it is proves
// nothing.
Case extreme_float_groups(int index);

// QLinearAdd, QLinearMul and QLinearAveragePool whose largest results are just below, at and above
// 2^31 output steps; none is refused.
std::vector<Case> scales_around_int32();

}  // namespace etch
