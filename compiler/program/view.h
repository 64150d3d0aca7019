// Where a value is in memory: a buffer, strides per logical dimension, and how its elements
// are stored. Several views may share a buffer (a Transpose or Reshape only makes a new view).
// Halo: memory before and after the spatial extent that holds the zero point, so that kernels
// with padding need no border code.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/tensor.h"

namespace etch {

struct View {
  int buffer = -1;
  std::int64_t offset = 0;               // bytes from the buffer's start to element (0, ..., 0)
  DType dtype = DType::kU8;              // as stored
  bool flipped = false;                  // int8 kept as uint8 with the top bit inverted
  Shape shape;                           // logical sizes
  std::vector<std::int64_t> stride;      // bytes, per logical dimension; 0 where broadcast
  std::vector<std::int64_t> halo_begin;  // elements readable before index 0, per dimension
  std::vector<std::int64_t> halo_end;    // elements readable after the last, per dimension
  int halo_value = 0;                    // what the halo holds, as stored
  int halo_source = -1;                  // or the value of the graph that it holds, at run time

  int rank() const { return static_cast<int>(shape.size()); }
};

// Memory order of dimensions, outermost first.
using Order = std::vector<int>;

Order row_major(int rank);
Order channels_last(int rank);  // 0, 2, 3, ..., 1

// True when `view` is dense in `order`, ignoring dimensions of size 1 and halos.
bool has_order(const View& view, const Order& order);
// True when, besides, there is nothing between rows: one contiguous block.
bool is_contiguous(const View& view, const Order& order);

// A view of new memory in `order`, `buffer` to be filled in by the caller. Halos are empty
// vectors or one entry per dimension. Sets offset and stride; returns the bytes needed.
std::int64_t lay_out(View& view, const Order& order);

// The same memory with dimensions permuted: result dimension i is dimension perm[i] of `view`.
View permuted(const View& view, const std::vector<int>& perm);

// Part [start, start + size) of dimension `axis`. The halo is not a part of it.
View part_of(const View& view, std::size_t axis, std::int64_t start, std::int64_t size);

}  // namespace etch
