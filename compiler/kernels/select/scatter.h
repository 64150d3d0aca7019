// Steps that write at indices known at run time, and running sums and products along an axis.
#pragma once

#include "compiler/lower/lowering.h"
#include "templates/kernels/select/scatter.h"

namespace etch {

// Output 0 is input 0, of shape [rows, width], where the rows that input 1 lists are combined with
// those of input 2, one after the other. float32, int32 or int64.
void add_scatter(Lowering& lowering, const Node& node, ScatterPlan::Kind kind);

// Output 0 is the running sum or product of input 0 along `axis`. float32, int32 or int64.
void add_scan(Lowering& lowering, const Node& node, std::size_t axis, bool multiplies,
              bool exclusive, bool reverse);

}  // namespace etch
