// Clip (ai.onnx, since 6): y = min(max(x, low), high), so that y = high when low > high.
//   min, max  attributes before opset 11; from then on constant inputs 1 and 2 with one element of
//             x's type; absent: the least or greatest value, not an infinity
//   types     float32; from opset 12 on also int8, uint8, int32
#pragma once

namespace etch {

struct Clip {
  double low = 0;   // exactly a value of x's type; its least value when absent
  double high = 0;  // as low
};

}  // namespace etch
