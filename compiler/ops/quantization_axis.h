// Reads and checks the attributes that say how the parameters of QuantizeLinear and
// DequantizeLinear are spread over a tensor.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/geometry/quantization_axis.h"
#include "compiler/ops/op.h"

namespace etch {

struct ResolvedQuantizationAxis {
  QuantizationAxis axis;
  std::vector<Shape> shapes;  // that scale and zero point may have
};

// Consumes `axis` and, where the operator has it (ai.onnx 21), `block_size` of a node that
// quantizes input 0 with the scale in input 1. A scale of one element is per tensor whatever the
// axis. Reports E-ATTR for an axis or block size out of range.
std::optional<ResolvedQuantizationAxis> resolve_quantization_axis(ResolveContext& context);

}  // namespace etch
