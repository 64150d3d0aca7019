// A QDQ model in the making, with words for the two ends of a group, for the tests of the passes.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "compiler/base/text.h"
#include "compiler/passes/fold_qdq.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {

class QdqModel {
 public:
  explicit QdqModel(std::int64_t opset = 13) : model_(opset) {}

  ModelBuilder& model() { return model_; }

  // DequantizeLinear of a run-time input `name`; returns the float value's name.
  std::string input(const std::string& name, const Shape& shape, float scale, const Tensor& zero) {
    std::vector<Dim> dims(shape.begin(), shape.end());
    model_.input(name, zero.dtype(), dims);
    return dequantize(name, scale, zero);
  }
  // With zero points of 0, unless `zero` has others.
  std::string weights(const std::string& name, const Tensor& values, const Tensor& scale,
                      std::int64_t axis = 0, const std::optional<Tensor>& zero = std::nullopt) {
    model_.initializer(name, values);
    model_.initializer(name + "_scale", scale);
    model_.initializer(name + "_zero", zero.value_or(Tensor(values.dtype(), scale.shape())));
    model_.node("DequantizeLinear", {name, name + "_scale", name + "_zero"}, {name + "_float"},
                {{"axis", axis}});
    return name + "_float";
  }
  std::string dequantize(const std::string& name, float scale, const Tensor& zero) {
    const std::string suffix = parameters(scale, zero);
    model_.node("DequantizeLinear", {name, "scale" + suffix, "zero" + suffix},
                {name + "_float" + suffix});
    return name + "_float" + suffix;
  }
  std::string quantize(const std::string& name, float scale, const Tensor& zero) {
    const std::string suffix = parameters(scale, zero);
    model_.node("QuantizeLinear", {name, "scale" + suffix, "zero" + suffix},
                {name + "_q" + suffix});
    return name + "_q" + suffix;
  }
  // Quantizes `name` and makes the result a graph output.
  void output(const std::string& name, float scale, const Tensor& zero) {
    model_.output(quantize(name, scale, zero));
  }

  std::optional<Graph> fold(Sink& sink, QdqGroups groups = QdqGroups::kOfOnnxRuntime) const {
    auto graph = load(model_, sink);
    EXPECT_TRUE(graph) << errors_of(sink);
    if (graph) fold_qdq(*graph, sink, groups);
    return graph;
  }
  // Operator types after folding, in order.
  std::string operators(QdqGroups groups = QdqGroups::kOfOnnxRuntime) const {
    Sink sink;
    const auto graph = fold(sink, groups);
    std::string out;
    if (graph) {
      for (const Node& node : graph->nodes) out += cat(out.empty() ? "" : " ", node.op_type);
    }
    return out;
  }

 private:
  std::string parameters(float scale, const Tensor& zero) {
    const std::string suffix = cat("_", ++count_);
    model_.initializer("scale" + suffix, f32({}, {scale}));
    model_.initializer("zero" + suffix, zero);
    return suffix;
  }

  ModelBuilder model_;
  int count_ = 0;
};

inline const Tensor kZeroU8 = u8({}, {0});
inline const Tensor kZeroS8 = s8({}, {0});

// x [1,2,3,3] with scale 0.5, weights [2,2,1,1] with scales 0.25 and 0.125.
struct QdqConvolution {
  QdqModel qdq;
  std::string x, w;

  explicit QdqConvolution(const Tensor& zero = kZeroS8, std::int64_t weight_axis = 0) {
    x = qdq.input("x", {1, 2, 3, 3}, 0.5F, zero);
    w = qdq.weights("w", s8({2, 2, 1, 1}, {1, 2, 3, 4}), f32({2}, {0.25F, 0.125F}), weight_axis);
  }
  void bias(const std::vector<float>& scale, const std::optional<Tensor>& zero = std::nullopt) {
    qdq.weights("b", s32({2}, {100, -200}), f32({2}, scale), 0, zero);
    qdq.model().node("Conv", {x, w, "b_float"}, {"y"});
  }
};

}  // namespace etch
