// The ranges of TensorFlow's QuantizeV2: how min_range and max_range become the range that is used
// (docs/spec/quantize_v2.md section 7.1) and the factor that each mode multiplies by (sections 7.2
// to 7.4). Written with <cmath> for the compiler; runtime/etch_quantize.h has the same without
// libm.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/ir/dtype.h"

namespace etch {

// Values are what runtime/etch_quantize.h calls them.
enum class RangeMode { kMinCombined = 0, kMinFirst = 1, kScaled = 2 };

std::string_view name_of(RangeMode mode);  // "MIN_COMBINED"
std::optional<RangeMode> range_mode(std::string_view name);

// "qint8" for kS8 and so on; TensorFlow's five quantized types.
std::string_view tensorflow_name(DType type);
std::optional<DType> tensorflow_type(std::string_view name);
// The type for ONNX's number of an element type, if it is one of the five.
std::optional<DType> tensorflow_type(std::int64_t onnx_number);

// Everything about a quantization but its ranges.
struct QuantizeV2Rule {
  RangeMode mode = RangeMode::kMinCombined;
  bool half_to_even = false;  // only SCALED
  bool narrow_range = false;  // only SCALED uses it
  float ensure_minimum_range = 0.01F;
  DType type = DType::kU8;
};

// `v`, or 0 of its sign when it is subnormal: TensorFlow runs its kernels with subnormal operands
// and results taken for 0.
float flushed(float v);

// The least quantized value: one more than the type's with SCALED and narrow_range.
std::int64_t least_of(const QuantizeV2Rule& rule);

struct QuantizeV2Range {
  float low = 0, high = 0;  // output_min and output_max
  float scale = 1;          // real values are multiplied by it
  float rounded_low = 0;    // MIN_FIRST: low * scale as an integer
};

// Never fails: min > max and NaN give some range, as they do at run time.
QuantizeV2Range quantize_v2_range(float min, float max, const QuantizeV2Rule& rule);

// True when every finite real value has a finite product: low, high and scale are finite.
bool is_usable(const QuantizeV2Range& range);

}  // namespace etch
