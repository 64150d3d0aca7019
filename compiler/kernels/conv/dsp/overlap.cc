// Walks over the output from its end; see overlap.h.
#include "compiler/kernels/conv/dsp/overlap.h"

#include <algorithm>
#include <limits>

namespace etch {
namespace {

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

class Walk {
 public:
  Walk(const DspConvPlan& plan, std::int64_t worst) : plan_(plan), worst_(worst) {}

  // Rows from the last to the first; `start` is the first byte of x that the row reads.
  void row(std::int64_t start, std::int64_t y) {
    if (plan_.copies) {
      written(y + (plan_.columns - 1) * plan_.y_step + plan_.channels);
      unread_ = std::min(unread_, start);
      return;
    }
    const int n = plan_.tile.pixels;
    for (int last = plan_.columns; last > 0; last = (last - 1) / n * n) {
      const int first = (last - 1) / n * n;
      const std::int64_t end = y + (last - 1) * plan_.y_step + plan_.channels;
      // Only gathered tiles are read as a whole before they are written.
      const bool gathered = plan_.gathered >= 0;
      if (gathered) written(end);
      unread_ = std::min(unread_, start + first * plan_.x_step);
      if (!gathered) written(end);
    }
  }

  std::int64_t worst() const { return worst_; }

 private:
  void written(std::int64_t end) {
    if (unread_ != kAll) worst_ = std::max(worst_, end - unread_);
  }

  const DspConvPlan& plan_;
  std::int64_t worst_;
  std::int64_t unread_ = kAll;  // the first byte that later rows and tiles read
};

}  // namespace

std::int64_t overlap_distance(const DspConvPlan& plan, std::int64_t image_bytes) {
  Walk walk(plan, -image_bytes - plan.rows_bytes);
  for (auto segment = plan.segments.rbegin(); segment != plan.segments.rend(); ++segment) {
    for (int row = segment->rows - 1; row >= 0; --row) {
      std::int64_t start = kAll;
      for (const auto& [kernel_row, offset] : segment->kernel_rows)
        start = std::min(start, offset + row * segment->x_advance);
      walk.row(start, segment->y_first + row * plan.y_row);
    }
  }
  return walk.worst();
}

}  // namespace etch
