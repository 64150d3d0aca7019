// Functions of one float32, element by element: y = f(x).
//   Abs, Ceil, Floor, Neg, Reciprocal, Sqrt (ai.onnx, since 6), Sign (9)    as IEEE 754 has them
//   Exp, Log (6), Erf (9), Tanh (6)
//   Sin, Cos, Tan, Asin, Acos, Atan (7), Sinh, Cosh, Asinh, Acosh, Atanh (9)
//                         the nearest float except in rare cases, Asin, Acos and Atan within 1.6
//                         units of the last place; NaN where there is no result
//   Elu (6)               x >= 0 ? x : alpha (e^x - 1), alpha default 1
//   Celu (12)             x > 0 ? x : alpha (e^(x/alpha) - 1), alpha default 1
//   Selu (6)              gamma (x > 0 ? x : alpha (e^x - 1)); alpha 1.6732632, gamma 1.050701
//   HardSigmoid (6)       min(max(fl(fl(alpha x) + beta), 0), 1), alpha default 0.2, beta 0.5
//   HardSwish (14)        x HardSigmoid(x) with alpha 1/6, beta 0.5
//   Softplus (1)          ln(1 + e^x)
//   Softsign (1)          fl(1 / (1 + |x|)) x
//   ThresholdedRelu (10)  x > alpha ? x : 0, alpha default 1
//   Mish (18)             x tanh(Softplus(x))
//   Gelu (20, com.microsoft 1)  x/2 (1 + erf(x / sqrt 2)), or with ai.onnx's approximate = "tanh"
//                         x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
//   QuickGelu (com.microsoft 1)  x Sigmoid(alpha x), alpha default 1.702
// Exact functions are exact, HardSigmoid and HardSwish round as written; the others are the
// runtime's (runtime/etch_functions.h, etch_trigonometry.h), within 2e-6 of the truth. Exp, Tanh
// and Sigmoid are ONNX Runtime's bit for bit. Abs, Neg and Sign take integers of 8 to 64 bits too
// (Neg: signed ones), where Abs and Neg wrap.
#pragma once

#include "templates/kernels/rows/function.h"

namespace etch {

struct FloatFunction {
  Function function = Function::kAbs;
  float alpha = 0, beta = 0;  // where the function has them
};

}  // namespace etch
