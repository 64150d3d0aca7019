// Goes from each Softmax to both products; see fuse_attention.h.
#include "compiler/passes/fuse_attention.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ops/fused_attention/op.h"
#include "compiler/ops/matmul/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/region_begin/op.h"
#include "compiler/ops/region_end/op.h"
#include "compiler/passes/qdq.h"

namespace etch {

namespace {

constexpr std::size_t kMostChanges = 3;

class AttentionFusion {
 public:
  AttentionFusion(Graph& graph, std::int64_t above)
      : graph_(graph), above_(above), wiring_(graph) {}

  void run() {
    for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
      if (wiring_.is_erased(i) || !is_softmax_of_rows(graph_, node(i))) continue;
      const std::vector<int> chain = chain_of(i);
      if (!chain.empty()) replace(chain);
    }
    wiring_.finish();
  }

 private:
  const Node& node(int i) const { return graph_.nodes[static_cast<std::size_t>(i)]; }
  int index_of(const Node& node) const { return static_cast<int>(&node - graph_.nodes.data()); }

  // The node that makes `id` for its only reader; null if there is none.
  const Node* only_for_reader(ValueId id) const {
    const bool one = wiring_.consumers(id).size() == 1 && !wiring_.is_graph_output(id);
    return one ? wiring_.producer(id) : nullptr;
  }

  // A product of two stacks of matrices.
  static const MatMulGeometry* product_of(const Node& node) {
    const auto* const params = std::any_cast<MatMulParams>(&node.params);
    if (params == nullptr || node.inputs[0] == node.inputs[1]) return nullptr;
    const MatMulGeometry& g = params->geometry;
    return g.output.size() == g.batch.size() + 2 ? &g : nullptr;
  }

  // Both products with all between them, in order, around the Softmax `softmax`; else nothing.
  std::vector<int> chain_of(int softmax) const {
    const ValueId shares = node(softmax).outputs[0];
    if (wiring_.consumers(shares).size() != 1 || wiring_.is_graph_output(shares)) return {};
    const int last = wiring_.consumers(shares)[0];
    const MatMulGeometry* const mixed = product_of(node(last));
    if (mixed == nullptr || node(last).inputs[0] != shares) return {};
    std::vector<int> chain{last, softmax};
    for (;;) {
      const auto before = node_before(node(chain.back()));
      if (!before) return {};
      chain.push_back(index_of(**before));
      if (const MatMulGeometry* const scores = product_of(**before)) {
        if (!fits(*scores, *mixed, **before) || enters_region(chain.back(), last)) return {};
        std::reverse(chain.begin(), chain.end());
        return chain;
      }
      if (chain.size() > 2 + kMostChanges) return {};
    }
  }

  // The product, or a change of scores, that makes the scores which `reader` takes.
  std::optional<const Node*> node_before(const Node& reader) const {
    for (std::size_t slot = 0; slot < reader.inputs.size(); ++slot) {
      const bool takes_scores =
          reader.op_type == "Softmax" || can_change_scores(graph_, reader, slot);
      const Node* const before = takes_scores ? only_for_reader(reader.inputs[slot]) : nullptr;
      if (before == nullptr) continue;
      const bool changes =
          can_change_scores(graph_, *before, 0) || can_change_scores(graph_, *before, 1);
      if (changes || product_of(*before) != nullptr) return before;
    }
    return std::nullopt;
  }

  bool fits(const MatMulGeometry& scores, const MatMulGeometry& mixed, const Node& product) const {
    const std::int64_t bytes = 4 * element_count(scores.output);
    return scores.batch == mixed.batch && scores.rows > 1 && bytes > above_ &&
           graph_.value(product.inputs[0]).constant == nullptr;
  }

  // Whether a loop or branch that is open at `last` begins after `first`, which would move into it.
  bool enters_region(int first, int last) const {
    std::ptrdiff_t open = 0;
    for (int i = first; i < last; ++i)
      open += (is_region_begin(node(i)) ? 1 : 0) - (is_region_end(node(i)) ? 1 : 0);
    return open != 0;
  }

  void replace(const std::vector<int>& chain) {
    FusedAttention attention;
    Node fused;
    fused.index = node(chain.back()).index;
    fused.name = node(chain.back()).name;
    fused.domain = kEtch;
    fused.op_type = "FusedAttention";
    fused.op = find_op(kEtch, fused.op_type);
    fused.outputs = node(chain.back()).outputs;
    std::map<ValueId, ExpressionOperand> known;
    for (const int each : chain) {
      ExpressionPart part{node(each), {}, *graph_.value(node(each).outputs[0]).shape};
      for (const ValueId id : node(each).inputs)
        part.inputs.push_back(operand_of(id, known, fused.inputs));
      known[node(each).outputs[0]] = {ExpressionOperand::From::kPart,
                                      static_cast<int>(attention.parts.size())};
      part.node.inputs.clear();
      part.node.outputs.clear();
      attention.parts.push_back(std::move(part));
    }
    fused.params = std::move(attention);
    for (const int each : chain) {
      if (each != chain.back()) wiring_.erase(each);
    }
    wiring_.replace(chain.back(), std::move(fused));
  }

  Graph& graph_;
  const std::int64_t above_;
  Wiring wiring_;
};

}  // namespace

void fuse_attention(Graph& graph, std::int64_t above) {
  graph.opsets.emplace(kEtch, 1);
  AttentionFusion(graph, above).run();
}

}  // namespace etch
