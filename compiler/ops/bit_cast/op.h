// BitCast (ai.onnx, since 26): the same bits read as elements of the type that the attribute `to`
// names (the number of an ONNX data type).
//   types  float32 and integers of 8 to 64 bits, both of one width; bool as source only, because
//          bits other than 0 and 1 are no bool. float16, bfloat16 and float64 are float32 where
//          anything is computed (passes/other_floats.h), so that their bits are not at hand.
// Nothing is to do at run time: the memory stays, and who reads it sees the other type. Between
// int8 and uint8, which may be kept differently, it is written as a Cast
// (compositions/pointwise.cc).
#pragma once

#include "compiler/ir/dtype.h"

namespace etch {

struct BitCast {
  DType from = DType::kF32;
  DType to = DType::kF32;
};

}  // namespace etch
