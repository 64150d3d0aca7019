// DepthToSpace and SpaceToDepth (ai.onnx, since 1): channels become blocks of pixels, and back.
// Input [N, C, H, W], blocks of `blocksize` (> 0) by `blocksize` pixels.
//   DepthToSpace  [N, C / b^2, H * b, W * b]. Pixel (i, j) of a block comes from channel
//                 (i * b + j) * C / b^2 + c in mode DCR (default), c * b^2 + i * b + j in mode CRD
//                 (opset 11)
//   SpaceToDepth  [N, C * b^2, H / b, W / b]: the inverse of mode DCR
#pragma once

#include <cstdint>

#include "compiler/ir/tensor.h"

namespace etch {

struct BlockMove {
  enum class Kind { kDepthFirst, kColumnFirst, kToDepth };  // DCR, CRD, SpaceToDepth
  Kind kind = Kind::kDepthFirst;
  std::int64_t block = 1;
  std::int64_t batch = 1;
  std::int64_t channels = 1, height = 1, width = 1;  // of the side with few channels, in blocks
  Shape shape;                                       // of the output
};

}  // namespace etch
