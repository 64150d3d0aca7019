// Elements of 4 bits become int8 without a change of what the graph computes.
#include "compiler/passes/widen_four_bits.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/ops/evaluate.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

Tensor four_bits(DType type, Shape shape, const std::vector<int>& values) {
  Tensor out(type, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i)
    out.mutable_bytes()[i] = static_cast<std::byte>(values[i] & 0xff);
  return out;
}

std::string types_of(const Graph& graph) {
  std::string out;
  for (const Node& node : graph.nodes) out += cat(out.empty() ? "" : " ", node.op_type);
  return out;
}

// The operators after widening; their results on `x` are those of before.
std::string widened(const ModelBuilder& model, const Tensor& x) {
  Sink sink;
  auto graph = load(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  if (!graph) return "";
  const std::vector<Tensor> before = evaluate(*graph, {x});
  widen_four_bits(*graph, sink);
  verify(*graph, Resolved::kYes);
  EXPECT_EQ(evaluate(*graph, {x}), before);
  for (const Value& value : graph->values)
    EXPECT_TRUE(value.dtype != DType::kS4 && value.dtype != DType::kU4) << value.name;
  return types_of(*graph);
}

TEST(WidenFourBits, WeightsBecomeInt8) {
  for (const DType type : {DType::kS4, DType::kU4}) {
    ModelBuilder model(21);
    model.input("x", DType::kF32, {2, 2}).initializer("scale", f32({2}, {0.5F, 0.25F}));
    model.initializer("w", four_bits(type, {2, 2}, {1, 7, type == DType::kS4 ? -8 : 15, 0}));
    model.initializer("zero", four_bits(type, {2}, {3, type == DType::kS4 ? -1 : 9}));
    model.node("Transpose", {"w"}, {"t"});
    model.node("DequantizeLinear", {"t", "scale", "zero"}, {"f"}, {{"axis", std::int64_t{0}}});
    model.node("MatMul", {"x", "f"}, {"y"}).output("y");
    EXPECT_EQ(widened(model, f32({2, 2}, {1, 2, 3, 4})), "DequantizeLinear MatMul");
  }
}

TEST(WidenFourBits, QuantizationClipsToTheRange) {
  for (const std::int64_t code : {21, 22}) {
    ModelBuilder model(21);
    model.input("x", DType::kF32, {5}).initializer("scale", f32({}, {0.5F}));
    model.node("QuantizeLinear", {"x", "scale"}, {"q"}, {{"output_dtype", code}});
    model.node("Reshape", {"q", "shape"}, {"r"}).initializer("shape", s64({2}, {5, 1}));
    model.node("DequantizeLinear", {"r", "scale"}, {"y"}).output("y");
    EXPECT_EQ(widened(model, f32({5}, {-1e9F, -2.2F, 0.3F, 3.3F, 1e9F})),
              "QuantizeLinear Clip Reshape DequantizeLinear");
  }
}

TEST(WidenFourBits, IntegersKeepTheirLowBits) {
  for (const std::int64_t code : {21, 22}) {
    ModelBuilder model(21);
    model.input("x", DType::kS32, {6});
    model.node("Cast", {"x"}, {"q"}, {{"to", code}});
    model.node("Cast", {"q"}, {"y"}, {{"to", std::int64_t{1}}}).output("y");
    EXPECT_EQ(widened(model, s32({6}, {-17, -8, 7, 8, 15, 1000})), "Cast Table Cast");
  }
}

TEST(WidenFourBits, PortsOfFourBitsAreRefused) {
  ModelBuilder model(21);
  model.input("x", DType::kS4, {2}).node("Identity", {"x"}, {"y"}).output("y");
  Sink sink;
  EXPECT_EQ(compile(model.bytes(), {}, sink), nullptr);
  EXPECT_EQ(errors_of(sink),
            "model: error[E-UNSUPPORTED]: input 'x': is int4, which only values within the network "
            "can be; convert it there\n"
            "model: error[E-UNSUPPORTED]: output 'y': is int4, which only values within the "
            "network can be; convert it there\n");
}

// Integer kernels need 8-bit weights; those of 4 bits are as good.
TEST(WidenFourBits, QuantizedProductsTakeWeightsOfFourBits) {
  ModelBuilder model(21);
  model.input("x", DType::kS8, {3, 2}).initializer("scale", f32({}, {0.5F}));
  model.initializer("zero", s8({}, {1}));
  model.initializer("w", four_bits(DType::kU4, {2, 2}, {1, 7, 15, 0}));
  model.initializer("w_zero", four_bits(DType::kU4, {}, {8}));
  model.node("DequantizeLinear", {"x", "scale", "zero"}, {"xf"});
  model.node("DequantizeLinear", {"w", "scale", "w_zero"}, {"wf"});
  model.node("MatMul", {"xf", "wf"}, {"yf"});
  model.node("QuantizeLinear", {"yf", "scale", "zero"}, {"y"}).output("y");
  Sink sink;
  CompileOptions options;
  const auto graph = load_graph(model.bytes(), options, sink);
  ASSERT_NE(graph, nullptr) << errors_of(sink);
  EXPECT_EQ(types_of(*graph), "QLinearMatMul");
}

}  // namespace
}  // namespace etch
