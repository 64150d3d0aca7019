// QuantizeLinear and DequantizeLinear with arguments instead of constants: any granularity, any
// of the types that the kernels know, parameters known at run time or not.
#pragma once

#include "compiler/ir/geometry/quantization_axis.h"
#include "compiler/lower/lowering.h"

namespace etch {

// y = QuantizeLinear(x, scale, zero point) from inputs `x`, `scale` and `zero` of `node` to its
// output 0, of `type`. Refuses 4-bit types.
void add_quantization(Lowering& lowering, const Node& node, const QuantizationAxis& axis,
                      DType type);

// y = DequantizeLinear(x, scale, zero point), in the same way.
void add_dequantization(Lowering& lowering, const Node& node, const QuantizationAxis& axis);

// y = QuantizeLinear(x) with per-tensor parameters that a step before has put into `scale` and
// `zero_point` (uint8).
void add_dynamic_quantization(Lowering& lowering, const Node& node, const View& scale,
                              const View& zero_point);

}  // namespace etch
