// What the lowerings of QuantizeV2 and Dequantize share.
#pragma once

#include "compiler/kernels/quantize/quantize_v2.h"
#include "compiler/lower/arguments.h"
#include "compiler/ops/quantize_v2/op.h"

namespace etch {

// mode, and the least and greatest value of the rule.
void plan_rule(RangePlan& plan, const QuantizeV2Rule& rule);

// Nest and slices of the vector kernels over `x` and `y`, which have the same order in memory.
void plan_vectors(SlicedPlan& plan, const RangeSlices& slices, const View& x, const View& y);

// The constant arrays "scale" and "offset" of several slices; nothing for one.
void add_slice_constants(Step& step, const SlicedPlan& plan, int lanes, const char* offset_comment);

// The operands of a node whose inputs are x, min_range and max_range and whose output is at `y`,
// and the rows over them.
void plan_rows(RangePlan& plan, const RangeSlices& slices, StepArguments& arguments, const View& y);

// How the 8- to 32-bit side is kept.
RangeElement element_of(DType quantized);

}  // namespace etch
