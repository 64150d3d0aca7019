// Quantization nodes of QONNX, written as QuantizeLinear and DequantizeLinear; see quant.cc.
#pragma once

#include "compiler/passes/compositions/parts.h"

namespace etch {

bool is_qonnx(const Node& node);
void write_quant(Parts& parts);

}  // namespace etch
