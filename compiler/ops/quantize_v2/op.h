// QuantizeV2 of TensorFlow (alias Quantize), in the domain org.tensorflow: float to integer by a
// range of real values instead of scale and zero point.
//
//   Inputs: input float32, min_range and max_range float32. Attributes as TensorFlow has them: T
//   ("qint8", "quint8", "qint16", "quint16", "qint32", or ONNX's number of the element type),
//   mode (MIN_COMBINED, MIN_FIRST, SCALED), round_mode (HALF_AWAY_FROM_ZERO, HALF_TO_EVEN),
//   narrow_range, axis, ensure_minimum_range. Outputs: output of type T, output_min, output_max.
//   axis -1: min_range and max_range hold one value each; else one per index of that axis.
//   With one slice output_min and output_max are scalars, else they have the shape of min_range.
//
// docs/spec/quantize_v2.md. NaN gives the least value, and what exceeds T saturates, where
// TensorFlow's result depends on the CPU (docs/operators/quantize_v2.md).
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ops/op.h"
#include "compiler/ops/quantize_v2/range.h"

namespace etch {

// The input as slices that have their own range: index = (outer * count + slice) * inner + i.
struct RangeSlices {
  int axis = -1;  // -1: the whole tensor is one slice
  std::int64_t count = 1;
  std::int64_t inner = 1;

  std::int64_t slice_of(std::int64_t element) const {
    return axis < 0 ? 0 : element / inner % count;
  }
};

struct QuantizeV2Params {
  QuantizeV2Rule rule;
  RangeSlices slices;
  std::vector<QuantizeV2Range> ranges;  // one per slice; empty: known at run time only
};

// The attributes `mode` and `axis` with min_range and max_range at inputs 1 and 2, as Quantize and
// Dequantize share them. E-ATTR, E-TYPE, E-SHAPE; E-UNSUPPORTED for MIN_FIRST with several slices,
// which TensorFlow refuses too. Absent after an error.
RangeMode mode_attr(ResolveContext& context);
std::optional<RangeSlices> resolve_slices(ResolveContext& context, RangeMode mode);

// `v` to a float integer, ties away from zero or to even, then to the type: NaN gives `least`.
std::int32_t saturated(float v, std::int64_t least, std::int64_t most);

std::vector<Tensor> reference_quantize_v2(const Node& node, std::span<const Tensor* const> inputs);

}  // namespace etch
