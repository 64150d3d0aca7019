// RoiAlign by plain loops, one output after the other; see op.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/ops/roi_align/op.h"

namespace etch {

namespace {

constexpr float kSampleLimit = 1024;

// A product that is rounded before it is added to anything: in double it is exact.
float product(float a, float b) {
  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b));
}

struct Axis {
  float start = 0, bin = 0;
  std::int64_t samples = 0, size = 0;
};

Axis axis_of(const RoiAlign& p, float low, float high, std::int64_t bins, std::int64_t size) {
  const float offset = p.half_pixel ? 0.5F : 0.0F;
  const float start = product(low, p.scale) - offset;
  const float end = product(high, p.scale) - offset;
  float length = end - start;
  if (!p.half_pixel) length = length < 1 ? 1 : length;
  const float bin = length / static_cast<float>(bins);
  if (p.sampling > 0) return {start, bin, p.sampling, size};
  const float samples = std::isnan(bin) ? 0 : std::clamp(std::ceil(bin), 0.0F, kSampleLimit);
  return {start, bin, static_cast<std::int64_t>(samples), size};
}

struct Neighbour {
  std::int64_t at = 0;
  float weight = 0;
};

// The neighbours of a sample; nothing outside of the map.
std::optional<std::array<Neighbour, 2>> neighbours(const Axis& axis, std::int64_t bin,
                                                   std::int64_t sample) {
  const float first = axis.start + product(static_cast<float>(bin), axis.bin);
  const float within = product(static_cast<float>(sample) + 0.5F, axis.bin);
  const float at = first + within / static_cast<float>(axis.samples);
  const auto size = static_cast<float>(axis.size);
  if (std::isnan(at) || at < -1 || at > size) return std::nullopt;
  const float inside = at <= 0 ? 0 : at;
  const auto low = static_cast<std::int64_t>(std::floor(inside));
  const std::int64_t last = axis.size - 1;
  if (low >= last) return std::array<Neighbour, 2>{{{last, 1}, {last, 0}}};
  const float rest = inside - static_cast<float>(low);
  return std::array<Neighbour, 2>{{{low, 1 - rest}, {low + 1, rest}}};
}

// Every product of every sample of one bin, four by four.
std::vector<std::array<float, 4>> samples_of(const float* map, const Axis& v, std::int64_t row,
                                             const Axis& h, std::int64_t col) {
  std::vector<std::array<float, 4>> out;
  for (std::int64_t i = 0; i < v.samples; ++i) {
    for (std::int64_t j = 0; j < h.samples; ++j) {
      std::array<float, 4> parts{};
      parts.fill(product(0, map[0]));
      const auto rows = neighbours(v, row, i), cols = neighbours(h, col, j);
      for (std::size_t k = 0; rows && cols && k < 4; ++k) {
        const Neighbour& y = (*rows)[k / 2];
        const Neighbour& x = (*cols)[k % 2];
        parts[k] = product(product(y.weight, x.weight), map[y.at * h.size + x.at]);
      }
      out.push_back(parts);
    }
  }
  return out;
}

float pooled(const std::vector<std::array<float, 4>>& samples, bool is_max) {
  if (samples.empty()) return 0;
  float most = samples.front().front(), sum = 0;
  for (const auto& p : samples) {
    float here = p[0];
    for (const float part : p) here = here < part ? part : here;
    most = most < here ? here : most;
    sum = sum + (((p[0] + p[1]) + p[2]) + p[3]);
  }
  if (is_max) return most;
  return samples.size() < 2 ? sum : sum / static_cast<float>(samples.size());
}

}  // namespace

std::vector<Tensor> roi_align_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& p = params_of<RoiAlign>(node);
  const Shape& x = inputs[0]->shape();
  const auto boxes = inputs[1]->as<float>();
  const auto images = inputs[2]->as<std::int64_t>();
  std::vector<float> y;
  for (std::size_t r = 0; r < images.size(); ++r) {
    const bool known = images[r] >= 0 && images[r] < x[0];
    Axis h = axis_of(p, boxes[4 * r], boxes[4 * r + 2], p.cols, x[3]);
    Axis v = axis_of(p, boxes[4 * r + 1], boxes[4 * r + 3], p.rows, x[2]);
    if (!known) v.samples = 0;
    for (std::int64_t c = 0; c < x[1]; ++c) {
      const float* map =
          inputs[0]->as<float>().data() + (known ? (images[r] * x[1] + c) * x[2] * x[3] : 0);
      for (std::int64_t row = 0; row < p.rows; ++row) {
        for (std::int64_t col = 0; col < p.cols; ++col)
          y.push_back(pooled(samples_of(map, v, row, h, col), p.is_max));
      }
    }
  }
  const auto n = static_cast<std::int64_t>(images.size());
  return {Tensor::of<float>({n, x[1], p.rows, p.cols}, y)};
}

}  // namespace etch
