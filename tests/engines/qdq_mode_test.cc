// The ways of compiling a QDQ network: --qdq integer and all fuse groups, --qdq float computes
// what the file says, so that results equal the references on the unchanged graph bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/compile.h"
#include "compiler/ops/evaluate.h"
#include "tests/support/engines.h"
#include "tests/support/model_builder.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

// x -> DQ -> Conv 3x3 -> Relu -> Q -> DQ -> Sigmoid -> Q, uint8, with a zero point that Relu shows.
Case network() {
  Dice dice(31);
  ModelBuilder model(13);
  model.input("x", DType::kU8, {1, 2, 9, 9});
  model.initializer("scale", Tensor::of<float>({}, {0.03F}));
  model.initializer("zero", Tensor::of<std::uint8_t>({}, {97}));
  model.initializer("w", random_bytes(dice, DType::kS8, {3, 2, 3, 3}));
  model.initializer("w_scale", Tensor::of<float>({}, {0.01F}));
  model.node("DequantizeLinear", {"x", "scale", "zero"}, {"xf"});
  model.node("DequantizeLinear", {"w", "w_scale"}, {"wf"});
  model.node("Conv", {"xf", "wf"}, {"c"}).node("Relu", {"c"}, {"r"});
  model.node("QuantizeLinear", {"r", "scale", "zero"}, {"q"});
  model.node("DequantizeLinear", {"q", "scale", "zero"}, {"f"});
  model.node("Sigmoid", {"f"}, {"s"}).node("QuantizeLinear", {"s", "scale", "zero"}, {"y"});
  model.output("q").output("y");
  return {"qdq", model.bytes(), {random_bytes(dice, DType::kU8, {1, 2, 9, 9})}};
}

CompileOptions options_for(QdqMode mode) {
  CompileOptions options;
  options.target = "scalar";
  options.qdq = mode;
  return options;
}

std::vector<std::string> operators(QdqMode mode) {
  Sink sink;
  const auto graph = load_graph(network().model, options_for(mode), sink);
  std::vector<std::string> out;
  if (graph == nullptr) return out;
  for (const Node& node : graph->nodes) out.push_back(node.op_type);
  return out;
}

std::vector<Tensor> outputs(QdqMode mode) {
  Sink sink;
  const Case each = network();
  const auto program = compile(each.model, options_for(mode), sink);
  EXPECT_NE(program, nullptr) << errors_of(sink);
  return program == nullptr ? std::vector<Tensor>{} : native_outputs(*program, each.inputs);
}

TEST(QdqMode, IntegerFusesGroups) {
  EXPECT_EQ(operators(QdqMode::kInteger), (std::vector<std::string>{"QLinearConv", "Table"}));
}

TEST(QdqMode, FloatKeepsThem) {
  const auto kept = operators(QdqMode::kFloat);
  EXPECT_NE(std::ranges::find(kept, "ConvRelu"), kept.end());
  EXPECT_EQ(std::ranges::find(kept, "QLinearConv"), kept.end());
}

TEST(QdqMode, FloatSaysWhatItKeeps) {
  Sink sink;
  const auto graph = load_graph(network().model, options_for(QdqMode::kFloat), sink);
  ASSERT_NE(graph, nullptr);
  std::vector<std::string> kept;
  for (const FusionRecord& record : graph->fusions.records()) {
    if (record.outcome != FusionRecord::Outcome::kMissed) continue;
    EXPECT_EQ(record.what, "--qdq float keeps it in float");
    kept.push_back(record.op_type);
  }
  EXPECT_EQ(kept, (std::vector<std::string>{"Conv", "Relu"}));
}

TEST(QdqMode, FloatGivesWhatTheFileSays) {
  EXPECT_EQ(difference_of(outputs(QdqMode::kFloat), reference_outputs(network())), "");
}

TEST(QdqMode, IntegerDiffersByOneStepAtMost) {
  const auto integer = outputs(QdqMode::kInteger);
  const auto exact = reference_outputs(network());
  ASSERT_EQ(integer.size(), exact.size());
  for (std::int64_t i = 0; i < exact[0].size(); ++i) {
    EXPECT_LE(std::abs(integer[0].integer(i) - exact[0].integer(i)), 1);
  }
}

// uint8 -> Conv 3x3 -> int8, twice read: by a Conv to uint8 and by the sum with its result.
Case mixed_network() {
  Dice dice(32);
  ModelBuilder model(13);
  const Shape shape{1, 16, 9, 9};
  model.input("x", DType::kU8, {1, 16, 9, 9});
  model.initializer("scale", Tensor::of<float>({}, {0.03F}));
  model.initializer("zero", Tensor::of<std::uint8_t>({}, {97}));
  model.initializer("signed", Tensor::of<std::int8_t>({}, {-9}));
  model.initializer("w", random_bytes(dice, DType::kS8, {16, 16, 3, 3}));
  model.initializer("w_scale", Tensor::of<float>({}, {0.002F}));
  model.node("DequantizeLinear", {"x", "scale", "zero"}, {"xf"});
  model.node("DequantizeLinear", {"w", "w_scale"}, {"wf"});
  model.node("Conv", {"xf", "wf"}, {"a"}, {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  model.node("QuantizeLinear", {"a", "scale", "signed"}, {"aq"});
  model.node("DequantizeLinear", {"aq", "scale", "signed"}, {"af"});
  model.node("Conv", {"af", "wf"}, {"b"}, {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  model.node("QuantizeLinear", {"b", "scale", "zero"}, {"bq"});
  model.node("DequantizeLinear", {"bq", "scale", "zero"}, {"bf"});
  model.node("Add", {"af", "bf"}, {"s"});
  model.node("QuantizeLinear", {"s", "scale", "zero"}, {"y"}).output("y");
  return {"mixed", model.bytes(), {random_bytes(dice, DType::kU8, shape)}};
}

TEST(QdqMode, AllTakesBothTypes) {
  const Case each = mixed_network();
  for (const QdqMode mode : {QdqMode::kInteger, QdqMode::kAll}) {
    Sink sink;
    const auto graph = load_graph(each.model, options_for(mode), sink);
    ASSERT_NE(graph, nullptr) << errors_of(sink);
    const auto is_conv = [](const Node& node) { return node.op_type == "QLinearConv"; };
    EXPECT_EQ(std::ranges::count_if(graph->nodes, is_conv), mode == QdqMode::kAll ? 1 : 0);
    const auto floats = [](const Node& node) { return node.op_type == "Conv"; };
    EXPECT_EQ(std::ranges::count_if(graph->nodes, floats), mode == QdqMode::kAll ? 0 : 2);
  }
}

// As NNCF and PyTorch's exporter write a block: the sum after a convolution is in float, and so is
// the last layer.
Case network_with_float_results() {
  Dice dice(33);
  ModelBuilder model(13);
  const Shape shape{1, 16, 9, 9};
  model.input("x", DType::kU8, {1, 16, 9, 9});
  model.initializer("scale", Tensor::of<float>({}, {0.03F}));
  model.initializer("zero", Tensor::of<std::uint8_t>({}, {97}));
  model.initializer("w", random_bytes(dice, DType::kS8, {16, 16, 3, 3}));
  model.initializer("w_scale", Tensor::of<float>({}, {0.002F}));
  model.initializer("b", Tensor::of<float>({16}, std::vector<float>(16, 0.37F)));
  model.node("DequantizeLinear", {"x", "scale", "zero"}, {"xf"});
  model.node("DequantizeLinear", {"w", "w_scale"}, {"wf"});
  model.node("Conv", {"xf", "wf", "b"}, {"a"}, {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  model.node("Add", {"a", "xf"}, {"s"}).node("Relu", {"s"}, {"r"});
  model.node("QuantizeLinear", {"r", "scale", "zero"}, {"rq"});
  model.node("DequantizeLinear", {"rq", "scale", "zero"}, {"rf"});
  model.node("Conv", {"rf", "wf"}, {"y"}, {{"strides", std::vector<std::int64_t>{2, 2}}});
  return {"float_results", model.output("y").bytes(), {random_bytes(dice, DType::kU8, shape)}};
}

TEST(QdqMode, AllComputesProductsWithFloatResultsInIntegers) {
  Sink sink;
  const Case each = network_with_float_results();
  const auto program = compile(each.model, options_for(QdqMode::kAll), sink);
  ASSERT_NE(program, nullptr) << errors_of(sink);
  EXPECT_GT(program->macs, 0);
  EXPECT_EQ(program->float_macs, 0);
}

class AllOn : public ::testing::TestWithParam<Case> {};

TEST_P(AllOn, IsExactOnEveryTarget) {
  const Case& each = GetParam();
  Sink sink;
  const auto graph = load_graph(each.model, options_for(QdqMode::kAll), sink);
  ASSERT_NE(graph, nullptr) << errors_of(sink);
  const std::vector<Tensor> exact = evaluate(*graph, each.inputs);
  for (const IsaTraits* plan : plans()) {
    CompileOptions options = options_for(QdqMode::kAll);
    options.target = plan->name;
    const auto program = compile(each.model, options, sink);
    ASSERT_NE(program, nullptr) << plan->name << errors_of(sink);
    EXPECT_EQ(difference_of(native_outputs(*program, each.inputs), exact), "") << plan->name;
  }
}

INSTANTIATE_TEST_SUITE_P(QdqMode, AllOn,
                         ::testing::Values(mixed_network(), network_with_float_results()),
                         [](const auto& info) { return info.param.name; });

// -0.25 * x per channel and Relu, quantized with a zero point of 7 that the limit must respect.
TEST(QdqMode, ReluAfterConvTransposeIsALimit) {
  ModelBuilder model(13);
  model.input("x", DType::kU8, {1, 1, 1, 3});
  model.initializer("scale", Tensor::of<float>({}, {0.5F}));
  model.initializer("zero", Tensor::of<std::uint8_t>({}, {7}));
  model.initializer("w", Tensor::of<std::int8_t>({1, 1, 1, 1}, {-1}));
  model.node("DequantizeLinear", {"x", "scale", "zero"}, {"xf"});
  model.node("DequantizeLinear", {"w", "scale"}, {"wf"});
  model.node("ConvTranspose", {"xf", "wf"}, {"c"}).node("Relu", {"c"}, {"r"});
  model.node("QuantizeLinear", {"r", "scale", "zero"}, {"y"}).output("y");
  const Case each{"limit", model.bytes(), {Tensor::of<std::uint8_t>({1, 1, 1, 3}, {0, 3, 99})}};
  Sink sink;
  const auto program = compile(each.model, options_for(QdqMode::kInteger), sink);
  ASSERT_NE(program, nullptr) << errors_of(sink);
  EXPECT_EQ(native_outputs(*program, each.inputs).at(0),
            Tensor::of<std::uint8_t>({1, 1, 1, 3}, {11, 9, 7}));
}

}  // namespace
}  // namespace etch
