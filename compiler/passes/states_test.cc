// Which outputs may be inputs of the next inference, and what is said of those that may not.
#include "compiler/passes/states.h"

#include <gtest/gtest.h>

#include <map>

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

std::string errors_of_states(const std::vector<StateRequest>& states) {
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
  EXPECT_NE(errors_of_states({{"h_oud", "h"}}).find("no output 'h_oud'; did you mean 'h_out'?"),
            std::string::npos);
  EXPECT_NE(errors_of_states({{"h_out", "hidden"}}).find("E-NAME"), std::string::npos);
}

TEST(States, OfAnotherShapeOrTypeAreRefused) {
  EXPECT_NE(errors_of_states({{"h_out", "c"}}).find("E-SHAPE"), std::string::npos);
  EXPECT_NE(errors_of_states({{"h_out", "n"}}).find("E-TYPE"), std::string::npos);
}

TEST(States, GivenTwiceAreRefused) {
  EXPECT_NE(
      errors_of_states({{"h_out", "h"}, {"h_out", "x"}}).find("the output is the state of another"),
      std::string::npos);
  EXPECT_NE(
      errors_of_states({{"h_out", "h"}, {"y", "h"}}).find("the input is the state of another"),
      std::string::npos);
}

// ---- initial values ----

std::string initial_errors(const std::map<std::string, Tensor>& initial) {
  CompileOptions options;
  options.target = "scalar";
  options.states = {{"h_out", "h"}};
  options.initial_states = initial;
  Sink sink;
  compile(model(), options, sink);
  return errors_of(sink);
}

TEST(InitialStates, HaveTheTypeAndTheShapeOfTheState) {
  EXPECT_EQ(initial_errors({{"h", Tensor::of<float>({3}, {1, 2, 3})}}), "");
  EXPECT_EQ(initial_errors({{"h", Tensor::of<float>({1, 3}, {1, 2, 3})}}),
            "model: error[E-SHAPE]: initial state 'h': is float32 [1, 3], but the state is float32 "
            "[3]: both must be the same\n");
  EXPECT_EQ(initial_errors({{"h", Tensor::of<std::int32_t>({3}, {1, 2, 3})}}),
            "model: error[E-TYPE]: initial state 'h': is int32 [3], but the state is float32 [3]: "
            "both must be the same\n");
}

TEST(InitialStates, OfOtherInputsAreRefused) {
  const Tensor value = Tensor::of<float>({3}, {1, 2, 3});
  EXPECT_EQ(initial_errors({{"x", value}}),
            "model: error[E-NAME]: initial state 'x': is the input of no state: --state OUT=x says "
            "which output is its next value\n");
  EXPECT_EQ(initial_errors({{"hh", value}}),
            "model: error[E-NAME]: initial state 'hh': no state has an input of this name; did you "
            "mean 'h'?\n");
}

// A model whose file has a value for the input in front of x.
ModelBuilder with_default(const Tensor& value) {
  ModelBuilder out;
  out.input("h", DType::kF32, {"n"}).input("x", DType::kF32, {2});
  out.initializer("h", value);
  out.node("Add", {"h", "x"}, {"h_out"}).output("h_out");
  return out;
}

std::unique_ptr<Program> with_state(const ModelBuilder& model, Sink& sink,
                                    const std::map<std::string, Tensor>& initial = {}) {
  CompileOptions options;
  options.target = "scalar";
  options.states = {{"h_out", "h"}};
  options.initial_states = initial;
  return compile(model.bytes(), options, sink);
}

TEST(InitialStates, OfTheFileLeaveTheInputAnInput) {
  const Tensor value = Tensor::of<float>({2}, {5, 6});
  Sink sink;
  const auto program = with_state(with_default(value), sink);
  ASSERT_NE(program, nullptr) << errors_of(sink);
  ASSERT_EQ(program->inputs.size(), 2U);
  EXPECT_EQ(program->inputs[0].shape, Shape{2});
  ASSERT_NE(program->inputs[0].initial, nullptr);
  EXPECT_EQ(*program->inputs[0].initial, value);
  // The numbers of inputs without a value do not change.
  EXPECT_EQ(program->inputs[0].file, 1);
  EXPECT_EQ(program->inputs[1].file, 0);
  const Tensor other = Tensor::of<float>({2}, {7, 8});
  Sink of_option;
  EXPECT_EQ(*with_state(with_default(value), of_option, {{"h", other}})->inputs[0].initial, other);
  Sink of_zeros;
  EXPECT_EQ(with_state(with_default(Tensor(DType::kF32, {2})), of_zeros)->inputs[0].initial,
            nullptr);
}

TEST(InitialStates, OfTheFileMustFitWhatItDeclares) {
  Sink type;
  EXPECT_EQ(with_state(with_default(Tensor::of<std::int32_t>({2}, {1, 2})), type), nullptr);
  EXPECT_NE(errors_of(type).find("E-TYPE"), std::string::npos) << errors_of(type);
  Sink rank;
  EXPECT_EQ(with_state(with_default(Tensor::of<float>({1, 2}, {1, 2})), rank), nullptr);
  EXPECT_NE(errors_of(rank).find("E-SHAPE"), std::string::npos) << errors_of(rank);
  Sink twice;
  ModelBuilder model = with_default(Tensor::of<float>({2}, {5, 6}));
  EXPECT_EQ(with_state(model.initializer("h", Tensor::of<float>({2}, {5, 6})), twice), nullptr);
  EXPECT_NE(errors_of(twice).find("is given twice"), std::string::npos) << errors_of(twice);
}

}  // namespace
}  // namespace etch
