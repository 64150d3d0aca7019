// GatherBlockQuantized (com.microsoft, since 1): slices of a constant table of 2, 4 or 8 bits,
// picked by indices and dequantized with a scale and a zero point per block of the last axis.
//
//   data         int4, uint4, or uint8 with 8 / bits values in a byte, the first in the low bits
//   indices      int32 or int64, any shape; negative ones count from the end; one outside of
//                [-size, size - 1] gives a slice of zeros
//   scales       float32: shape of the values, the last axis in blocks of block_size
//   zero_points  of data's type and scales' shape, those of uint8 packed along the last axis too;
//                omitted: 0, of uint8 2^(bits - 1)
//   output       float32, axis 0 replaced by the shape of indices: fl((q - zero) * scale)
//
// gather_axis is 0 (the default); quantize_axis is the last (default 1). block_size (default 128)
// is a power of two from 16 on. Where a slice has several rows, the last axis is a whole number of
// blocks. data, scales and zero points are constants, and stay packed in generated code.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/tensor.h"
#include "compiler/ops/op.h"

namespace etch {

struct GatherBlockQuantized {
  std::int64_t size = 1;   // rows of the table
  std::int64_t inner = 1;  // values of one
  std::int64_t last = 1;   // of them along the last axis
  std::int64_t bits = 4, block = 128;
  DType type = DType::kU8;  // of data
  Shape shape;              // of the output

  std::int64_t row_scales() const { return inner / last * ((last - 1) / block + 1); }
  // The integer of `data` at place k of a row.
  int value_at(const Tensor& data, std::int64_t row, std::int64_t k) const;
  // The zero point that belongs to entry `i` of the scales of a row; `zeros` may be null.
  int zero_at(const Tensor* zeros, std::int64_t row, std::int64_t i) const;
};

std::vector<Tensor> reference_gather_block_quantized(const Node& node,
                                                     std::span<const Tensor* const> inputs);
void lower_gather_block_quantized(Lowering& lowering, const Node& node);

}  // namespace etch
