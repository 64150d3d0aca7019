// The shapes of matrix products: numpy's matmul with broadcast batches (MatMul, MatMulInteger,
// QLinearMatMul) and the two-dimensional form with transposition and bias (Gemm, QGemm).
#pragma once

#include <cstddef>
#include <cstdint>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ir/tensor.h"

namespace etch {

// y[batch..., m, n] = sum over k of a[a_batch..., m, k] * b[b_batch..., k, n]. A one-dimensional
// a counts as one row and a one-dimensional b as one column; that axis is absent from `output`.
struct MatMulGeometry {
  Shape batch;    // broadcast of a_batch and b_batch
  Shape a_batch;  // leading sizes of a; a holds element_count(a_batch) matrices
  Shape b_batch;
  std::int64_t rows = 1;   // M
  std::int64_t depth = 1;  // K
  std::int64_t cols = 1;   // N
  Shape output;
};

// y[m, n] = sum over k of A[m, k] * B[k, n], plus C broadcast to [M, N] where there is one.
struct GemmGeometry {
  std::int64_t rows = 1;          // M
  std::int64_t depth = 1;         // K
  std::int64_t cols = 1;          // N
  bool transposed_a = false;      // the tensor is [K, M]
  bool transposed_b = false;      // the tensor is [N, K]
  std::int64_t c_row_stride = 0;  // C[m, n] is element m * c_row_stride + n * c_col_stride;
  std::int64_t c_col_stride = 0;  // 0 along an axis that is broadcast

  std::size_t a_index(std::int64_t m, std::int64_t k) const {
    return as_index(transposed_a ? k * rows + m : m * depth + k);
  }
  std::size_t b_index(std::int64_t k, std::int64_t n) const {
    return as_index(transposed_b ? n * depth + k : k * cols + n);
  }
  std::size_t c_index(std::int64_t m, std::int64_t n) const {
    return as_index(m * c_row_stride + n * c_col_stride);
  }
};

}  // namespace etch
