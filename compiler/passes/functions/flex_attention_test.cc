// FlexAttention: what its modifiers do, as operators written out and as Attention; what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "compiler/ops/evaluate.h"
#include "compiler/passes/functions/functions.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

constexpr DType kF = DType::kF32;
constexpr const char* kPreview = "ai.onnx.preview";

struct Sizes {
  std::int64_t batch = 2, heads = 4, key_heads = 2, rows = 3, columns = 5, size = 4, values = 6;
};

ModelBuilder with_inputs(const Sizes& s) {
  ModelBuilder model(26);
  model.opset(kPreview, 1);
  model.input("q", kF, {s.batch, s.heads, s.rows, s.size});
  model.input("k", kF, {s.batch, s.key_heads, s.columns, s.size});
  return model.input("v", kF, {s.batch, s.key_heads, s.columns, s.values});
}

ModelBuilder flex(const Sizes& s, const std::map<std::string, Attribute>& attributes = {}) {
  ModelBuilder model = with_inputs(s);
  model.node("FlexAttention", {"q", "k", "v"}, {"y"}, attributes, kPreview);
  return model.output("y");
}

Tensor waves(Shape shape, float phase) {
  Tensor out(kF, std::move(shape));
  float at = phase;
  for (float& x : out.as<float>()) x = std::sin(at += 0.7F);
  return out;
}

std::vector<Tensor> inputs_of(const Sizes& s) {
  return {waves({s.batch, s.heads, s.rows, s.size}, 0),
          waves({s.batch, s.key_heads, s.columns, s.size}, 1),
          waves({s.batch, s.key_heads, s.columns, s.values}, 2)};
}

Tensor result_of(const ModelBuilder& model, const std::vector<Tensor>& inputs) {
  Sink sink;
  const auto graph = load(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  return graph ? evaluate(*graph, inputs).at(0) : Tensor();
}

std::string errors(const ModelBuilder& model) {
  Sink sink;
  EXPECT_FALSE(load(model, sink));
  return errors_of(sink);
}

ModelBuilder modifier() {
  ModelBuilder body(26);
  return body.input("s", kF, {"B", "H", "L", "S"});
}

// -infinity for keys after the query, from positions that it makes of the shape.
ModelBuilder causal() {
  ModelBuilder body = modifier();
  body.initializer("zero", s64({}, {0})).initializer("one", s64({}, {1}));
  body.initializer("two", s64({}, {2})).initializer("three", s64({}, {3}));
  body.initializer("far", f32({}, {-std::numeric_limits<float>::infinity()}));
  body.initializer("rows", s64({2}, {-1, 1}));
  body.node("Shape", {"s"}, {"n"});
  body.node("Gather", {"n", "two"}, {"l"}).node("Gather", {"n", "three"}, {"c"});
  body.node("Range", {"zero", "l", "one"}, {"i"}).node("Range", {"zero", "c", "one"}, {"j"});
  body.node("Reshape", {"i", "rows"}, {"i2"}).node("GreaterOrEqual", {"i2", "j"}, {"seen"});
  return body.node("Where", {"seen", "s", "far"}, {"t"}).output("t");
}

TEST(FlexAttention, IsAttentionWhereNothingIsModified) {
  for (const std::int64_t key_heads : {1, 2, 4}) {
    Sizes s;
    s.key_heads = key_heads;
    const auto inputs = inputs_of(s);
    ModelBuilder model = with_inputs(s);
    model.node("Attention", {"q", "k", "v"}, {"y"}).output("y");
    EXPECT_EQ(result_of(flex(s), inputs), result_of(model, inputs));
  }
}

TEST(FlexAttention, ModifiesScoresByPositions) {
  const Sizes s;
  const auto inputs = inputs_of(s);
  ModelBuilder model = with_inputs(s);
  model.node("Attention", {"q", "k", "v"}, {"y"}, {{"is_causal", std::int64_t{1}}}).output("y");
  EXPECT_EQ(result_of(flex(s).subgraph("score_mod", causal()), inputs), result_of(model, inputs));
}

// With a tensor of around the node, and a body in each place with the same names.
TEST(FlexAttention, ModifiesScoresBeforeAndSharesAfterTheSoftmax) {
  const Sizes s;
  auto inputs = inputs_of(s);
  inputs.push_back(waves({s.heads, 1, s.columns}, 3));
  const auto with_bias = [&] {
    ModelBuilder model = with_inputs(s);
    model.input("bias", kF, {s.heads, 1, s.columns});
    return model.node("Neg", {"bias"}, {"other"});
  };
  ModelBuilder first = modifier(), second = modifier();
  first.node("Add", {"s", "other"}, {"t"}).output("t");
  second.node("Mul", {"s", "other"}, {"t"}).output("t");
  ModelBuilder model = with_bias();
  model.node("FlexAttention", {"q", "k", "v"}, {"y"}, {{"scale", 0.25F}}, kPreview);
  model.subgraph("score_mod", first).subgraph("prob_mod", second).output("y");
  ModelBuilder plain = with_bias();
  plain.initializer("scale", f32({}, {0.25F})).initializer("g", s64({4}, {2, 2, 6, 4}));
  plain.initializer("a", s64({4}, {2, 4, 3, 5})).initializer("b", s64({4}, {2, 2, 6, 5}));
  plain.initializer("c", s64({4}, {2, 4, 3, 6}));
  plain.node("Reshape", {"q", "g"}, {"q2"});
  plain.node("Transpose", {"k"}, {"k2"}, {{"perm", Ints{0, 1, 3, 2}}});
  plain.node("MatMul", {"q2", "k2"}, {"p"}).node("Reshape", {"p", "a"}, {"p2"});
  plain.node("Mul", {"p2", "scale"}, {"p3"}).node("Add", {"p3", "other"}, {"p4"});
  plain.node("Softmax", {"p4"}, {"p5"}).node("Mul", {"p5", "other"}, {"p6"});
  plain.node("Reshape", {"p6", "b"}, {"p7"}).node("MatMul", {"p7", "v"}, {"p8"});
  plain.node("Reshape", {"p8", "c"}, {"y"}).output("y");
  EXPECT_EQ(result_of(model, inputs), result_of(plain, inputs));
}

TEST(FlexAttention, SaysWhatDoesNotFit) {
  const std::string at = "]: node #0 (FlexAttention): ";
  Sizes odd;
  odd.key_heads = 3;
  EXPECT_EQ(errors(flex(odd)),
            "model: error[E-SHAPE" + at +
                "queries [2, 4, 3, 4] and keys [2, 3, 5, 4] must have one batch, one size of at "
                "least 1, and heads of which those of queries are a multiple\n");
  EXPECT_EQ(errors(flex({}, {{"softmax_precision", std::int64_t{7}}})),
            "model: error[E-ATTR" + at +
                "attribute 'softmax_precision' must be 1, 10, 11 or 16, the number of a type of "
                "floats, got 7\n");
  EXPECT_EQ(
      errors(flex({}, {{"stage", std::int64_t{2}}})),
      "model: error[E-ATTR" + at + "attribute 'stage': is not an attribute of this operator\n");
  EXPECT_EQ(errors(flex({}, {{"is_causal", std::int64_t{1}}})),
            "model: error[E-ATTR" + at + "attribute 'is_causal' is not known\n");
  ModelBuilder few = with_inputs({});
  few.node("FlexAttention", {"q", "k"}, {"y"}, {}, kPreview).output("y");
  EXPECT_EQ(errors(few),
            "model: error[E-GRAPH" + at + "must have 3 inputs and 1 output, has 2 and 1\n");
}

TEST(FlexAttention, SaysWhatIsWrongWithAModifier) {
  const std::string at = "]: node #0 (FlexAttention): ";
  ModelBuilder sums = modifier(), two = modifier(), none = modifier(), shadow(26);
  sums.node("ReduceMax", {"s"}, {"t"}).output("t");
  EXPECT_EQ(errors(flex({}).subgraph("score_mod", sums)),
            "model: error[E-SHAPE" + at +
                "attribute 'score_mod' must give floats of the shape that it gets, [2, 4, 3, 5], "
                "gives float32 [1, 1, 1, 1]\n");
  ModelBuilder truth = modifier();
  truth.node("IsNaN", {"s"}, {"t"}).output("t");
  EXPECT_EQ(errors(flex({}).subgraph("prob_mod", truth)),
            "model: error[E-SHAPE" + at +
                "attribute 'prob_mod' must give floats of the shape that it gets, [2, 4, 3, 5], "
                "gives bool [2, 4, 3, 5]\n");
  two.input("other", kF, {1}).node("Add", {"s", "other"}, {"t"}).output("t");
  EXPECT_EQ(errors(flex({}).subgraph("prob_mod", two)),
            "model: error[E-GRAPH" + at +
                "attribute 'prob_mod' must have one input and one output, has 2 and 1\n");
  none.output("t");
  EXPECT_EQ(errors(flex({}).subgraph("score_mod", none)),
            "model: error[E-GRAPH" + at +
                "its result 't' is no input, initializer or output of a node\n");
  shadow.input("q", kF, {1}).output("q");
  EXPECT_EQ(
      errors(flex({}).subgraph("score_mod", shadow)),
      "model: error[E-NAME" + at + "its body defines 'q', which is defined around it already\n");
  ModelBuilder same = modifier();
  same.initializer("s", f32({}, {1})).output("s");
  EXPECT_EQ(errors(flex({}).subgraph("score_mod", same)),
            "model: error[E-GRAPH" + at +
                "input 's' of its 'score_mod' has no name, or that of another\n");
}

}  // namespace
}  // namespace etch
