// Cast (ai.onnx, since 6): converts the element type to the one that the attribute `to` names (the
// number of an ONNX data type).
//   types            float32, float64, bool, all integers; float16 and bfloat16 as source only;
//                    floats not to int4 and uint4: ONNX and ONNX Runtime round differently there
//   float to integer truncates towards zero. A value that does not fit gives what ONNX Runtime
//                    gives on x64: through int32 (for int64, uint32 and uint64 through int64), the
//                    low bits kept; NaN and what does not fit there either counts as the least
//                    value.
//   integer to integer keeps the low bits; anything but 0 is true
// `saturate` (opset 19) only matters for float8 and is accepted.
#pragma once

#include "compiler/ir/dtype.h"

namespace etch {

struct Cast {
  DType from = DType::kF32;
  DType to = DType::kF32;
};

}  // namespace etch
