// How far a convolution's output may run over an input that dies, where tiles of one region are
// written in order and each has read all it needs before any later one.
#pragma once

#include <cstdint>

#include "templates/kernels/conv/conv_plan.h"

namespace etch {

// Where a tile starts to read: bytes from the operand's start, and per row and column of y.
struct Reading {
  std::int64_t offset = 0, row = 0, col = 0;
};

// The most bytes that a tile of region.tile_rows x region.tile_cols pixels has written of y, from
// its first byte, beyond the first byte that it may still have read; for results of one byte.
std::int64_t overlap_distance(const ConvRegion& region, std::int64_t channels, const Reading& from);

}  // namespace etch
