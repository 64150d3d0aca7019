// The graph: ONNX's own vocabulary (operators, attributes, named values) in plain structs.
// import/ builds it, resolve fills in types, shapes, constants and each node's resolved
// parameters, the passes rewrite it, lowering turns it into steps (compiler/program).
// Nodes are in topological order throughout.
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ir/float_steps.h"
#include "compiler/ir/fusion_log.h"
#include "compiler/ir/limits.h"
#include "compiler/ir/pruned_channels.h"
#include "compiler/ir/tensor.h"

namespace etch {

struct OpDef;  // compiler/ops/op.h

using ValueId = int;
inline constexpr ValueId kNoValue = -1;  // an omitted optional input

// One tensor that flows through the graph. `name` is the model's text: for people only.
// Graph inputs and constants are typed and shaped from the start; of the others, dtype and shape
// are what the file declares until resolve computes them, with -1 for a size left open.
struct Value {
  std::string name;
  std::optional<DType> dtype;              // set after resolve
  std::optional<Shape> shape;              // set after resolve
  std::shared_ptr<const Tensor> constant;  // non-null: known at compile time
};

using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>,
                               std::vector<float>, std::vector<std::string>, Tensor>;

struct Node {
  int index = -1;       // position in the file; nodes made by a pass keep their origin's
  std::string name;     // the model's text: for people only
  std::string domain;   // "" for ai.onnx
  std::string op_type;  // "Conv"
  const OpDef* op = nullptr;
  std::vector<ValueId> inputs;   // kNoValue where omitted; trailing omissions are trimmed
  std::vector<ValueId> outputs;  // kNoValue where omitted
  std::map<std::string, Attribute> attributes;
  std::any params;  // the operator's resolved struct (ops/<op>/op.h); set by resolve
  // Of an If until resolve takes one of them: the nodes, in order, that give its outputs where the
  // condition, input 0, holds, and where not. What they read from around them are its other inputs.
  std::vector<std::vector<Node>> branches;
  FloatSteps float_steps = FloatSteps::kSeparate;  // the graph's; set by resolve
};

struct Graph {
  std::vector<Value> values;     // indexed by ValueId
  std::vector<Node> nodes;       // topological order
  std::vector<ValueId> inputs;   // run-time inputs, in order; initializers are not here
  std::vector<int> input_files;  // the number of each in test data, which counts constants too
  std::vector<ValueId> outputs;  // in order; may name an input or a constant
  std::map<std::string, std::int64_t> opsets;  // domain ("" = ai.onnx) -> version
  std::int64_t ir_version = 0;
  std::string name;
  std::string producer;
  Limits limits;                                   // what the user lets the file ask for
  std::int64_t source_bytes = 0;                   // of the file and of the data it refers to
  std::string external_digest;                     // of that data; empty: there is none
  FloatSteps float_steps = FloatSteps::kSeparate;  // of all its float products
  bool shapes_chosen = false;                      // the user's options say shapes of inputs
  std::int64_t computed_bytes_left = Limits{}.computed_bytes;  // for constants yet to be computed
  PrunedChannels pruning;                                      // for people
  FusionLog fusions;                                           // what the passes did, for people

  // Not of kNoValue, which is no value.
  Value& value(ValueId id) { return values[checked(id)]; }
  const Value& value(ValueId id) const { return values[checked(id)]; }
  ValueId add_value(Value value);
  ValueId add_constant(Tensor tensor, std::string name = {});
  std::int64_t opset(const std::string& domain) const;  // 0 when not imported

 private:
  std::size_t checked(ValueId id) const {
    const auto at = static_cast<std::size_t>(id);
    ETCH_CHECK(at < values.size());
    return at;
  }
};

// "node 'conv1' (QLinearConv)" with the name made printable; "node #7 (Add)" when it has none.
std::string location_of(const Node& node);

// The number in test data of an input of the model; -1 for any other value.
int input_file_of(const Graph& graph, ValueId id);
// "; give it with --constant NAME=N,... or NAME=FILE.pb", printable, for such an input; else empty.
std::string constant_hint(const Graph& graph, ValueId id);

// Consumers of each value: node indices into graph.nodes, ascending, one entry per use.
std::vector<std::vector<int>> consumers_of(const Graph& graph);
// Index into graph.nodes of each value's producer; -1 for inputs and constants.
std::vector<int> producers_of(const Graph& graph);

// Stable text of the whole graph, one node per line, for --dump-after and tests.
std::string dump(const Graph& graph);

// Aborts (ETCH_CHECK) when the graph breaks its own rules: topological order, one producer per
// value, ids in range, after resolve every value typed and shaped.
enum class Resolved { kNo, kYes };
void verify(const Graph& graph, Resolved resolved);

}  // namespace etch
