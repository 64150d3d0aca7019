// See describe.h.
#include "compiler/kernels/conv/depthwise/describe.h"

#include <algorithm>
#include <limits>

#include "compiler/base/text.h"

namespace etch {

namespace {

std::string schedule_of(const IsaTraits& isa, const DepthwisePlan& plan) {
  const auto by_work = [](const DepthwiseRegion& a, const DepthwiseRegion& b) {
    const auto work = [](const DepthwiseRegion& r) {
      return std::int64_t{r.planes} * r.rows * r.cols * r.bytes;
    };
    return work(a) < work(b);
  };
  const DepthwiseRegion& largest = *std::ranges::max_element(plan.regions, by_work);
  std::string out =
      cat(counted(largest.rows_together, "row"), " x ", counted(isa.byte_lanes(), "byte"));
  if (largest.together > 1) out += cat(" x ", largest.together);
  if (largest.piece > 0) out += " from pieces of pixels";
  out += cat(", weights repeat after ", counted(largest.period, "chunk"));
  if (plan.regions.size() > 1)
    out += cat(", ", counted(static_cast<std::int64_t>(plan.regions.size()), "region"));
  return out;
}

// Elements of y from the first to the last of a run.
std::int64_t extent_of(const DepthwiseRegion& r) {
  return r.apart == 0 ? r.bytes : (r.bytes / r.apart - 1) * r.y_apart + r.apart;
}

// Rows are written in order and never before they have been read.
std::vector<Overlap> overlaps_of(const ConvProblem& problem, const DepthwisePlan& plan) {
  const DepthwiseRegion& r = plan.regions.front();
  if (plan.regions.size() > 1 || plan.images > 1 || r.planes > 1 || bytes_of(problem.y.dtype) > 1)
    return {};
  std::int64_t distance = std::numeric_limits<std::int64_t>::min();
  for (int row = 0; row < r.rows; row += r.rows_together) {
    const int last = std::min(row + r.rows_together, r.rows) - 1;
    const std::int64_t written =
        r.y_offset + last * r.y_row + (r.cols - 1) * r.y_col + extent_of(r);
    distance = std::max(distance, written - (r.x_offset + row * r.x_row));
  }
  return {{1, 0, distance + problem.y.offset - problem.x.offset}};
}

}  // namespace

Description describe_depthwise(const ConvProblem& problem, const IsaTraits& isa,
                               const DepthwisePlan& plan) {
  Description out;
  out.macs = problem.macs();
  out.schedule = schedule_of(isa, plan);
  if (plan.parts > 0) {
    out.facts.push_back(cat("weights minus zero point need 9 bits: int8 besides a sum of taps in ",
                            counted(plan.parts, "part")));
  }
  out.overlaps = overlaps_of(problem, plan);
  return out;
}

}  // namespace etch
