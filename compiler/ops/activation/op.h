// Relu, LeakyRelu, Sigmoid (ai.onnx, since 6), Round (since 11): y = f(x) for each float32 element.
//   Relu       x < 0 ? 0 : x, so that -0 and NaN stay; since 14 of int8, int16, int32, int64, too
//   LeakyRelu  x >= 0 ? x : fl(alpha * x), alpha default 0.01
//   Sigmoid    1 / (1 + e^-x) by the rational function below, which is ONNX Runtime's on x64 with
//              FMA
//   Round      to the nearest integer, ties to even; -0 stays
#pragma once

namespace etch {

struct Activation {
  enum class Kind { kRelu, kLeakyRelu, kSigmoid, kRound };
  Kind kind = Kind::kRelu;
  float alpha = 0.0F;  // of LeakyRelu
};

// One element.
float activate(const Activation& activation, float x);

// 1 / (1 + e^-x): x limited to [-18, 18], an odd polynomial over an even one, plus 1/2. Every step
// but the division is a fused multiply-add.
float sigmoid_f32(float x);

}  // namespace etch
