// Recurrent layers: the formulas on numbers that can be followed by hand, and the refusals.
#include "compiler/ops/recurrent/op.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using Names = std::vector<std::string>;

// Two steps, one entry, one element in and out; all functions are x itself where asked for.
OneNode linear(const char* op, std::int64_t gates, const std::vector<float>& w,
               const std::vector<float>& r, const Names& activations) {
  OneNode node(op, "", 14);
  node.input(f32({2, 1, 1}, {1, 2})).constant(f32({1, gates, 1}, w));
  node.constant(f32({1, gates, 1}, r));
  node.attribute("hidden_size", std::int64_t{1}).attribute("activations", activations);
  return node;
}

TEST(Recurrent, RnnAddsBothProductsAndBothBiases) {
  OneNode node = linear("RNN", 1, {2}, {3}, {"Affine"});
  node.constant(f32({1, 2}, {0.5F, 0.25F})).outputs(2);
  const auto y = node.run();
  EXPECT_EQ(y.at(0), f32({2, 1, 1, 1}, {2.75F, 13}));
  EXPECT_EQ(y.at(1), f32({1, 1, 1}, {13}));
}

TEST(Recurrent, BackwardsTheLastStepComesFirst) {
  OneNode node = linear("RNN", 1, {2}, {3}, {"Affine"});
  EXPECT_EQ(node.attribute("direction", std::string("reverse")).run().at(0),
            f32({2, 1, 1, 1}, {14, 4}));
}

TEST(Recurrent, GruResetsTheStateBeforeOrAfterItsProduct) {
  // z = 0.5 x, r = x, candidate = x + (r * h) or x + r * (h + 1).
  for (const std::int64_t before : {0, 1}) {
    OneNode node = linear("GRU", 3, {0.5F, 1, 1}, {0, 0, 1}, {"Affine", "Affine"});
    node.attribute("linear_before_reset", before);
    node.constant(f32({1, 6}, {0, 0, 0, 0, 0, 1})).omitted().input(f32({1, 1, 1}, {4}));
    const float candidate = before == 1 ? 1 + 1 * (4 + 1) : 1 + 4 + 1;
    const float h = 0.5F * candidate + 0.5F * 4;
    const float second = before == 1 ? 2 + 2 * (h + 1) : 2 + 2 * h + 1;
    EXPECT_EQ(node.run().at(0), f32({2, 1, 1, 1}, {h, 0 * second + 1 * h})) << before;
  }
}

TEST(Recurrent, LstmGatesAreInOutputForgetAndCandidate) {
  OneNode node = linear("LSTM", 4, {1, 2, 3, 4}, {0, 0, 0, 0}, {"Affine", "Affine", "Affine"});
  node.omitted().omitted().omitted().input(f32({1, 1, 1}, {10})).outputs(3);
  const auto y = node.run();
  const float c0 = 3 * 10 + 1 * 4, c1 = 6 * c0 + 2 * 8;
  EXPECT_EQ(y.at(0), f32({2, 1, 1, 1}, {2 * c0, 4 * c1}));
  EXPECT_EQ(y.at(2), f32({1, 1, 1}, {c1}));
}

TEST(Recurrent, PeepholesSeeTheOldCellAndTheOutputGateTheNew) {
  OneNode node = linear("LSTM", 4, {1, 1, 1, 1}, {0, 0, 0, 0}, {"Affine", "Affine", "Affine"});
  node.omitted().omitted().omitted().input(f32({1, 1, 1}, {2}));
  node.constant(f32({1, 3}, {10, 100, 1000}));
  node.outputs(3);
  const float c0 = (1 + 1000 * 2) * 2 + (1 + 10 * 2) * 1;
  EXPECT_EQ(node.run().at(0).as<float>()[0], (1 + 100 * c0) * c0);
}

TEST(Recurrent, SequencesEndAtTheirLength) {
  for (const std::int32_t length : {-5, 0, 1, 2, 9}) {
    OneNode node = linear("RNN", 1, {1}, {1}, {"Affine"});
    node.omitted().input(Tensor::of<std::int32_t>({1}, {length})).input(f32({1, 1, 1}, {8}));
    const auto y = node.outputs(2).run();
    const float first = length > 0 ? 9 : 0, second = length > 1 ? 11 : 0;
    EXPECT_EQ(y.at(0), f32({2, 1, 1, 1}, {first, second})) << length;
    EXPECT_EQ(y.at(1), f32({1, 1, 1}, {length > 1 ? second : first})) << length;
  }
}

TEST(Recurrent, ClipLimitsWhatActivationsGet) {
  OneNode node = linear("RNN", 1, {2}, {3}, {"Affine"});
  EXPECT_EQ(node.attribute("clip", 1.5F).run().at(0), f32({2, 1, 1, 1}, {1.5F, 1.5F}));
}

TEST(Recurrent, ParametersOfActivationsGoToThoseThatTakeThem) {
  OneNode node = linear("GRU", 3, {1, 1, 1}, {0, 0, 0}, {"tanh", "affine"});
  node.attribute("activation_alpha", std::vector<float>{2});
  node.attribute("activation_beta", std::vector<float>{3});
  ASSERT_TRUE(node.resolve());
  const auto& functions = params_of<RecurrentParams>(node.node()).recurrence.functions;
  EXPECT_EQ(gate_function(functions.at(1), 5), 13);
}

TEST(Recurrent, NamesOfActivationsAreCheckedAndCounted) {
  EXPECT_EQ(linear("RNN", 1, {2}, {3}, {"Swish"}).errors(), "E-ATTR: has an unknown name: 'Swish'");
  EXPECT_EQ(linear("RNN", 1, {2}, {3}, {"Tanh", "Tanh"}).errors(),
            "E-ATTR: must have 1 names, got 2");
  OneNode node = linear("RNN", 1, {2}, {3}, {"Tanh"});
  EXPECT_EQ(node.attribute("activation_alpha", std::vector<float>{1}).errors(),
            "E-ATTR: has 1 values, but the activations take 0");
}

TEST(Recurrent, AttributesAreChecked) {
  const auto errors = [](const char* name, const Attribute& value) {
    OneNode node = linear("LSTM", 4, {1, 1, 1, 1}, {1, 1, 1, 1}, {"Tanh", "Tanh", "Tanh"});
    return node.attribute(name, value).errors();
  };
  EXPECT_EQ(errors("direction", std::string("up")),
            "E-ATTR: must be forward, reverse or bidirectional, got 'up'");
  EXPECT_EQ(errors("hidden_size", std::int64_t{2}), "E-ATTR: must be 1 as R has it, got 2");
  EXPECT_EQ(errors("layout", std::int64_t{2}), "E-ATTR: must be 0 or 1, got 2");
  EXPECT_EQ(errors("clip", 0.0F), "E-ATTR: must be > 0, got 0");
}

TEST(Recurrent, ShapesMustFitThoseOfTheWeights) {
  const auto errors = [](const Tensor& x, const Tensor& w, const Tensor& r, const Tensor& b) {
    OneNode node("GRU", "", 14);
    return node.input(x).constant(w).constant(r).constant(b).errors();
  };
  const Tensor x = f32({1, 1, 1}, {1}), w = f32({1, 3, 1}, {1, 1, 1}), b(DType::kF32, {1, 6});
  EXPECT_EQ(errors(x, w, w, b), "");
  EXPECT_EQ(errors(f32({1}, {1}), w, w, b),
            "E-SHAPE: must have 3 dimensions, none of them 0, got [1]");
  EXPECT_EQ(errors(x, f32({1, 1, 1}, {1}), w, b), "E-SHAPE: must be [1, 3, 1], got [1, 1, 1]");
  EXPECT_EQ(errors(x, w, f32({3}, {1, 1, 1}), b),
            "E-SHAPE: must have 3 dimensions, none of them 0, got [3]");
  EXPECT_EQ(errors(x, w, w, f32({1, 1}, {0})), "E-SHAPE: must be [1, 6], got [1, 1]");
}

TEST(Recurrent, InputsAndOutputsOfOtherCellsAreRefused) {
  OneNode node = linear("RNN", 1, {1}, {1}, {"Tanh"});
  EXPECT_EQ(node.outputs(3).errors(), "E-GRAPH: has 3 outputs, at most 2 are defined");
}

TEST(Recurrent, QuantizedWeightsOfTheStateMustBeConstant) {
  OneNode node("DynamicQuantizeLSTM", "com.microsoft", 1);
  node.input(f32({1, 1, 1}, {1})).constant(u8({1, 1, 4}, {1, 2, 3, 4}));
  node.input(u8({1, 1, 4}, {1, 2, 3, 4}));
  for (int i = 3; i < 8; ++i) node.omitted();
  for (int i = 0; i < 2; ++i) node.constant(f32({1}, {1})).constant(u8({1}, {0}));
  EXPECT_EQ(node.errors(), "E-UNSUPPORTED: must be known at compile time");
}

}  // namespace
}  // namespace etch
