// Which outputs may be inputs of the next inference, and what is said of those that may not.
#include "compiler/passes/states.h"

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/program/state.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {

// Inputs x, h (3 floats), c (2 floats), n (3 integers); outputs y and h_out like x, c_out like c.
std::string model() {
  ModelBuilder out;
  out.input("x", DType::kF32, {3}).input("h", DType::kF32, {3});
  out.input("c", DType::kF32, {2}).input("n", DType::kS32, {3});
  out.node("Add", {"x", "h"}, {"y"}).node("Mul", {"x", "h"}, {"h_out"});
  out.node("Add", {"c", "c"}, {"c_out"}).node("Add", {"n", "n"}, {"n_out"});
  out.output("y").output("h_out").output("c_out").output("n_out");
  return out.bytes();
}

std::unique_ptr<Program> with_states(const std::vector<StateRequest>& states, Sink& sink) {
  CompileOptions options;
  options.target = "scalar";
  options.states = states;
  return compile(model(), options, sink);
}

std::string errors(const std::vector<StateRequest>& states) {
  Sink sink;
  with_states(states, sink);
  return errors_of(sink);
}

TEST(States, AreReadFromPairsOfNames) {
  const auto state = parse_state("a=b=c");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->output, "a=b");
  EXPECT_EQ(state->input, "c");
  for (const char* wrong : {"", "=", "a=", "=b", "ab"}) EXPECT_FALSE(parse_state(wrong)) << wrong;
  const auto states = parse_states("a=b,c=d");
  ASSERT_TRUE(states);
  ASSERT_EQ(states->size(), 2U);
  EXPECT_EQ((*states)[1].output, "c");
  for (const char* wrong : {"", "a=b,", ",a=b", "a=b,c"})
    EXPECT_FALSE(parse_states(wrong)) << wrong;
}

TEST(States, AreKeptByNumberOneAfterTheOther) {
  Sink sink;
  const auto program = with_states({{"h_out", "h"}, {"c_out", "c"}}, sink);
  ASSERT_NE(program, nullptr) << errors_of(sink);
  const StateLayout state = state_of(*program);
  ASSERT_EQ(state.ports.size(), 2U);
  EXPECT_EQ(state.ports[0].input, 1);
  EXPECT_EQ(state.ports[0].output, 1);
  EXPECT_EQ(state.ports[1].offset, 16);  // after 12 bytes, at a multiple of 8
  EXPECT_EQ(state.half, 24);
  EXPECT_TRUE(is_state(program->inputs[1]));
  EXPECT_FALSE(is_state(program->inputs[0]));
}

TEST(States, OfUnknownNamesAreRefused) {
  EXPECT_NE(errors({{"h_oud", "h"}}).find("no output 'h_oud'; did you mean 'h_out'?"),
            std::string::npos);
  EXPECT_NE(errors({{"h_out", "hidden"}}).find("E-NAME"), std::string::npos);
}

TEST(States, OfAnotherShapeOrTypeAreRefused) {
  EXPECT_NE(errors({{"h_out", "c"}}).find("E-SHAPE"), std::string::npos);
  EXPECT_NE(errors({{"h_out", "n"}}).find("E-TYPE"), std::string::npos);
}

TEST(States, GivenTwiceAreRefused) {
  EXPECT_NE(errors({{"h_out", "h"}, {"h_out", "x"}}).find("the output is the state of another"),
            std::string::npos);
  EXPECT_NE(errors({{"h_out", "h"}, {"y", "h"}}).find("the input is the state of another"),
            std::string::npos);
}

}  // namespace
}  // namespace etch
