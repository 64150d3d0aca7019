// Add, Sub, Mul, Div (ai.onnx, since 7), Mod (10) of two inputs, Max, Min, Sum and Mean (since 8)
// of one or more, from the left: elementwise with numpy broadcasting, on float32 and on integers of
// 8, 16, 32 and 64 bits; Sum and Mean on float32 only. All inputs have
// one element type. Float operations round once; NaN, infinities and division by 0 as IEEE 754
// says. Integer sums and products wrap; integer division truncates, a constant divisor 0 is
// refused, one at run time gives 0. A NaN is both largest and smallest.
//   Mean  fl(sum * fl(1 / n)) of n inputs, as ONNX Runtime has it
//   Mod   fmod = 0 (default): what is left has the sign of the divisor; integers only
//         fmod = 1: the sign of the dividend, as C's % and fmod, which is exact
//   BitwiseAnd, BitwiseOr, BitwiseXor (18), BitShift (11)    of two inputs,
//         integers only; a shift by less than 0 or by the width of the type and more leaves no
//         bit; from above come copies of the sign
#pragma once

#include "compiler/ir/geometry/strided.h"

namespace etch {

struct Arithmetic {
  enum class Kind {
    kAdd,
    kSub,
    kMul,
    kDiv,
    kMax,
    kMin,
    kMod,
    kRemainder,
    kMean,
    kBitAnd,
    kBitOr,
    kBitXor,
    kShiftLeft,
    kShiftRight
  };
  Kind kind = Kind::kAdd;
  Shape shape;                      // of the output
  std::vector<StridedView> inputs;  // broadcast to `shape`
};

}  // namespace etch
