// See describe.h.
#include "compiler/kernels/conv/winograd/describe.h"

#include <algorithm>
#include <limits>

#include "compiler/kernels/conv/dsp/describe.h"

namespace etch {

namespace {

// From the last pair of rows to the first: all that one reads is copied before it is written.
std::int64_t distance_from_x(const DspWinogradPlan& p) {
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  std::int64_t distance = -p.x_image - 4 * p.row_bytes;
  std::int64_t unread = kAll;
  for (auto each = p.pairs.rbegin(); each != p.pairs.rend(); ++each) {
    for (int pair = each->segment.rows - 1; pair >= 0; --pair) {
      const std::int64_t y = each->segment.y_first + pair * 2 * p.y_row +
                             (each->rows - 1) * p.y_row + (p.columns - 1) * p.y_step + p.out;
      if (unread != kAll) distance = std::max(distance, y - unread);
      for (const auto& [row, offset] : each->segment.kernel_rows)
        unread = std::min(unread, offset + pair * each->segment.x_advance);
    }
  }
  return distance;
}

std::vector<Overlap> overlaps_of(const ConvProblem& problem, const DspWinogradPlan& p) {
  if (p.images > 1 || p.copied == 0) return {};
  std::vector<Overlap> out = {{p.y, 0, distance_from_x(p) + problem.y.offset - problem.x.offset}};
  if (!p.line || p.r_step != p.y_step || p.r_row != p.y_row) return out;
  // While a row is written, the row above may still be unread, of the same four tiles.
  const std::int64_t ahead = p.y_row + DspWinogradPlan::kColumns * p.y_step;
  out.push_back({p.y, 1, ahead + problem.y.offset - problem.residual->view.offset});
  return out;
}

}  // namespace

Description describe_winograd(const ConvProblem& problem, const DspWinogradPlan& plan) {
  Description out;
  out.macs = problem.macs();
  out.schedule = "Winograd F(2x2, 3x3), 4 tiles x 2 channels in assembly";
  if (plan.line) out.facts.emplace_back(kLineFact);
  out.facts.emplace_back(
      "weights are transformed to 16 per 9, four times the sum of products fits int32: exact");
  out.overlaps = overlaps_of(problem, plan);
  return out;
}

}  // namespace etch
