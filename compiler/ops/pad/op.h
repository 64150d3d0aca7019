// Pad (ai.onnx, since 2; com.microsoft, since 1): elements are added before and after each axis.
//   pads            begin of every axis, then end of every axis; a negative one removes elements.
//                   An attribute before opset 11, constant input 1 from then on.
//   constant_value  mode constant: the new elements, default 0; the attribute `value` (float32
//                   only) before opset 11, input 2 from then on, which must be constant
//   axes            constant input 3 (opset 18): the axes that `pads` is about; default: all
//   mode            constant; edge: the nearest element; reflect: mirrored at the first and the
//                   last element, which are not repeated; wrap (opset 19): as if the tensor went on
//                   periodically
// Removing comes first: the other modes look at what is left. Mirrored pads must be shorter than
// that, and there must be something to repeat.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/tensor.h"

namespace etch {

struct PadAxis {
  std::int64_t first = 0;           // element of the input that is left after removing, >= 0
  std::int64_t size = 0;            // how many are left
  std::int64_t begin = 0, end = 0;  // how many are added, >= 0
};

struct Pad {
  enum class Mode { kConstant, kEdge, kReflect, kWrap };
  Mode mode = Mode::kConstant;
  std::vector<PadAxis> axes;  // one per axis
  Tensor value;               // one element of the data's type
  Shape shape;                // of the output
};

// The element of the input for position `at` of the output along `axis`, or -1 in the constant
// part.
std::int64_t source_of(const PadAxis& axis, Pad::Mode mode, std::int64_t at);

}  // namespace etch
