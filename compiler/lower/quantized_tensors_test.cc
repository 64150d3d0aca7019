// What the reports learn about scales and zero points.
#include "compiler/lower/quantized_tensors.h"

#include <gtest/gtest.h>

#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

std::vector<QuantizedTensor> tensors_of(const ModelBuilder& model) {
  Sink sink;
  const auto graph = load(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  Program program;
  if (graph) describe_quantization(*graph, program);
  return program.quantization;
}

TEST(QuantizedTensors, KnowScaleAndZeroPointOfAnActivation) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, 2});
  model.initializer("scale", f32({}, {0.5F}));
  model.initializer("zero", s8({}, {-3}));
  model.node("QuantizeLinear", {"x", "scale", "zero"}, {"y"});
  model.output("y");
  const auto tensors = tensors_of(model);
  ASSERT_EQ(tensors.size(), 1U);
  EXPECT_EQ(tensors[0].role, "y");
  EXPECT_EQ(tensors[0].node, 0);
  EXPECT_FALSE(tensors[0].is_constant);
  EXPECT_EQ(tensors[0].dtype, DType::kS8);
  EXPECT_EQ(tensors[0].channels, 1);
  EXPECT_EQ(tensors[0].median_scale, 0.5F);
  EXPECT_EQ(tensors[0].least_zero_point, -3);
}

TEST(QuantizedTensors, KnowTheSpreadBetweenChannelsOfWeights) {
  ModelBuilder model;
  model.input("x", DType::kF32, {3, 1});
  model.initializer("w", s8({3, 1}, {1, 2, 3}));
  model.initializer("scale", f32({3}, {2, 0.25F, 1}));
  model.initializer("zero", s8({3}, {4, -1, 0}));
  model.node("DequantizeLinear", {"w", "scale", "zero"}, {"w_float"}, {{"axis", std::int64_t{0}}});
  model.node("Add", {"x", "w_float"}, {"y"});
  model.output("y");
  const auto tensors = tensors_of(model);
  ASSERT_EQ(tensors.size(), 1U);
  EXPECT_TRUE(tensors[0].is_constant);
  EXPECT_EQ(tensors[0].channels, 3);
  EXPECT_EQ(tensors[0].least_scale, 0.25F);
  EXPECT_EQ(tensors[0].median_scale, 1);
  EXPECT_EQ(tensors[0].greatest_scale, 2);
  EXPECT_EQ(tensors[0].least_zero_point, -1);
  EXPECT_EQ(tensors[0].greatest_zero_point, 4);
}

TEST(QuantizedTensors, AreSilentAboutScalesThatArriveAtRunTime) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, 2});
  model.input("scale", DType::kF32, {});
  model.node("QuantizeLinear", {"x", "scale"}, {"y"});
  model.output("y");
  EXPECT_TRUE(tensors_of(model).empty());
}

}  // namespace
}  // namespace etch
