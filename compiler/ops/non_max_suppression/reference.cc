// NonMaxSuppression by plain loops over a sorted list; see op.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/non_max_suppression/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {

// Low and high end along both axes.
using Box = std::array<float, 4>;

Box corners(const NonMaxSuppression& params, const float* box) {
  if (!params.is_centred) {
    const auto [y1, y2] = std::minmax(box[0], box[2]);
    const auto [x1, x2] = std::minmax(box[1], box[3]);
    return {y1, y2, x1, x2};
  }
  const float width = box[2] / 2, height = box[3] / 2;
  return {box[0] - width, box[0] + width, box[1] - height, box[1] + height};
}

bool overlap(const NonMaxSuppression& params, const Box& a, const Box& b) {
  const float high0 = std::min(a[1], b[1]), low0 = std::max(a[0], b[0]);
  const float high1 = std::min(a[3], b[3]), low1 = std::max(a[2], b[2]);
  if (!(high0 > low0) || !(high1 > low1)) return false;
  // In double the products are exact, and rounded once.
  const auto area = [](float length, float width) {
    return static_cast<float>(static_cast<double>(length) * static_cast<double>(width));
  };
  const float shared = area(high0 - low0, high1 - low1);
  const float area_a = area(a[1] - a[0], a[3] - a[2]);
  const float area_b = area(b[1] - b[0], b[3] - b[2]);
  const float covered = area_a + area_b - shared;
  if (!(shared > 0 && area_a > 0 && area_b > 0 && covered > 0)) return false;
  return shared / covered > params.overlap;
}

// The boxes of one class whose scores count, the best first.
std::vector<std::int64_t> ranked(const NonMaxSuppression& params, const float* scores) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < params.boxes; ++i) {
    const float score = scores[i];
    if (params.has_threshold ? score > params.threshold : !std::isnan(score)) out.push_back(i);
  }
  std::ranges::stable_sort(out,
                           [&](std::int64_t i, std::int64_t j) { return scores[i] > scores[j]; });
  return out;
}

std::vector<std::int64_t> selected(const NonMaxSuppression& params, const float* boxes,
                                   const float* scores) {
  std::vector<std::int64_t> out;
  for (const std::int64_t box : ranked(params, scores)) {
    if (static_cast<std::int64_t>(out.size()) == params.most) break;
    const Box place = corners(params, boxes + 4 * box);
    const bool stays = std::ranges::none_of(out, [&](std::int64_t other) {
      return overlap(params, place, corners(params, boxes + 4 * other));
    });
    if (stays) out.push_back(box);
  }
  return out;
}

}  // namespace

std::vector<Tensor> non_max_suppression_reference(const Node& node,
                                                  std::span<const Tensor* const> inputs) {
  const auto& params = params_of<NonMaxSuppression>(node);
  std::vector<std::int64_t> rows;
  for (std::int64_t batch = 0; batch < params.batches; ++batch) {
    const float* boxes = inputs[0]->as<float>().data() + batch * params.boxes * 4;
    for (std::int64_t group = 0; group < params.classes; ++group) {
      const float* scores =
          inputs[1]->as<float>().data() + (batch * params.classes + group) * params.boxes;
      for (const std::int64_t box : selected(params, boxes, scores))
        rows.insert(rows.end(), {batch, group, box});
    }
  }
  const auto count = static_cast<std::size_t>(3 * params.rows);
  for (std::size_t i = 0; rows.size() < count; ++i) {
    const bool filled = params.filler >= 0;
    rows.push_back(filled ? inputs[as_index(params.filler)]->as<std::int64_t>()[i] : -1);
  }
  rows.resize(count);
  return {Tensor::of<std::int64_t>({params.rows, 3}, rows)};
}

}  // namespace etch
