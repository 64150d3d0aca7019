// Shape rules of matrix products: numpy's matmul with broadcast batches (MatMul, MatMulInteger,
// QLinearMatMul) and the two-dimensional form with transposition and bias (Gemm, QGemm).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/geometry/matrix_product.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"

namespace etch {

// From inputs `a` and `b`. Reports E-SHAPE and returns nothing when they do not fit.
std::optional<MatMulGeometry> resolve_matmul_geometry(ResolveContext& context, int a, int b);

// Shapes that per-row (of a) or per-column (of b) parameters may have: [], [1], [size], or the
// operand's own batch with the summed axis of size 1. Entry i of such a vector belongs to row
// (column) i; with batches to i = matrix * size + row.
std::vector<Shape> per_row_shapes(const MatMulGeometry& geometry);
std::vector<Shape> per_column_shapes(const MatMulGeometry& geometry);

// One element of y: flat index, and which row of a and column of b made it, counted over all
// matrices. Parameters p of a row are p[a_row % p.size()], those of a column in the same way.
struct MatMulElement {
  std::size_t y;
  std::size_t a_row;
  std::size_t b_col;
};

// For every element of y: sum = Sum(0); for k ascending: sum += product(a index, b index,
// element); store(element, sum).
template <class Sum, class Product, class Store>
void run_matmul(const MatMulGeometry& g, Product product, Store store) {
  const StridedView a_view = broadcast_view(g.a_batch, g.batch);
  const StridedView b_view = broadcast_view(g.b_batch, g.batch);
  std::size_t y = 0;
  const std::array<const StridedView*, 2> views{&a_view, &b_view};
  for_each(g.batch, views, [&](const std::array<std::int64_t, 2>& matrix) {
    for (std::int64_t m = 0; m < g.rows; ++m) {
      for (std::int64_t n = 0; n < g.cols; ++n) {
        const MatMulElement element{y++, as_index(matrix[0] * g.rows + m),
                                    as_index(matrix[1] * g.cols + n)};
        Sum sum = 0;
        for (std::int64_t k = 0; k < g.depth; ++k) {
          const std::int64_t a = (matrix[0] * g.rows + m) * g.depth + k;
          const std::int64_t b = (matrix[1] * g.depth + k) * g.cols + n;
          sum += product(as_index(a), as_index(b), element);
        }
        store(element, sum);
      }
    }
  });
}

// Consumes transA and transB. Reports E-ATTR, E-SHAPE; returns nothing when the node is wrong.
struct GemmInputs {
  int a = 0;
  int b = 1;
  int c = 2;  // may be omitted
};
std::optional<GemmGeometry> resolve_gemm_geometry(ResolveContext& context, GemmInputs inputs);

}  // namespace etch
