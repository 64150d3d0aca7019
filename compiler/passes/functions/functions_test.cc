// Attention as parts against plain loops in double, for enumerated small shapes; what functions of
// transformers refuse. Their results beside ONNX Runtime's: tests/recorded/recorded_nodes_test.cc.
#include "compiler/passes/functions/functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ops/evaluate.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

struct Sizes {
  std::int64_t batch = 2, heads = 2, key_heads = 2, rows = 3, fresh = 3, past = 0;
  bool causal = false, merged = false;
  std::optional<std::int64_t> left;  // of a window
};

constexpr std::int64_t kSize = 2, kValueSize = 3;

Tensor waves(Shape shape, float phase) {
  Tensor out(DType::kF32, std::move(shape));
  float at = phase;
  for (float& x : out.as<float>()) x = std::sin(at += 0.7F);
  return out;
}

float element(const Tensor& x, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  const Shape& s = x.shape();
  return x.as<float>()[static_cast<std::size_t>(((a * s[1] + b) * s[2] + c) * s[3] + d)];
}

// Inputs as heads; past before fresh.
struct Inputs {
  Tensor query, key, value, past_key, past_value;

  double key_at(std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t d) const {
    const std::int64_t past = past_key.shape()[2];
    return t < past ? element(past_key, b, h, t, d) : element(key, b, h, t - past, d);
  }
  double value_at(std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t d) const {
    const std::int64_t past = past_key.shape()[2];
    return t < past ? element(past_value, b, h, t, d) : element(value, b, h, t - past, d);
  }
};

Inputs inputs_of(const Sizes& s) {
  return {waves({s.batch, s.heads, s.rows, kSize}, 0),
          waves({s.batch, s.key_heads, s.fresh, kSize}, 1),
          waves({s.batch, s.key_heads, s.fresh, kValueSize}, 2),
          waves({s.batch, s.key_heads, s.past, kSize}, 3),
          waves({s.batch, s.key_heads, s.past, kValueSize}, 4)};
}

// Result [batch, heads, rows, kValueSize].
std::vector<double> by_loops(const Sizes& s, const Inputs& in) {
  std::vector<double> out;
  for (std::int64_t place = 0; place < s.batch * s.heads * s.rows; ++place) {
    const std::int64_t b = place / s.rows / s.heads, h = place / s.rows % s.heads;
    const std::int64_t row = place % s.rows, group = h / (s.heads / s.key_heads);
    std::vector<double> y(kValueSize, 0);
    double sum = 0;
    for (std::int64_t t = 0; t < s.past + s.fresh; ++t) {
      if (s.causal && t > row + s.past) continue;
      if (s.left && t < row + s.past - *s.left) continue;
      double score = 0;
      for (std::int64_t d = 0; d < kSize; ++d)
        score += element(in.query, b, h, row, d) * in.key_at(b, group, t, d);
      const double share = std::exp(score / std::sqrt(static_cast<double>(kSize)));
      sum += share;
      for (std::int64_t d = 0; d < kValueSize; ++d)
        y[static_cast<std::size_t>(d)] += share * in.value_at(b, group, t, d);
    }
    for (const double each : y) out.push_back(sum == 0 ? 0 : each / sum);
  }
  return out;
}

// [batch, heads, length, size] as [batch, length, heads * size].
Tensor merged(const Tensor& x) {
  const Shape& s = x.shape();
  std::vector<float> out;
  for (std::int64_t b = 0; b < s[0]; ++b)
    for (std::int64_t t = 0; t < s[2]; ++t)
      for (std::int64_t i = 0; i < s[1] * s[3]; ++i)
        out.push_back(element(x, b, i / s[3], t, i % s[3]));
  return f32({s[0], s[2], s[1] * s[3]}, out);
}

std::vector<Tensor> results(const Sizes& s, const Inputs& in) {
  ModelBuilder model(24);
  std::vector<Tensor> given{in.query, in.key, in.value};
  std::map<std::string, Attribute> attributes;
  if (s.causal) attributes["is_causal"] = std::int64_t{1};
  if (s.left) attributes["left_window_size"] = *s.left;
  if (s.merged) {
    for (Tensor& each : given) each = merged(each);
    attributes["q_num_heads"] = s.heads;
    attributes["kv_num_heads"] = s.key_heads;
  }
  std::vector<std::string> names{"q", "k", "v"};
  if (s.past > 0) {
    names.insert(names.end(), {"", "pk", "pv"});
    given.insert(given.end(), {in.past_key, in.past_value});
  }
  std::size_t next = 0;
  for (const std::string& name : names) {
    if (name.empty()) continue;
    const Shape& shape = given[next++].shape();
    model.input(name, DType::kF32, {shape.begin(), shape.end()});
  }
  model.node("Attention", names, {"y", "pk2", "pv2"}, attributes);
  model.output("y").output("pk2").output("pv2");
  Sink sink;
  const auto graph = load(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  return graph ? evaluate(*graph, given) : std::vector<Tensor>{};
}

void expect_equal(const Sizes& s) {
  SCOPED_TRACE(cat("heads ", s.heads, "/", s.key_heads, " rows ", s.rows, " keys ", s.past, "+",
                   s.fresh, s.causal ? " causal" : "", s.merged ? " merged" : "", " left ",
                   s.left.value_or(-1)));
  const Inputs in = inputs_of(s);
  const std::vector<double> expected = by_loops(s, in);
  const std::vector<Tensor> got = results(s, in);
  ASSERT_EQ(got.size(), 3U);
  const Shape heads{s.batch, s.heads, s.rows, kValueSize};
  ASSERT_EQ(static_cast<std::size_t>(got[0].size()), expected.size());
  for (std::int64_t i = 0; i < got[0].size(); ++i) {
    const std::int64_t d = i % heads[3], row = i / heads[3] % heads[2];
    const std::int64_t h = i / heads[3] / heads[2] % heads[1];
    const std::int64_t b = i / heads[3] / heads[2] / heads[1];
    const std::int64_t at = s.merged ? ((b * heads[2] + row) * heads[1] + h) * heads[3] + d : i;
    EXPECT_NEAR(got[0].as<float>()[static_cast<std::size_t>(at)],
                expected[static_cast<std::size_t>(i)], 1e-5);
  }
  EXPECT_EQ(got[1].shape(), (Shape{s.batch, s.key_heads, s.past + s.fresh, kSize}));
  EXPECT_EQ(element(got[1], 1, s.key_heads - 1, s.past, 1),
            element(in.key, 1, s.key_heads - 1, 0, 1));
}

TEST(Attention, IsThatOfPlainLoops) {
  for (const auto& [heads, key_heads] : {std::pair{2, 2}, {4, 2}, {3, 1}}) {
    for (const auto& [rows, fresh, past] :
         {std::tuple{3, 3, 0}, {1, 1, 4}, {2, 2, 3}, {4, 2, 0}, {2, 5, 0}}) {
      for (const bool causal : {false, true}) {
        expect_equal({2, heads, key_heads, rows, fresh, past, causal, false, {}});
        expect_equal({2, heads, key_heads, rows, fresh, past, causal, true, {}});
        expect_equal({2, heads, key_heads, rows, fresh, past, causal, false, 1});
      }
    }
  }
}

// Queries 3 and later look at keys 2 and later, of which there are none.
TEST(Attention, GivesZeroWhereAWindowHidesAllKeys) {
  expect_equal({2, 2, 2, 5, 2, 0, true, false, 1});
}

TEST(Attention, OfARowWhoseMaskHidesAllKeysIsZero) {
  ModelBuilder model(23);
  model.input("q", DType::kF32, {1, 1, 2, 2}).input("m", DType::kBool, {2, 2});
  model.node("Attention", {"q", "q", "q", "m"}, {"y"}).output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const Tensor mask = [] {
    Tensor out(DType::kBool, {2, 2});
    out.as<std::uint8_t>()[3] = 1;
    return out;
  }();
  EXPECT_EQ(evaluate(*graph, {f32({1, 1, 2, 2}, {1, 2, 3, 4}), mask}).at(0),
            f32({1, 1, 2, 2}, {0, 0, 3, 4}));
}

std::string errors(const ModelBuilder& model) {
  Sink sink;
  EXPECT_FALSE(load(model, sink));
  return errors_of(sink);
}

// The node of `op` on float inputs of these shapes.
ModelBuilder model_of(const std::string& op, const std::vector<Shape>& shapes,
                      const std::map<std::string, Attribute>& attributes = {},
                      const std::string& domain = "") {
  ModelBuilder model(23);
  if (!domain.empty()) model.opset(domain, 1);
  std::vector<std::string> names;
  for (const Shape& shape : shapes) {
    names.emplace_back(1, static_cast<char>('a' + names.size()));
    model.input(names.back(), DType::kF32, {shape.begin(), shape.end()});
  }
  return model.node(op, names, {"y"}, attributes, domain).output("y");
}

TEST(TransformerFunctions, SayWhatDoesNotFit) {
  using Many = std::map<std::string, Attribute>;
  const std::string prefix = "model: error[";
  EXPECT_EQ(errors(model_of("Attention", {{1, 2, 4}, {1, 2, 4}, {1, 2, 4}})),
            prefix +
                "E-SHAPE]: node #0 (Attention): q_num_heads and kv_num_heads must be > 0 where "
                "inputs have rank 3\n");
  EXPECT_EQ(errors(model_of("Attention", {{1, 3, 2, 4}, {1, 2, 2, 4}, {1, 2, 2, 4}})),
            prefix +
                "E-SHAPE]: node #0 (Attention): shapes [1, 3, 2, 4], [1, 2, 2, 4] and [1, 2, 2, "
                "4] are not those of 3 heads of queries and 2 of keys and values\n");
  EXPECT_EQ(errors(model_of("RMSNormalization", {{2, 3}, {3}}, {{"axis", std::int64_t{2}}})),
            prefix +
                "E-ATTR]: node #0 (RMSNormalization): attribute 'axis' must be in [-2, 1], got "
                "2\n");
  EXPECT_EQ(errors(model_of("RotaryEmbedding", {{1, 2, 3, 4}, {1, 3, 3}, {1, 3, 2}})),
            prefix +
                "E-SHAPE]: node #0 (RotaryEmbedding): input 1 must have the shape [1, 3, 2] "
                "(-1: any size), has [1, 3, 3]\n");
  EXPECT_EQ(errors(model_of("MultiHeadAttention", {{1, 2, 4}}, Many{}, "com.microsoft")),
            prefix + "E-ATTR]: node #0 (MultiHeadAttention): attribute 'num_heads' must be > 0\n");
  const Many causal{{"num_heads", std::int64_t{2}}, {"unidirectional", std::int64_t{1}}};
  EXPECT_EQ(errors(model_of("MultiHeadAttention", {{1, 3, 4}, {1, 5, 4}, {1, 5, 4}}, causal,
                            "com.microsoft")),
            prefix +
                "E-UNSUPPORTED]: node #0 (MultiHeadAttention): attribute 'unidirectional' needs as "
                "many new keys as queries, has 5 and 3\n");
  EXPECT_EQ(errors(model_of("Attention", {{1, 2, 4}, {4, 10}}, Many{{"num_heads", std::int64_t{2}}},
                            "com.microsoft")),
            prefix +
                "E-SHAPE]: node #0 (Attention): the weights have 10 columns, not those of "
                "queries, keys and values [3, 3, 3]\n");
  EXPECT_EQ(errors(model_of("EmbedLayerNormalization", {{1, 2}}, Many{}, "com.microsoft")),
            prefix +
                "E-GRAPH]: node #0 (EmbedLayerNormalization): input 2 is required, but "
                "omitted\n");
}

TEST(TransformerFunctions, RefuseWhatTheyDoNotCompute) {
  using Many = std::map<std::string, Attribute>;
  const std::vector<Shape> heads{{1, 2, 2, 4}, {1, 2, 2, 4}, {1, 2, 2, 4}};
  EXPECT_EQ(errors(model_of("Attention", heads, Many{{"softmax_precision", std::int64_t{7}}})),
            "model: error[E-ATTR]: node #0 (Attention): attribute 'softmax_precision' must be 1, "
            "10, 11 or 16, the number of a type of floats, got 7\n");
  EXPECT_EQ(errors(model_of("Attention", {{1, 2, 4}, {4, 12}},
                            Many{{"num_heads", std::int64_t{2}}, {"do_rotary", std::int64_t{1}}},
                            "com.microsoft")),
            "model: error[E-UNSUPPORTED]: node #0 (Attention): attribute 'do_rotary': only 0 is "
            "supported\n");
}

// [batch, length, heads, 3, size] and [batch, length, heads * size] three times, the same numbers.
TEST(TransformerFunctions, TakeQueriesKeysAndValuesPackedOrApart) {
  const Tensor packed = waves({2, 3, 2, 3, 4}, 5);
  std::vector<Tensor> apart(3, Tensor(DType::kF32, {2, 3, 8}));
  for (std::size_t i = 0; i < 144; ++i)
    apart[i / 4 % 3].as<float>()[i / 12 * 4 + i % 4] = packed.as<float>()[i];
  const auto result = [](const std::vector<Tensor>& given) {
    std::vector<Shape> shapes;
    shapes.reserve(given.size());
    for (const Tensor& each : given) shapes.push_back(each.shape());
    Sink sink;
    const auto graph = load(
        model_of("MultiHeadAttention", shapes, {{"num_heads", std::int64_t{2}}}, "com.microsoft"),
        sink);
    EXPECT_TRUE(graph) << errors_of(sink);
    return graph ? evaluate(*graph, given).at(0) : Tensor();
  };
  const Tensor expected = result(apart);
  EXPECT_EQ(result({packed}), expected);
  Tensor keys(DType::kF32, {2, 3, 2, 2, 4});  // keys and values of one head side by side
  for (std::size_t i = 0; i < 96; ++i)
    keys.as<float>()[i] = apart[1 + i / 4 % 2].as<float>()[i / 8 * 4 + i % 4];
  EXPECT_EQ(result({apart[0], keys}), expected);
}

// A value may be an output as it came in, or two outputs.
TEST(TransformerFunctions, GiveAnInputAsAnOutput) {
  ModelBuilder model(23);
  model.input("q", DType::kF32, {1, 1, 2, 2});
  model.node("Attention", {"q", "q", "q"}, {"y", "k", "v"}).output("k").output("v").output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const Tensor q = f32({1, 1, 2, 2}, {1, 2, 3, 4});
  const std::vector<Tensor> got = evaluate(*graph, {q});
  EXPECT_EQ(got.at(0), q);
  EXPECT_EQ(got.at(1), q);
}

// Outputs y0, y1, ... of one node of ai.onnx 28.
std::vector<Tensor> run_one(const std::string& type, const std::vector<Tensor>& inputs,
                            std::size_t outputs,
                            const std::map<std::string, Attribute>& attributes) {
  ModelBuilder model(28);
  std::vector<std::string> names, results;
  for (const Tensor& input : inputs) {
    names.push_back(cat("x", names.size()));
    model.input(names.back(), input.dtype(), {input.shape().begin(), input.shape().end()});
  }
  for (std::size_t i = 0; i < outputs; ++i) results.push_back(cat("y", i));
  model.node(type, names, results, attributes);
  for (const std::string& each : results) model.output(each);
  Sink sink;
  const auto graph = load(model, sink);
  if (!graph) {
    ADD_FAILURE() << errors_of(sink);
    return std::vector<Tensor>(outputs);
  }
  return evaluate(*graph, inputs);
}

TEST(CausalConvWithState, SeesTheStateBeforeTheInput) {
  const Tensor x = f32({1, 2, 2}, {1, 2, 10, 20}), w = f32({2, 1, 3}, {1, 2, 3, 1, 0, -1});
  const Tensor bias = f32({2}, {0.5F, 0}), past = f32({1, 2, 2}, {-1, 4, 5, 6});
  const auto out = run_one("CausalConvWithState", {x, w, bias, past}, 2, {});
  EXPECT_EQ(out[0], f32({1, 2, 2}, {-1 + 8 + 3 + 0.5F, 4 + 2 + 6 + 0.5F, 5 - 10, 6 - 20}));
  EXPECT_EQ(out[1], x);
  const auto first =
      run_one("CausalConvWithState", {x, w, bias}, 2, {{"activation", std::string("none")}});
  EXPECT_EQ(first[0], f32({1, 2, 2}, {3.5F, 8.5F, -10, -20}));
  EXPECT_EQ(first[1], x);
}

TEST(CausalConvWithState, KeepsNothingForOnePosition) {
  const auto out =
      run_one("CausalConvWithState", {f32({1, 1, 2}, {1, 2}), f32({1, 1, 1}, {3})}, 2, {});
  EXPECT_EQ(out[0], f32({1, 1, 2}, {3, 6}));
  EXPECT_EQ(out[1], Tensor(DType::kF32, {1, 1, 0}));
}

TEST(TensorScatter, WritesFromAnIndexOnAndAroundTheEnd) {
  const Tensor cache = f32({2, 3, 1}, {1, 2, 3, 4, 5, 6}), rows = f32({2, 2, 1}, {-1, -2, -3, -4});
  EXPECT_EQ(run_one("TensorScatter", {cache, rows, s64({2}, {1, 0})}, 1, {})[0],
            f32({2, 3, 1}, {1, -1, -2, -3, -4, 6}));
  EXPECT_EQ(run_one("TensorScatter", {cache, rows}, 1, {})[0],
            f32({2, 3, 1}, {-1, -2, 3, -3, -4, 6}));
  EXPECT_EQ(run_one("TensorScatter", {cache, rows, s64({2}, {2, 1})}, 1,
                    {{"mode", std::string("circular")}, {"axis", std::int64_t{1}}})[0],
            f32({2, 3, 1}, {-2, 2, -1, 4, -3, -4}));
}

TEST(TensorScatter, LeavesACacheWithoutPositions) {
  const Tensor nothing(DType::kF32, {1, 0, 2});
  EXPECT_EQ(run_one("TensorScatter", {nothing, nothing, s64({1}, {0})}, 1,
                    {{"mode", std::string("circular")}})[0],
            nothing);
}

TEST(SwiGLU, IsTheGatedProduct) {
  const Tensor a = f32({2}, {0, 2}), b = f32({2}, {7, 3});
  const Tensor swish = run_one("Swish", {a}, 1, {{"alpha", 2.0F}})[0];
  const Tensor out = run_one("SwiGLU", {a, b}, 1, {{"alpha", 2.0F}})[0];
  EXPECT_EQ(out, f32({2}, {0, swish.real(1) * 3}));
}

TEST(Streams, RefuseWhatDoesNotFit) {
  const auto errors = [](const char* type, const std::vector<Shape>& shapes, Attribute mode) {
    ModelBuilder model(28);
    std::vector<std::string> names;
    for (const Shape& shape : shapes) {
      names.push_back(cat("x", names.size()));
      model.input(names.back(), DType::kF32, {shape.begin(), shape.end()});
    }
    const bool scatters = std::string(type) == "TensorScatter";
    model.node(type, names, {"y"}, {{scatters ? "mode" : "activation", std::move(mode)}})
        .output("y");
    Sink sink;
    return load(model, sink) ? "" : errors_of(sink);
  };
  EXPECT_NE(errors("TensorScatter", {{1, 3, 1}, {1, 4, 1}}, std::string("linear")).find("E-SHAPE"),
            std::string::npos);
  EXPECT_NE(errors("TensorScatter", {{1, 3, 1}, {1, 2, 1}}, std::string("round")).find("E-ATTR"),
            std::string::npos);
  EXPECT_NE(
      errors("CausalConvWithState", {{1, 2, 4}, {2, 1, 0}}, std::string("none")).find("E-SHAPE"),
      std::string::npos);
  EXPECT_NE(
      errors("CausalConvWithState", {{1, 2, 4}, {3, 1, 2}}, std::string("none")).find("E-SHAPE"),
      std::string::npos);
  EXPECT_NE(
      errors("CausalConvWithState", {{1, 2, 4}, {2, 1, 2}}, std::string("relu")).find("E-ATTR"),
      std::string::npos);
}

}  // namespace
}  // namespace etch
