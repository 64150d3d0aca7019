// See common_subexpressions.h. One forward walk: inputs are renamed before a node is looked up, so
// that whole chains fall together.
#include "compiler/passes/common_subexpressions.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ir/op_def.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/rename.h"

namespace etch {

namespace {

// Orders constants by their contents.
struct LessTensor {
  bool operator()(const Tensor* a, const Tensor* b) const {
    if (a->dtype() != b->dtype()) return a->dtype() < b->dtype();
    if (a->shape() != b->shape()) return a->shape() < b->shape();
    return std::ranges::lexicographical_compare(a->bytes(), b->bytes());
  }
};

// By bits, as constants are: 0 and -0 give other results.
bool are_equal(const Attribute& a, const Attribute& b) {
  const auto bits = [](float each) { return std::bit_cast<std::uint32_t>(each); };
  const auto* const number = std::get_if<float>(&a);
  const auto* const list = std::get_if<std::vector<float>>(&a);
  if (a.index() != b.index() || (number == nullptr && list == nullptr)) return a == b;
  if (number != nullptr) return bits(*number) == bits(std::get<float>(b));
  return std::ranges::equal(*list, std::get<std::vector<float>>(b), {}, bits, bits);
}

bool are_equal(const std::map<std::string, Attribute>& a,
               const std::map<std::string, Attribute>& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return one.first == other.first && are_equal(one.second, other.second);
  });
}

class CommonSubexpressions {
 public:
  explicit CommonSubexpressions(Graph& graph) : graph_(graph) {}

  void run() {
    std::vector<Node> kept;
    for (Node& node : graph_.nodes) {
      rename(node.inputs, names_);
      if (!is_known(node)) kept.push_back(std::move(node));
    }
    graph_.nodes = std::move(kept);
  }

 private:
  // What equal nodes have in common besides their attributes.
  using Key = std::tuple<std::string, std::string, std::vector<ValueId>>;
  struct Known {
    std::map<std::string, Attribute> attributes;
    std::vector<ValueId> outputs;
    std::string title;
  };

  // A value that stands for all constants of the same contents, and any other for itself.
  ValueId representative(ValueId id) {
    if (id == kNoValue || graph_.value(id).constant == nullptr) return id;
    return constants_.try_emplace(graph_.value(id).constant.get(), id).first->second;
  }

  bool is_candidate(const Node& node) const {
    const bool gives_output = std::ranges::any_of(node.outputs, [&](ValueId id) {
      return std::ranges::find(graph_.outputs, id) != graph_.outputs.end();
    });
    return node.domain != kEtch && !is_dequantize(node) && !gives_output;
  }

  // True when an earlier node computes the same; its outputs then stand for those of `node`.
  bool is_known(const Node& node) {
    if (!is_candidate(node)) return false;
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(representative(id));
    std::vector<Known>& equal = known_[{node.domain, node.op_type, std::move(inputs)}];
    for (const Known& first : equal) {
      if (are_equal(first.attributes, node.attributes) && replaces(first, node)) return true;
    }
    equal.push_back({node.attributes, node.outputs, location_of(node)});
    return false;
  }

  // Lets the outputs of `first` stand for those of `node`, if it has all of them.
  bool replaces(const Known& first, const Node& node) {
    const auto has = [](ValueId id) { return id != kNoValue; };
    if (!std::ranges::equal(first.outputs, node.outputs, {}, has, has)) return false;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (has(node.outputs[i])) names_[node.outputs[i]] = first.outputs[i];
    }
    graph_.fusions.fused(node, cat("computed once, by ", first.title));
    return true;
  }

  Graph& graph_;
  Names names_;  // of outputs of removed nodes
  std::map<const Tensor*, ValueId, LessTensor> constants_;
  std::map<Key, std::vector<Known>> known_;
};

}  // namespace

void merge_common_subexpressions(Graph& graph) { CommonSubexpressions(graph).run(); }

}  // namespace etch
