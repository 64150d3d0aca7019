// Dequantize of TensorFlow, in the domain org.tensorflow: the way back from QuantizeV2.
//
//   Inputs: input of type T, min_range and max_range float32, usually QuantizeV2's output_min and
//   output_max; they are taken as they are. Attributes: T (optional: the input's type), mode,
//   narrow_range, axis as for QuantizeV2; dtype float only. Output: float32.
//
// docs/spec/quantize_v2.md section 7.7.
#pragma once

#include "compiler/ops/quantize_v2/op.h"

namespace etch {

struct DequantizeParams {
  RangeMode mode = RangeMode::kMinCombined;
  bool narrow_range = false;  // only SCALED uses it
  DType type = DType::kU8;
  RangeSlices slices;
};

std::vector<Tensor> reference_dequantize(const Node& node, std::span<const Tensor* const> inputs);

}  // namespace etch
