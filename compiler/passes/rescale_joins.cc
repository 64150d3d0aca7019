// One scale for everything that is joined; see rescale_joins.h.
#include "compiler/passes/rescale_joins.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

class Joins {
 public:
  explicit Joins(Graph& graph) : graph_(graph), wiring_(graph) {}

  int run() {
    int count = 0;
    std::vector<Node> nodes;
    for (const Node& node : graph_.nodes) {
      Node join = node;
      if (const Node* const quantize = quantizer_of(node)) {
        for (ValueId& input : join.inputs) count += rescale(join, input, *quantize, nodes) ? 1 : 0;
      }
      nodes.push_back(std::move(join));
    }
    graph_.nodes = std::move(nodes);
    return count;
  }

 private:
  std::optional<QuantizedOperand> before(ValueId input) const {
    const Node* const producer = wiring_.producer(input);
    return producer == nullptr ? std::nullopt : dequantized_by(graph_, *producer);
  }

  // The QuantizeLinear after a Concat of this kind, or the first of several equal ones.
  const Node* quantizer_of(const Node& node) const {
    if (node.domain != kOnnx || node.op_type != "Concat") return nullptr;
    const ValueId result = node.outputs[0];
    const std::vector<int>& users = wiring_.consumers(result);
    if (users.empty() || wiring_.is_graph_output(result)) return nullptr;
    const Node& first = graph_.nodes[static_cast<std::size_t>(users[0])];
    const auto to = quantized_by(graph_, first);
    if (!to || !to->is_word()) return nullptr;
    const bool one_result = std::ranges::all_of(users, [&](int user) {
      const auto each = quantized_by(graph_, graph_.nodes[static_cast<std::size_t>(user)]);
      return each && same_quantization(*each, *to);
    });
    const bool words = std::ranges::all_of(node.inputs, [&](ValueId input) {
      const auto from = before(input);
      return from && from->per_tensor() && from->dtype == to->dtype;
    });
    return one_result && words ? &first : nullptr;
  }

  // Appends the pair for `input` of `join` to `nodes`, unless it has the parameters of `quantize`.
  bool rescale(const Node& join, ValueId& input, const Node& quantize, std::vector<Node>& nodes) {
    const auto from = before(input), to = quantized_by(graph_, quantize);
    if (same_quantization(*from, *to)) return false;
    const Node dequantize = *wiring_.producer(input);
    const ValueId narrow = append(join, quantize, {input, to->scale, to->zero_point}, nodes);
    input = append(join, dequantize, {narrow, to->scale, to->zero_point}, nodes);
    return true;
  }

  // A node like `like` in the place of `join`; its result.
  ValueId append(const Node& join, const Node& like, std::vector<ValueId> inputs,
                 std::vector<Node>& nodes) {
    if (inputs.back() == kNoValue) inputs.pop_back();
    Node node = like;
    node.index = join.index;
    node.name = join.name;
    node.inputs = std::move(inputs);
    node.outputs = {graph_.add_value({})};
    Sink none;
    ETCH_CHECK(resolve_node(graph_, node, none));
    nodes.push_back(node);
    return node.outputs[0];
  }

  Graph& graph_;
  const Wiring wiring_;
};

}  // namespace

int rescale_joins(Graph& graph) { return Joins(graph).run(); }

}  // namespace etch
