// One operator under test, without a file: builds a graph of a single node from tensors and
// attributes, resolves it as the compiler does, and runs the operator's reference.
//
//   OneNode node("Relu");
//   node.input(Tensor::of<float>({2}, {-1, 1}));
//   EXPECT_EQ(node.run(), ...);          or EXPECT_EQ(node.errors(), "...");
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/op.h"
#include "compiler/passes/resolve.h"

namespace etch {

class OneNode {
 public:
  explicit OneNode(std::string op_type, std::string domain = "", std::int64_t opset = 13) {
    graph_.opsets[domain] = opset;
    node_.index = 0;
    node_.op_type = std::move(op_type);
    node_.domain = std::move(domain);
  }

  // An input known at run time only, which run() sets to `tensor`.
  OneNode& input(Tensor tensor) { return add(std::move(tensor), Known::kAtRunTime); }
  // An input known when compiling.
  OneNode& constant(Tensor tensor) { return add(std::move(tensor), Known::kWhenCompiling); }
  OneNode& omitted() {
    node_.inputs.push_back(kNoValue);
    tensors_.push_back(nullptr);
    return *this;
  }
  OneNode& attribute(const std::string& name, Attribute value) {
    node_.attributes.insert_or_assign(name, std::move(value));
    return *this;
  }
  OneNode& outputs(int count) {
    output_count_ = count;
    return *this;
  }

  OneNode& with(FloatSteps steps) {
    graph_.float_steps = steps;
    return *this;
  }

  // Resolves; true without errors. Call once.
  bool resolve() {
    for (int i = 0; i < output_count_; ++i) {
      node_.outputs.push_back(graph_.add_value({}));
      graph_.outputs.push_back(node_.outputs.back());
    }
    return resolve_node(graph_, node_, sink_);
  }

  // Resolves and computes; empty when the node was refused.
  std::vector<Tensor> run() {
    if (!resolve()) return {};
    std::vector<const Tensor*> inputs;
    for (const auto& tensor : tensors_) inputs.push_back(tensor.get());
    return node_.op->reference(node_, inputs);
  }

  // Resolves; the errors as "E-ATTR: message" lines (without the location), "" when there are none.
  std::string errors() {
    resolve();
    return text_of(Severity::kError);
  }
  // After resolve().
  std::string warnings() const { return text_of(Severity::kWarning); }

  const Node& node() const { return node_; }
  const Value& output(int i) const {
    return graph_.value(node_.outputs[static_cast<std::size_t>(i)]);
  }

 private:
  enum class Known { kAtRunTime, kWhenCompiling };

  OneNode& add(Tensor tensor, Known known) {
    auto shared = std::make_shared<const Tensor>(std::move(tensor));
    Value value;
    value.dtype = shared->dtype();
    value.shape = shared->shape();
    if (known == Known::kWhenCompiling) value.constant = shared;
    node_.inputs.push_back(graph_.add_value(std::move(value)));
    if (known == Known::kAtRunTime) graph_.inputs.push_back(node_.inputs.back());
    tensors_.push_back(std::move(shared));
    return *this;
  }

  std::string text_of(Severity severity) const {
    std::string out;
    for (const Diagnostic& each : sink_.sorted()) {
      if (each.severity != severity) continue;
      if (!out.empty()) out += "\n";
      out += std::string(code_of(each.kind)) + ": " + each.message;
    }
    return out;
  }

  Graph graph_;
  Node node_;
  Sink sink_;
  int output_count_ = 1;
  std::vector<std::shared_ptr<const Tensor>> tensors_;  // null where omitted
};

}  // namespace etch
