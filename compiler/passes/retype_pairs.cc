// uint8 instead of int8 between Q and DQ; see retype_pairs.h.
#include "compiler/passes/retype_pairs.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ops/reference_math.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {
constexpr int kHalfRange = 128;  // between the zero points of equal numbers as int8 and as uint8

Node& paired_node(Graph& graph, int i) { return graph.nodes[static_cast<std::size_t>(i)]; }

// The operand of a Q whose integers reach only DQs that undo it.
std::optional<QuantizedOperand> pair_of(Graph& graph, const Wiring& wiring, int i) {
  const auto by = quantized_by(graph, paired_node(graph, i));
  if (!by || !by->is_8bit_per_tensor() || wiring.is_graph_output(by->value)) return std::nullopt;
  const bool undone = std::ranges::all_of(wiring.consumers(by->value), [&](int user) {
    const auto x = dequantized_by(graph, paired_node(graph, user));
    return x && same_quantization(*x, *by);
  });
  return undone ? by : std::nullopt;
}

void set_parameters(Graph& graph, Node& node, ValueId scale, ValueId zero_point) {
  node.inputs.resize(1);
  node.inputs.insert(node.inputs.end(), {scale, zero_point});
  node.attributes.erase("output_dtype");  // of QuantizeLinear: the zero point says it
  Sink sink;
  ETCH_CHECK(resolve_node(graph, node, sink));
}

void make_unsigned(Graph& graph, const Wiring& wiring, int quantize, const QuantizedOperand& by) {
  const int zero = by.quantization.zero_point_at(0) + kHalfRange;
  const ValueId zero_point = graph.add_constant(narrowed(DType::kU8, {}, {zero}));
  const ValueId scale = graph.add_constant(Tensor::of<float>({}, {by.quantization.scale_at(0)}));
  graph.value(by.value).dtype = DType::kU8;
  set_parameters(graph, paired_node(graph, quantize), scale, zero_point);
  for (const int user : wiring.consumers(by.value))
    set_parameters(graph, paired_node(graph, user), scale, zero_point);
}
}  // namespace

int retype_pairs(Graph& graph) {
  const Wiring wiring(graph);
  std::vector<int> signed_pairs;
  bool any_unsigned = false;
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i) {
    const auto by = pair_of(graph, wiring, i);
    if (by && by->dtype == DType::kS8) signed_pairs.push_back(i);
    any_unsigned = any_unsigned || (by && by->dtype == DType::kU8);
  }
  if (!any_unsigned) return 0;
  for (const int i : signed_pairs) make_unsigned(graph, wiring, i, *pair_of(graph, wiring, i));
  return static_cast<int>(signed_pairs.size());
}

}  // namespace etch
