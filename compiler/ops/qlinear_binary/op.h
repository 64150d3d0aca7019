// QLinearAdd, QLinearMul (com.microsoft, since 1): elementwise on 8-bit tensors of one type, with
// numpy broadcasting.
//   inputs  A, A_scale, A_zero_point, B, B_scale, B_zero_point, C_scale, C_zero_point
// Arithmetic (docs/spec/qlinear.md sections 6.2 and 6.3, as ONNX Runtime on x64 with FMA), a and b
// the raw integers:
//   Add  rA = fl(sa/sc), rB = fl(sb/sc), F = fl(zc - fma(rA, za, fl(rB*zb)))
//        c = saturate(rne(fma(a, rA, fma(b, rB, F)))); a and b trade places, with their scales and
//        zero points, when A is the side that broadcasts along the innermost axis
//   Mul  c = saturate(rne(fl(fl(float((a-za)*(b-zb)) * fl(fl(sa*sb)/sc)) + zc)))
// The sum is clamped to the type before it is rounded, and so saturates as DequantizeLinear, Add,
// QuantizeLinear do. A product of 2^31 steps or more gives the least value, whichever its sign, as
// it does in ONNX Runtime. Of the domain org.etch they have a fused activation: attributes
// clamp_low and clamp_high, integers of the type, low <= high; c = min(max(c, clamp_low),
// clamp_high).
#pragma once

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/scalar_quantization.h"

namespace etch {

struct QLinearBinary {
  enum class Kind { kAdd, kMul };
  Kind kind = Kind::kAdd;
  DType dtype = DType::kU8;
  ScalarQuantization a, b, c;
  Shape shape;  // of the output
  StridedView a_view, b_view;
  bool swapped = false;        // Add takes B in the role of a
  bool at_run_time = false;    // a, b and c are not known: the values of the inputs count
  int low = -128, high = 255;  // limits of c; those of its type when nothing is fused
};

// Reports E-QUANT where a sum of elements of these scales could become infinite, and so of the
// wrong sign: its zero points come first.
void check_sum_ratios(ResolveContext& context, float a_scale, float b_scale, float y_scale);

// Of QLinearMul with known scales: whether the float that is rounded can be 2^31 or more. Groups of
// DequantizeLinear, Mul, QuantizeLinear, which saturate, then stay float.
bool product_may_leave_int32(const QLinearBinary& params);

// Of known scales: whether DequantizeLinear, Add or Mul, and QuantizeLinear give the same in floats
// for every pair of bytes, as they do where all scales are powers of two and c's zero point is
// even.
bool equals_floats(const QLinearBinary& params);

// One element; the factors that do not depend on it are made once.
class QLinearBinaryFunction {
 public:
  explicit QLinearBinaryFunction(const QLinearBinary& params);
  std::int32_t operator()(std::int32_t a, std::int32_t b) const;

 private:
  std::int32_t unlimited(std::int32_t a, std::int32_t b) const;

  const QLinearBinary& params_;
  float ratio_a_ = 0, ratio_b_ = 0, offset_ = 0;  // Add, after the exchange
  float scale_ = 0;                               // Mul
};

}  // namespace etch
