// Float inputs in front of quantized ones.
#include "compiler/passes/quantize_input.h"

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/ops/evaluate.h"
#include "compiler/passes/resolve.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// y = x (int8 or what is asked for) * 0.5 as float
ModelBuilder model(DType type = DType::kS8) {
  ModelBuilder out(21);
  out.input("x", type, {4});
  out.initializer("half", Tensor::of<float>({}, {0.5F}));
  out.node("DequantizeLinear", {"x", "half"}, {"y"});
  out.output("y");
  return out;
}

std::string errors_of_inputs(const ModelBuilder& builder,
                             const std::vector<QuantizeInput>& inputs) {
  Sink sink;
  CompileOptions options;
  options.quantize_inputs = inputs;
  load_graph(builder.bytes(), options, sink);
  return errors_of(sink);
}

TEST(QuantizeInput, TheNetworkThenTakesFloat) {
  Sink sink;
  std::optional<Graph> graph = import_graph(model(), sink);
  ASSERT_TRUE(graph);
  quantize_inputs(*graph, {{"x", RangeMode::kScaled, -10, 5, DType::kS8}}, sink);
  resolve(*graph, sink);
  ASSERT_EQ(errors_of(sink), "");
  ASSERT_EQ(graph->inputs.size(), 1U);
  EXPECT_EQ(graph->value(graph->inputs[0]).dtype, DType::kF32);
  EXPECT_EQ(graph->value(graph->inputs[0]).name, "x");
  const std::vector<Tensor> y = evaluate(*graph, {f32({4}, {-10, 0, 5, 20})});
  EXPECT_EQ(y.at(0), f32({4}, {-64, 0, 32, 63.5F}));  // -128, 0, 64, 127
}

TEST(QuantizeInput, TheTypeIsTheInputsUnlessSaid) {
  EXPECT_EQ(errors_of_inputs(model(), {{"x", RangeMode::kMinFirst, 0, 1, {}}}), "");
  EXPECT_NE(errors_of_inputs(model(), {{"x", RangeMode::kMinFirst, 0, 1, DType::kU8}})
                .find("is qint8, not quint8"),
            std::string::npos);
}

TEST(QuantizeInput, RefusesUnknownAndRepeatedNames) {
  EXPECT_NE(errors_of_inputs(model(), {{"z", RangeMode::kScaled, 0, 1, {}}}).find("E-NAME"),
            std::string::npos);
  const QuantizeInput x{"x", RangeMode::kScaled, 0, 1, {}};
  EXPECT_NE(errors_of_inputs(model(), {x, x}).find("is to be quantized twice"), std::string::npos);
}

TEST(QuantizeInput, RefusesInputsThatAreNotQuantized) {
  ModelBuilder relu;
  relu.input("x", DType::kF32, {4}).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_NE(errors_of_inputs(relu, {{"x", RangeMode::kScaled, 0, 1, {}}}).find("E-TYPE"),
            std::string::npos);
}

TEST(QuantizeInput, RefusesRangesAsQuantizeV2Does) {
  EXPECT_NE(errors_of_inputs(model(), {{"x", RangeMode::kScaled, 1, 0, {}}}).find("E-QUANT"),
            std::string::npos);
}

}  // namespace
}  // namespace etch
