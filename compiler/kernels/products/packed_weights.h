// Float products whose constant weights stay integers of 2, 4 or 8 bits
// (runtime/etch_packed_weights.h): their order in panels, and the step.
#pragma once

#include <cstdint>
#include <functional>

#include "compiler/lower/lowering.h"

namespace etch {

// A product of `rows` rows of the node's input 0, and how to read its weights: column n, depth k,
// block i of the depth.
struct PackedWeights {
  std::int64_t rows = 0, depth = 1, cols = 1;
  int bits = 4;
  std::int64_t block = 32;   // at most 256 if rows are quantized
  bool quantizes_a = false;  // in blocks to int8, else the sums are of floats
  bool float_zeros = false;  // zero points that are not integers
  bool one_zero = false;     // the same everywhere
  std::function<int(std::int64_t n, std::int64_t k)> value_at;  // in [0, 2^bits)
  std::function<float(std::int64_t n, std::int64_t i)> zero_at;
  std::function<float(std::int64_t n, std::int64_t i)> scale_at;
};

// `bias`: which input of the node has one float per column; it may be omitted.
void add_packed_product(Lowering& lowering, const Node& node, const PackedWeights& weights,
                        int bias);

// A table of `size` rows with `inner` values each, and how to read it: place k and entry i of the
// scales of a row.
struct PackedRows {
  std::int64_t size = 1, inner = 1, block = 32, row_scales = 1;
  int bits = 4;
  bool one_zero = false;
  std::function<int(std::int64_t row, std::int64_t k)> value_at;  // in [0, 2^bits)
  std::function<int(std::int64_t row, std::int64_t i)> zero_at;
};

// Rows that input 1 of the node picks; input 2 holds the scales.
void add_packed_gather(Lowering& lowering, const Node& node, const PackedRows& rows);

}  // namespace etch
