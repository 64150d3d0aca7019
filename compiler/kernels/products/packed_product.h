// Products of two matrices that arrive at run time, on the tiles of products with constant weights:
// the step packs the second matrix itself (templates/kernels/products/packed_product.h). Serves one
// zero point per tensor, known or not, and scales that are known; general.h serves the rest.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/geometry/matrix_product.h"
#include "compiler/kernels/conv/problem.h"
#include "compiler/kernels/products/general.h"
#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/products/packed_product.h"

namespace etch {

ETCH_PLAN_STEP(PackedProductStep, PackedProductPlan, packed_product_kernel, kDependent);

struct PackedProduct {
  MatMulGeometry geometry;
  ProductInputs inputs;               // those of scales and of y's zero point are not read
  std::optional<int> a_zero, b_zero;  // as in the model; nothing if known at run time only
  std::vector<float> scale;           // per column; empty: int32 results
  Requantize out;                     // zero point and limits as in the model
};

// The one value of a zero point with any number of entries; nothing if there are several.
std::optional<int> common_zero_point(const std::vector<int>& zero_point);

// Whether input `i` of the node is omitted or has one element.
bool is_per_tensor(const Lowering& lowering, const Node& node, int i);

// Neither depth nor output may be empty.
void add_packed_product(Lowering& lowering, const Node& node, const PackedProduct& product);

// The zero point of the bytes as they are stored.
std::optional<int> moved(std::optional<int> zero, const rt::Stored& stored);

// In elements; 0 where the view lacks the dimension.
std::int64_t step_of_dimension(const View& view, int from_the_end);

// The product of one pair as a convolution whose weights the step packs.
ConvProblem packed_problem(const Lowering& lowering, const PackedProduct& product, const View& a,
                           const View& b, const View& y);

// Those axes first along which b changes, so that it is packed once for the others.
MatrixPairs matrix_pairs(const Shape& batch, const View& a, const View& b, const View& y);

// Steps of an operand's matrices along the dimensions of the broadcast batch, in elements.
std::vector<std::int64_t> batch_steps(const View& view, const Shape& batch);

}  // namespace etch
