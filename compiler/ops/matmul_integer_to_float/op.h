// MatMulIntegerToFloat, DynamicQuantizeMatMul (com.microsoft, since 1): an integer matrix product
// that comes back as float32.
//
//   MatMulIntegerToFloat   A u8/s8, B u8/s8, a_scale, b_scale, [a_zero_point], [b_zero_point],
//                          [bias]
//   DynamicQuantizeMatMul  A float32, B u8/s8, b_scale, [b_zero_point], [bias]: A is quantized by
//                          DynamicQuantizeLinear first
//   Scales and zero points of A are [] or [1], those of B also [N]; bias float32 [N]. Shapes of A
//   and B as for MatMul.
//
// With the int32 sum of (a - a_zero_point) * (b - b_zero_point), modulo 2^32,
//   y = fl( fl( fl(sum) * fl(a_scale * b_scale[n]) ) + bias[n] )
// (docs/spec/products.md section 5.7).
//
// There is no lowering: passes/expand.h writes both as DynamicQuantizeLinear, MatMulInteger, Cast,
// Mul and Add, which take exactly these steps.
#pragma once

#include <optional>

#include "compiler/ops/matmul_geometry/geometry.h"

namespace etch {

// Numbers of the node's inputs; -1: the operator has none.
struct IntegerToFloatInputs {
  int a_scale = -1, b_scale = -1, a_zero_point = -1, b_zero_point = -1, bias = -1;
};

struct MatMulIntegerToFloat {
  MatMulGeometry geometry;
  IntegerToFloatInputs inputs;
  bool quantizes_a = false;  // A is float32
};

std::vector<Tensor> reference_matmul_integer_to_float(const Node& node,
                                                      std::span<const Tensor* const> inputs);

}  // namespace etch
