// Float convolutions and matrix products (runtime/etch_float_products.h). Constant weights are
// packed here; others by a step of their own, once per inference.
#pragma once

#include <limits>

#include "compiler/ir/geometry/convolution.h"
#include "compiler/ir/geometry/matrix_product.h"
#include "compiler/lower/arguments.h"
#include "compiler/lower/lowering.h"
#include "runtime/etch_float_products.h"

namespace etch {

// A step that packs input `i`, dense and row-major, into panels at run time; their memory.
View pack_at_run_time(Lowering& lowering, const Node& node, int i, const rt::PackShape& shape);

// Input `i` of `node` in panels, as an argument of a step.
Input packed_weights(Lowering& lowering, const Node& node, int i, const rt::PackShape& shape,
                     StepArguments& arguments, const char* name = "w",
                     const char* constant_name = "weights");

// Inputs x, w and, where there is one, a bias [M].
struct AfterConv {
  bool relu = false;                                    // 0 for what is below 0
  float most = std::numeric_limits<float>::infinity();  // with relu, for what is above it
};
void add_float_conv(Lowering& lowering, const Node& node, const ConvGeometry& geometry,
                    AfterConv after = {});

// Inputs a and b.
void add_float_matmul(Lowering& lowering, const Node& node, const MatMulGeometry& geometry);

// Inputs A, B and, where there is one, C.
struct GemmFactors {
  float alpha = 1;
  float beta = 1;
};
void add_float_gemm(Lowering& lowering, const Node& node, const GemmGeometry& geometry,
                    GemmFactors factors);

}  // namespace etch
