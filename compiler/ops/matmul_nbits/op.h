// MatMulNBits (com.microsoft, since 1): a product of floats and constant weights of 2, 4 or 8 bits
// with a scale and a zero point for every block of the depth.
//
//   A            float32 [..., K]
//   B            uint8 [N, blocks, ceil(block_size * bits / 8)], blocks = ceil(K / block_size): the
//                values of a block one after the other, the first in the low bits
//   scales       float32, N * blocks of them
//   zero_points  omitted: 2^(bits - 1); uint8: packed as B is, in ceil(blocks * bits / 8) bytes for
//                each column; or float32, N * blocks of them
//   g_idx        omitted: compiler/passes/compositions/grouped_weights.h takes it out
//   bias         float32 [N], may be omitted
//   Y            float32 [..., N]
//   B, scales and zero points are constants. block_size is a power of two from 16 on; in the domain
//   of Etch, where passes make such nodes of DequantizeLinear and MatMul, any number from 1 on.
//
// accuracy_level 0 to 3, and always with float zero points, and with 2 bits in blocks of less than
// 32 or more than 128 (not in the domain of Etch):
//   w = fl(fl(q - zero) * scale);  y = ((0 + p0) + p1) ..., p = fl(a * w), k ascending
// accuracy_level 4: each block of each row of A, of larger blocks every 256 values, is quantized to
// int8 first, with s = fl(largest magnitude / 127) and q_a = rne(fl(a * fl(127 / largest))),
// limited to [-127, 127]:
//   y = ((0 + t0) + t1) ..., t = fl(d * fl(s * scale)), d = the sum of q_a * (q - zero) in the
//   block, |d| < 2^23
// Both add the bias last. ONNX Runtime sums in orders of its own, which differ between machines.
#pragma once

#include <algorithm>
#include <cstdint>

#include "compiler/ir/tensor.h"
#include "compiler/ops/op.h"

namespace etch {

struct MatMulNBits {
  std::int64_t rows = 0, depth = 1, cols = 1;
  std::int64_t bits = 4, block = 32, blocks = 1;
  bool quantizes_a = false;

  // Values of a row of A with one scale, if it is quantized.
  std::int64_t row_block() const { return std::min<std::int64_t>(block, 256); }
  // Which block of B has those of block `i` of a row.
  std::int64_t block_of_row(std::int64_t i) const { return i * row_block() / block; }
  std::int64_t block_bytes() const { return (block * bits + 7) / 8; }
  // The integer of B at depth k of column n.
  int value_at(const Tensor& b, std::int64_t n, std::int64_t k) const;
  // The zero point of block `i` of column n; `zeros` may be null.
  float zero_at(const Tensor* zeros, std::int64_t n, std::int64_t i) const;
};

std::vector<Tensor> reference_matmul_nbits(const Node& node, std::span<const Tensor* const> inputs);
void lower_matmul_nbits(Lowering& lowering, const Node& node);

}  // namespace etch
