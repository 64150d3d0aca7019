// Which pairs of outputs and inputs are suggested as states, and which networks have none.
#include "compiler/passes/likely_states.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/compile.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {
using namespace std::string_literals;

// A network of x [3] and y [3], with pairs of an input and an output of `shape` [2].
std::string model(const std::vector<std::pair<std::string, std::string>>& pairs,
                  bool has_frame = true) {
  ModelBuilder out;
  if (has_frame) out.input("x", DType::kF32, {3}).node("Neg", {"x"}, {"y"}).output("y");
  for (const auto& [input, output] : pairs) {
    out.input(input, DType::kF32, {2}).node("Neg", {input}, {output}).output(output);
  }
  return out.bytes();
}

std::string suggested(const std::string& bytes) {
  Sink sink;
  const auto graph = load_graph(bytes, {}, sink);
  if (graph == nullptr) return errors_of(sink);
  std::string text;
  for (const StateRequest& each : likely_states(*graph))
    text += each.output + "=" + each.input + " ";
  return text;
}

TEST(LikelyStates, AreFoundByNamesThatDifferInTheirSide) {
  EXPECT_EQ(suggested(model({{"state", "stateN"}})), "stateN=state ");
  EXPECT_EQ(suggested(model({{"h0", "hn"}, {"c0", "cn"}})), "hn=h0 cn=c0 ");
  EXPECT_EQ(suggested(model({{"h", "hn"}, {"c", "cn"}})), "hn=h cn=c ");
  EXPECT_EQ(suggested(model({{"conv_cache", "conv_cache_out"}})), "conv_cache_out=conv_cache ");
  EXPECT_EQ(suggested(model({{"rnn1_h_in", "rnn1_h_out"}, {"rnn2_h_in", "rnn2_h_out"}})),
            "rnn1_h_out=rnn1_h_in rnn2_h_out=rnn2_h_in ");
  EXPECT_EQ(suggested(model({{"input_2", "output_2"}, {"input_3", "output_3"}})),
            "output_2=input_2 output_3=input_3 ");
  EXPECT_EQ(suggested(model({{"prevState", "nextState"}})), "nextState=prevState ");
}

TEST(LikelyStates, AreNotGuessedWhereNamesOrShapesSayOtherwise) {
  EXPECT_EQ(suggested(model({{"left", "right"}})), "");
  EXPECT_EQ(suggested(model({{"input", "output"}})), "");  // nothing is left of the names
  EXPECT_EQ(suggested(model({{"h", "hn"}}, /*has_frame=*/false)), "");  // nothing but states
  EXPECT_EQ(suggested(model({{"h", "hn"}, {"h0", "h_out"}})), "");      // two ways
  ModelBuilder other;
  other.input("x", DType::kF32, {3}).node("Neg", {"x"}, {"y"}).output("y");
  other.input("h", DType::kF32, {2}).node("Concat", {"h", "h"}, {"hn"}, {{"axis", 0}}).output("hn");
  EXPECT_EQ(suggested(other.bytes()), "");
}

TEST(LikelyStates, AreSuggestedUnlessStatesAreGiven) {
  CompileOptions options;
  options.target = "scalar";
  Sink sink;
  ASSERT_NE(compile(model({{"h", "h out"}}), options, sink), nullptr);
  EXPECT_EQ(reports_of(sink),
            "model: note[E-GRAPH]: some outputs look like the next values of inputs; to keep them "
            "between inferences: --state 'h out=h'\n");
  options.states = {{"h out", "h"}};
  Sink quiet;
  ASSERT_NE(compile(model({{"h", "h out"}}), options, quiet), nullptr);
  EXPECT_EQ(reports_of(quiet), "");
}

TEST(LikelyStates, AreNotSuggestedByNamesThatCannotBeTyped) {
  CompileOptions options;
  options.target = "scalar";
  const std::string longest(200, 'h');
  for (const std::string& name : {"h="s, "h\x1b"s, "h'"s, longest}) {
    ASSERT_FALSE(suggested(model({{name + " in", name + " out"}})).empty());
    Sink sink;
    ASSERT_NE(compile(model({{name + " in", name + " out"}}), options, sink), nullptr);
    EXPECT_EQ(reports_of(sink), "");
  }
}

}  // namespace
}  // namespace etch
