// Expansion keeps what a model computes and leaves nothing that cannot be lowered.
#include "compiler/passes/expand.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ir/onnx_types.h"
#include "compiler/ops/evaluate.h"
#include "compiler/ops/op.h"
#include "tests/support/control_cases.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

std::vector<std::string> types_of(const Graph& graph) {
  std::vector<std::string> out;
  for (const Node& node : graph.nodes) out.push_back(node.op_type);
  return out;
}

TEST(Expand, WritesADynamicProductAsItsParts) {
  ModelBuilder model(13);
  model.opset("com.microsoft", 1);
  model.input("a", DType::kF32, {2, 2});
  model.initializer("b", s8({2, 2}, {1, -2, 3, 100})).initializer("scale", f32({2}, {0.5F, 0.3F}));
  model.initializer("bias", f32({2}, {1, 0.1F}));
  model.node("DynamicQuantizeMatMul", {"a", "b", "scale", "", "bias"}, {"y"}, {}, "com.microsoft");
  model.output("y");
  Sink sink;
  auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const std::vector<Tensor> inputs{f32({2, 2}, {0.1F, -7, 3.3F, 2})};
  const std::vector<Tensor> before = evaluate(*graph, inputs);
  expand(*graph, sink);
  EXPECT_EQ(types_of(*graph), (std::vector<std::string>{"DynamicQuantizeLinear", "MatMulInteger",
                                                        "Cast", "Mul", "Mul", "Add"}));
  ASSERT_EQ(graph->fusions.records().size(), 1U);
  EXPECT_EQ(graph->fusions.records()[0].op_type, "DynamicQuantizeMatMul");
  EXPECT_EQ(graph->fusions.records()[0].what,
            "is computed as DynamicQuantizeLinear, MatMulInteger, Cast, Mul, Mul, Add");
  verify(*graph, Resolved::kYes);
  EXPECT_EQ(evaluate(*graph, inputs), before);
}

// Where the first output was looked at all the same, sanitizers saw what is before the first value.
TEST(Expand, LeavesALoopWhoseFirstResultIsOmitted) {
  Sink sink;
  auto graph = load(collecting_loop(), sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  ASSERT_EQ(graph->nodes.back().outputs[0], kNoValue);
  const std::vector<Tensor> inputs{f32({2, 3}, {1, 2, 3, 4, 5, 6}),
                                   f32({2, 3}, {7, 8, 9, 0, 1, 2})};
  const std::vector<Tensor> before = evaluate(*graph, inputs);
  ASSERT_EQ(before[0].shape(), (Shape{3, 2, 3}));
  expand(*graph, sink);
  verify(*graph, Resolved::kYes);
  EXPECT_EQ(evaluate(*graph, inputs), before);
}

// A QGemm whose A is [3, 2] and C differs from row to row.
ModelBuilder gemm_model(const std::vector<std::string>& outputs) {
  ModelBuilder model(13);
  model.opset("com.microsoft", 1);
  model.input("a", DType::kU8, {3, 2});
  model.initializer("a_scale", f32({}, {0.7F})).initializer("a_zero", u8({}, {128}));
  model.initializer("b", s8({2, 3}, {1, -20, 3, 100, 7, -9}))
      .initializer("b_zero", s8({2}, {0, 1}));
  model.initializer("b_scale", f32({2}, {0.5F, 0.3F}));
  model.initializer("c", s32({2, 1}, {1000, -77}));
  model.initializer("y_scale", f32({}, {30})).initializer("y_zero", u8({}, {100}));
  std::vector<std::string> inputs{"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "c"};
  inputs.insert(inputs.end(), outputs.begin(), outputs.end());
  model.node("QGemm", inputs, {"y"},
             {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}, {"alpha", 0.3F}},
             "com.microsoft");
  model.output("y");
  return model;
}

void expect_same_results_of_gemm(const std::vector<std::string>& outputs,
                                 const std::vector<std::string>& types) {
  Sink sink;
  auto graph = load(gemm_model(outputs), sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const std::vector<Tensor> inputs{u8({3, 2}, {0, 255, 3, 99, 128, 130})};
  const std::vector<Tensor> before = evaluate(*graph, inputs);
  expand(*graph, sink);
  EXPECT_EQ(types_of(*graph), types);
  verify(*graph, Resolved::kYes);
  EXPECT_EQ(evaluate(*graph, inputs), before);
}

TEST(Expand, WritesAGemmWithFloatOutputAsItsParts) {
  expect_same_results_of_gemm(
      {}, {"Transpose", "Transpose", "MatMulInteger", "Add", "Mul", "Mul", "Cast", "Mul"});
}

TEST(Expand, WritesAGemmWithABiasPerRowAsItsParts) {
  expect_same_results_of_gemm(
      {"y_scale", "y_zero"}, {"Transpose", "Transpose", "MatMulInteger", "Add", "Mul", "Mul", "Div",
                              "Cast", "Mul", "QuantizeLinear"});
}

TEST(Expand, WritesFunctionsOfIntegersAsDifferencesAndLimits) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> expected{
      {"Relu", {"Cast", "Max", "Cast"}},
      {"Abs", {"Cast", "Sub", "Max", "Cast"}},
      {"Neg", {"Cast", "Sub", "Cast"}},
      {"Sign", {"Cast", "Max", "Min", "Cast"}}};
  for (const auto& [op, types] : expected) {
    ModelBuilder model(14);
    model.input("a", DType::kS8, {4}).node(op, {"a"}, {"y"}).output("y");
    Sink sink;
    auto graph = load(model, sink);
    ASSERT_TRUE(graph) << errors_of(sink);
    const std::vector<Tensor> inputs{s8({4}, {-128, -1, 0, 127})};
    const std::vector<Tensor> before = evaluate(*graph, inputs);
    expand(*graph, sink);
    EXPECT_EQ(types_of(*graph), types);
    EXPECT_EQ(evaluate(*graph, inputs), before) << op;
  }
}

// All pairs of numbers at the edges of the type, as two lists.
template <class T>
std::vector<Tensor> pairs() {
  constexpr T kMost = std::numeric_limits<T>::max();
  constexpr T kMiddle = kMost / 2;
  const std::vector<T> edges = {
      0,    1, 2, 31, 32, 63, 64, kMiddle, static_cast<T>(kMiddle + 1), static_cast<T>(kMost - 1),
      kMost};
  std::vector<T> a, b;
  for (const T x : edges) {
    for (const T y : edges) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const Shape shape{static_cast<std::int64_t>(a.size())};
  return {Tensor::of<T>(shape, a), Tensor::of<T>(shape, b)};
}

// That the parts of the operator give what it gives itself.
void expect_same_parts(const std::string& op, const std::vector<Tensor>& inputs,
                       const std::map<std::string, Attribute>& attributes = {}) {
  ModelBuilder model(18);
  const Shape& shape = inputs[0].shape();
  model.input("a", inputs[0].dtype(), {shape[0]}).input("b", inputs[0].dtype(), {shape[0]});
  model.node(op, {"a", "b"}, {"y"}, attributes).output("y");
  Sink sink;
  auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const std::vector<Tensor> before = evaluate(*graph, inputs);
  expand(*graph, sink);
  EXPECT_GT(graph->nodes.size(), 1U) << op;
  EXPECT_EQ(evaluate(*graph, inputs), before) << op << " of " << name_of(inputs[0].dtype());
}

TEST(Expand, WritesUnsignedArithmeticOnSignedBits) {
  for (const auto& inputs : {pairs<std::uint32_t>(), pairs<std::uint64_t>()}) {
    for (const char* const op : {"Add", "Sub", "Mul", "Max", "Min", "BitwiseAnd", "BitwiseOr",
                                 "BitwiseXor", "Equal", "Less", "Greater", "LessOrEqual"})
      expect_same_parts(op, inputs);
    for (const char* const direction : {"LEFT", "RIGHT"})
      expect_same_parts("BitShift", inputs, {{"direction", std::string(direction)}});
  }
  for (const char* const op : {"Div", "Mod"}) {
    expect_same_parts(op, pairs<std::uint32_t>());
    expect_same_parts(op, pairs<std::uint64_t>());
  }
}

// A model of one node, without and with its parts.
void expect_same(ModelBuilder& model, const std::vector<Tensor>& inputs, const std::string& what) {
  Sink sink;
  auto graph = load(model, sink);
  ASSERT_TRUE(graph) << what << errors_of(sink);
  const std::vector<Tensor> before = evaluate(*graph, inputs);
  expand(*graph, sink);
  EXPECT_GT(graph->nodes.size(), 1U) << what;
  EXPECT_EQ(evaluate(*graph, inputs), before) << what;
}

void expect_same_cast(const Tensor& x, DType to) {
  ModelBuilder model(18);
  model.input("x", x.dtype(), {x.shape()[0]});
  model.node("Cast", {"x"}, {"y"}, {{"to", std::int64_t{onnx_number_of(to)}}}).output("y");
  expect_same(model, {x}, cat(name_of(x.dtype()), " to ", name_of(to)));
}

TEST(Expand, WritesCastsOfUnsignedTypesThroughSignedOnes) {
  using enum DType;
  const auto first = [](std::vector<Tensor> tensors) { return std::move(tensors[0]); };
  for (const DType to : {kF32, kBool, kU8, kS8, kU16, kS16, kU64, kS64})
    expect_same_cast(first(pairs<std::uint32_t>()), to);
  for (const DType to : {kF32, kBool, kU8, kS8, kU16, kS16, kU32, kS32})
    expect_same_cast(first(pairs<std::uint64_t>()), to);
  const Tensor real = f32({12}, {0, -1, 2.9F, -2.9F, 4294967040.0F, 4294967296.0F, 3e9F, 1e19F,
                                 9223372036854775808.0F, 18446742974197923840.0F, 1e20F, NAN});
  for (const DType to : {kU32, kU64}) {
    for (const Tensor& x : {first(pairs<std::uint8_t>()), first(pairs<std::int8_t>()),
                            first(pairs<std::int16_t>()), real}) {
      expect_same_cast(x, to);
    }
  }
  expect_same_cast(first(pairs<std::int32_t>()), kU64);
  expect_same_cast(first(pairs<std::int64_t>()), kU32);
}

// Halves between two floats, of which one bit far below decides.
TEST(Expand, RoundsLargeUnsignedNumbersOnce) {
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63, kTie = std::uint64_t{1} << 39;
  const Tensor x = Tensor::of<std::uint64_t>(
      {5}, {kTop + kTie, kTop + kTie + 1, kTop + kTie - 1, kTop + 3 * kTie, kTop + 3 * kTie - 1});
  expect_same_cast(x, DType::kF32);
}

TEST(Expand, WritesChoicesAndFunctionsOfUnsignedTypes) {
  Tensor condition(DType::kBool, {121});
  for (std::size_t i = 0; i < 121; i += 3) condition.as<std::uint8_t>()[i] = 1;
  for (const auto& inputs : {pairs<std::uint16_t>(), pairs<std::int16_t>(), pairs<std::uint32_t>(),
                             pairs<std::uint64_t>()}) {
    const DType type = inputs[0].dtype();
    ModelBuilder model(18);
    model.input("c", DType::kBool, {121}).input("a", type, {121}).input("b", type, {121});
    model.node("Where", {"c", "a", "b"}, {"y"}).output("y");
    if (bytes_of(type) > 2)  // rows of 16 bits are chosen as they are
      expect_same(model, {condition, inputs[0], inputs[1]}, cat("Where of ", name_of(type)));
    for (const char* const op : {"Abs", "Sign"}) {
      ModelBuilder one(18);
      one.input("a", type, {121}).node(op, {"a"}, {"y"}).output("y");
      expect_same(one, {inputs[0]}, cat(op, " of ", name_of(type)));
    }
  }
}

TEST(Expand, ComparesWordsAsInt32) {
  for (const char* const op : {"Equal", "Less", "GreaterOrEqual"}) {
    expect_same_parts(op, pairs<std::uint16_t>());
    expect_same_parts(op, pairs<std::int16_t>());
  }
}

TEST(Expand, LeavesOtherNodesAlone) {
  ModelBuilder model(13);
  model.input("a", DType::kF32, {2}).node("Relu", {"a"}, {"y"}).output("y");
  Sink sink;
  auto graph = load(model, sink);
  ASSERT_TRUE(graph);
  expand(*graph, sink);
  EXPECT_EQ(types_of(*graph), std::vector<std::string>{"Relu"});
}

TEST(Expand, WritesAMeanAsASumAndAProduct) {
  ModelBuilder model(13);
  model.input("a", DType::kF32, {2}).input("b", DType::kF32, {1}).input("c", DType::kF32, {2});
  model.node("Mean", {"a", "b", "c"}, {"y"}).output("y");
  Sink sink;
  auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  expand(*graph, sink);
  EXPECT_EQ(types_of(*graph), (std::vector<std::string>{"Sum", "Mul"}));
  EXPECT_EQ(evaluate(*graph, {f32({2}, {1, 2}), f32({1}, {3}), f32({2}, {2, 10})}).at(0),
            f32({2}, {2, 5}));
}

// All but shifts are computed as bytes.
TEST(Expand, WritesShiftsOfBytesInInt32) {
  ModelBuilder model(14);
  model.input("a", DType::kU8, {3}).input("b", DType::kU8, {1});
  model.node("BitShift", {"a", "b"}, {"y"}, {{"direction", std::string("RIGHT")}}).output("y");
  Sink sink;
  auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  expand(*graph, sink);
  EXPECT_EQ(types_of(*graph), (std::vector<std::string>{"Cast", "Cast", "BitShift", "Cast"}));
  EXPECT_EQ(evaluate(*graph, {u8({3}, {0, 100, 255}), u8({1}, {5})}).at(0), u8({3}, {0, 3, 7}));
}

}  // namespace
}  // namespace etch
