// Layers of 16-bit activations as their operator defines them (QLinearConv16 and its kin,
// compiler/ops/qlinear_conv16/op.h): what their results are of sums, and how their biases and
// factors are changed in a graph.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ops/qlinear_conv16/op.h"

namespace etch {

// Factors that show sums, with the unit in which they do. Code that has no ties has factors below
// 1/16, and this one has none within 16 bits either.
inline constexpr std::array<float, 2> kWordFactors = {1.0F, 0x1p-4F - 0x1p-24F};
constexpr int unit_of_word_factor(float factor) { return factor == 1.0F ? 1 : 16; }

struct WordResults {
  std::vector<std::int32_t> bias;   // [M]
  std::vector<WideScale> scale;     // [M]
  std::vector<std::int32_t> rests;  // of the bias, as QLinearConv16 has them; empty: 0
  int y_zero_point = 0, low = 0, high = 0;

  // Of a sum with the bias of channel m; at this factor, or at the layer's own where it is 0.
  std::int32_t of(std::int64_t sum, std::int64_t m, float factor) const;
};

bool is_word_layer(const Node& node);
// Nothing, with the reason in `why`, where sums are taken in parts: a bias of our choice might then
// show where they are limited.
std::optional<WordResults> word_results_of(const Graph& graph, const Node& node, std::string& why);

// As tag_bias() and set_factor() (layer.h), of such nodes; others stay.
void tag_word_bias(Graph& graph, Node& node);
void set_word_factor(Node& node, float factor);

}  // namespace etch
