// What the interface of a network states about its inputs and outputs.
#include "compiler/lower/ports.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(Ports, OnlyTheInputThatAnOperatorStatesHasItsQuantization) {
  ModelBuilder model;
  model.input("a", DType::kU8, {2, 3}).input("b", DType::kU8, {3, 2});
  model.initializer("a_scale", f32({}, {0.5F})).initializer("a_zero", u8({}, {5}));
  model.initializer("b_scale", f32({}, {0.25F})).initializer("b_zero", u8({}, {7}));
  model.initializer("y_scale", f32({}, {2})).initializer("y_zero", u8({}, {9}));
  model.node("QLinearMatMul",
             {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"}, {"y"});
  model.output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  Program program;
  describe_ports(*graph, program);
  ASSERT_EQ(program.inputs.size(), 2U);
  EXPECT_TRUE(program.inputs[0].quantized);
  EXPECT_EQ(program.inputs[0].scale, 0.5F);
  EXPECT_FALSE(program.inputs[1].quantized);
  EXPECT_EQ(program.outputs.at(0).zero_point, 9);
}

// The number of the file that has what output i is, or is the shape of.
std::vector<int> files_of(const ModelBuilder& model) {
  Sink sink;
  const auto graph = load(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  Program program;
  if (graph) describe_ports(*graph, program);
  std::vector<int> out;
  for (const Port& port : program.outputs) out.push_back(port.file);
  return out;
}

TEST(Ports, ShapesAreThoseOfTheOutputThatTheFileHas) {
  for (const std::int64_t elements : {1, 3}) {  // the rows of one element are known
    ModelBuilder model(17);
    model.input("x", DType::kF32, {elements}).node("Unique", {"x"}, {"y", "i"});
    EXPECT_EQ(files_of(model.output("y").output("i")), (std::vector{0, 1, 0, 1}));
  }
}

TEST(Ports, ShapesThatAFileSaysOfNoOutputBeforeThemAreOutputsAsOthers) {
  const auto files_with = [](std::map<std::string, Attribute> attributes) {
    attributes["axis"] = std::int64_t{0};
    ModelBuilder model;
    model.opset("org.etch", 1).input("x", DType::kS64, {2});
    model.node("Neg", {"x"}, {"y"}).node("OutputShape", {"x"}, {"z"}, attributes, "org.etch");
    return files_of(model.output("y").output("z"));
  };
  EXPECT_EQ(files_with({}), (std::vector{0, 1}));
  for (const std::int64_t output : {-5, 0, 1, 999})
    EXPECT_EQ(files_with({{"output", output}}), (std::vector{0, output == 0 ? 0 : 1})) << output;
}

}  // namespace
}  // namespace etch
