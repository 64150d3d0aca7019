// Models of one node, for tests of operators that are written as others: their results by the
// references of the parts, or what is refused.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ops/evaluate.h"
#include "tests/support/model_builder.h"

namespace etch {

// A model of one node; inputs from `constants` on are initializers.
class OneOperator {
 public:
  OneOperator(std::string op, std::int64_t opset) : op_(std::move(op)), model_(opset) {}

  OneOperator& input(const Tensor& tensor) {
    model_.input(next(), tensor.dtype(), {tensor.shape().begin(), tensor.shape().end()});
    inputs_.push_back(tensor);
    return *this;
  }
  OneOperator& constant(const Tensor& tensor) {
    model_.initializer(next(), tensor);
    return *this;
  }
  OneOperator& omitted() {
    names_.emplace_back();
    return *this;
  }
  OneOperator& attribute(const std::string& name, Attribute value) {
    attributes_.insert_or_assign(name, std::move(value));
    return *this;
  }

  std::vector<Tensor> outputs(std::size_t count = 1) {
    Sink sink;
    const auto graph = load(finished(count), sink);
    EXPECT_TRUE(graph) << errors_of(sink);
    return graph ? evaluate(*graph, inputs_) : std::vector<Tensor>(count);
  }
  Tensor output() { return outputs().at(0); }
  std::string errors() {
    Sink sink;
    EXPECT_FALSE(load(finished(1), sink));
    return errors_of(sink);
  }

 private:
  std::string next() {
    names_.push_back(cat("x", names_.size()));
    return names_.back();
  }
  const ModelBuilder& finished(std::size_t count) {
    std::vector<std::string> outputs;
    for (std::size_t i = 0; i < count; ++i) outputs.push_back(cat("y", i));
    model_.node(op_, names_, outputs, attributes_);
    for (const std::string& each : outputs) model_.output(each);
    return model_;
  }

  std::string op_;
  ModelBuilder model_;
  std::vector<std::string> names_;
  std::vector<Tensor> inputs_;
  std::map<std::string, Attribute> attributes_;
};

// Whether the one error of `model` says `text`.
inline testing::AssertionResult says(OneOperator& model, const std::string& text) {
  const std::string errors = model.errors();
  if (errors.find(text) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << errors;
}

}  // namespace etch
