// What the interface of a network states about its inputs and outputs.
#include "compiler/lower/ports.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace etch
