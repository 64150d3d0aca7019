// Walks over the tiles; see overlap.h.
#include "compiler/kernels/conv/overlap.h"

#include <algorithm>
#include <limits>

namespace etch {

std::int64_t overlap_distance(const ConvRegion& region, std::int64_t channels,
                              const Reading& from) {
  std::int64_t distance = std::numeric_limits<std::int64_t>::min();
  for (int row = 0; row < region.rows; row += region.tile_rows) {
    const int last_row = std::min(row + region.tile_rows, region.rows) - 1;
    for (int col = 0; col < region.cols; col += region.tile_cols) {
      const int last_col = std::min(col + region.tile_cols, region.cols) - 1;
      const std::int64_t written =
          region.y_offset + last_row * region.y_row + last_col * region.y_col + channels;
      distance = std::max(distance, written - (from.offset + row * from.row + col * from.col));
    }
  }
  return distance;
}

}  // namespace etch
