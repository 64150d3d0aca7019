// Products whose weights, scales or zero points are known at run time, with the runtime's plain
// loops (templates/kernels/products/products.h). Serves every such operator; constant weights are
// better off with kernels/conv/convolution.h.
#pragma once

#include <optional>

#include "compiler/ir/geometry/convolution.h"
#include "compiler/ir/geometry/matrix_product.h"
#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/products/products.h"

namespace etch {

ETCH_PLAN_STEP(GeneralConvStep, GeneralConvPlan, general_conv_kernel, kDependent);
ETCH_PLAN_STEP(GeneralMatMulStep, GeneralMatMulPlan, general_matmul_kernel, kDependent);
ETCH_PLAN_STEP(FoldStep, FoldPlan, fold_kernel, kDependent);
ETCH_PLAN_STEP(AddToRowsStep, AddToRowsPlan, add_to_rows_kernel, kDependent);
ETCH_PLAN_STEP(FillZeroPointStep, FillZeroPointPlan, fill_zero_point_kernel, kDependent);
ETCH_PLAN_STEP(FloatPoolStep, FloatPoolPlan, float_pool_kernel, kDependent);

// Which inputs of a node are what; -1 or an omitted input: zero point 0, no bias.
struct ProductInputs {
  int x = 0, x_zero_point = -1;
  int w = 1, w_zero_point = -1;
  // Only with 8-bit output:
  int x_scale = -1, w_scale = -1, y_scale = -1, y_zero_point = -1, bias = -1;
};

// Those of QLinearMatMul, and with a bias, input 8, of QLinearConv and QLinearConvTranspose.
constexpr ProductInputs kQLinearInputs{.x = 0,
                                       .x_zero_point = 2,
                                       .w = 3,
                                       .w_zero_point = 5,
                                       .x_scale = 1,
                                       .w_scale = 4,
                                       .y_scale = 6,
                                       .y_zero_point = 7};

void add_general_conv(Lowering& lowering, const Node& node, const ConvGeometry& geometry,
                      const ProductInputs& inputs);

void add_general_matmul(Lowering& lowering, const Node& node, const MatMulGeometry& geometry,
                        const ProductInputs& inputs);

// The axes of a convolution or pooling for the runtime, outermost first; missing ones have size 1.
// x and y have the dimensions N, C, spatial...
void set_runtime_axes(rt::ConvAxis (&out)[3], const std::vector<ConvAxis>& axes, const View& x,
                      const View& y);

}  // namespace etch
