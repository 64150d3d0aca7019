// See word_layer.h.
#include "compiler/prove/word_layer.h"

#include <algorithm>
#include <any>
#include <utility>

#include "compiler/ops/reference_math.h"
#include "compiler/prove/layer.h"

namespace etch {

namespace {

constexpr std::size_t kBias = 8;

const Tensor* bias_of(const Graph& graph, const Node& node) {
  if (node.inputs.size() <= kBias || node.inputs[kBias] == kNoValue) return nullptr;
  return graph.value(node.inputs[kBias]).constant.get();
}

}  // namespace

std::int32_t WordResults::of(std::int64_t sum, std::int64_t m, float factor) const {
  const auto at = static_cast<std::size_t>(m);
  const WideScale own = factor == 0 ? scale[at] : wide_scale(1, factor, 1);
  const std::int32_t rest = rests.empty() ? 0 : own.rest(rests[at]);
  const std::int64_t limited = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
  const std::int64_t y = scaled_sum(limited, own, rest) + y_zero_point;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(y, low, high));
}

bool is_word_layer(const Node& node) {
  return std::any_cast<QLinearConv16>(&node.params) != nullptr;
}

std::optional<WordResults> word_results_of(const Graph& graph, const Node& node, std::string& why) {
  const auto* const layer = std::any_cast<QLinearConv16>(&node.params);
  if (layer == nullptr || layer->part != 0) {
    why = layer == nullptr ? "no layer of 16 bits" : "its sums are taken in parts";
    return std::nullopt;
  }
  WordResults out;
  const Tensor* const bias = bias_of(graph, node);
  for (std::int64_t m = 0; m < layer->geometry.out_channels; ++m) {
    out.bias.push_back(bias == nullptr ? 0 : static_cast<std::int32_t>(bias->integer(m)));
    out.scale.push_back(
        wide_scale(layer->x.scale_at(0), layer->w.scale_at(m), layer->y.scale_at(0)));
  }
  out.rests = layer->rests;
  out.y_zero_point = layer->y.zero_point_at(0);
  out.low = layer->low;
  out.high = layer->high;
  return out;
}

void tag_word_bias(Graph& graph, Node& node) {
  const auto* const layer = std::any_cast<QLinearConv16>(&node.params);
  if (layer == nullptr) return;
  const Tensor* const bias = bias_of(graph, node);
  Tensor tagged =
      bias != nullptr ? *bias : Tensor(DType::kS32, Shape{layer->geometry.out_channels});
  const auto values = tagged.as<std::int32_t>();
  for (std::size_t m = 0; m < values.size(); ++m) {
    const std::int32_t tag = bias_tag(static_cast<std::int64_t>(m), std::ssize(values));
    values[m] = wrap_to_int32(std::int64_t{values[m]} + tag);
  }
  node.inputs.resize(std::max(node.inputs.size(), kBias + 1), kNoValue);
  node.inputs[kBias] = graph.add_constant(std::move(tagged));
}

void set_word_factor(Node& node, float factor) {
  auto* const layer = std::any_cast<QLinearConv16>(&node.params);
  if (layer == nullptr) return;
  std::ranges::fill(layer->x.scale, 1.0F);
  std::ranges::fill(layer->w.scale, factor);
  std::ranges::fill(layer->y.scale, 1.0F);
}

}  // namespace etch
