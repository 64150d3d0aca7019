// GatherElements (ai.onnx, since 11): each output element is the one of `data` at the same place
// except along `axis` (default 0), where `indices` gives the position.
//   indices  int32 or int64 of data's rank, not larger than data on the other axes; in
//            [-size, size - 1], negative ones count from the end. Constant ones outside are
//            reported; at run time they are limited to the axis.
#pragma once

#include <cstdint>

#include "compiler/ir/tensor.h"

namespace etch {

struct GatherElements {
  std::size_t axis = 0;
  std::int64_t size = 1;  // of data along the axis
  Shape shape;            // of indices and of the output
};

}  // namespace etch
