// The operators of ai.onnx that are written as others, by family. Each rule reads the node and adds
// the parts (parts.h) that compute what the operator's definition says, with its roundings. Part of
// resolving: types and shapes of the inputs are known.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "compiler/passes/compositions/parts.h"

namespace etch {

struct Rule {
  std::string_view op_type;
  void (*write)(Parts&);
  std::size_t most_inputs = 1, most_outputs = 1;
  std::int64_t since = 1;  // the first operator set that has it
  // Null: every node; else whether the node has no kernel of its own.
  bool (*applies)(const Graph&, const Node&) = nullptr;
};

// The type of input 0, for Rule::applies; nothing: it is omitted.
inline std::optional<DType> first_type(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kNoValue) return std::nullopt;
  return graph.value(node.inputs[0]).dtype;
}

std::span<const Rule> reduction_rules();
std::span<const Rule> pointwise_rules();
std::span<const Rule> power_rules();
std::span<const Rule> indexing_rules();
std::span<const Rule> scatter_rules();
std::span<const Rule> product_rules();
std::span<const Rule> normalization_rules();
std::span<const Rule> window_rules();
std::span<const Rule> grid_sample_rules();
std::span<const Rule> deformable_rules();
std::span<const Rule> determinant_rules();
std::span<const Rule> loss_rules();
std::span<const Rule> spectrum_rules();
std::span<const Rule> constant_rules();
std::span<const Rule> experimental_rules();
std::span<const Rule> transformer_rules();  // compiler/passes/functions

void write_unique(Parts& parts);

// The rule of ai.onnx for a node, or null. Without a graph whatever applies to some node.
const Rule* composition_rule(const Graph* graph, const Node& node);

}  // namespace etch
