// LinearAttention: its rules, heads that share a state, and what does not fit.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ops/evaluate.h"
#include "compiler/ops/op.h"
#include "compiler/ops/region_begin/op.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

struct Heads {
  std::int64_t q = 1, kv = 1;
};

// A node with inputs q, k, v, past, decay, beta; those of rank 0 are left out.
ModelBuilder model_of(const std::string& rule, const std::vector<Tensor>& inputs, Heads heads = {},
                      float scale = 1) {
  ModelBuilder model(28);
  std::vector<std::string> names;
  for (const Tensor& input : inputs) {
    names.push_back(input.shape().empty() ? "" : cat("x", names.size()));
    if (!input.shape().empty())
      model.input(names.back(), input.dtype(), {input.shape().begin(), input.shape().end()});
  }
  model.node("LinearAttention", names, {"y", "state"},
             {{"update_rule", rule},
              {"scale", scale},
              {"q_num_heads", heads.q},
              {"kv_num_heads", heads.kv}});
  return std::move(model.output("y").output("state"));
}

std::vector<Tensor> run(const std::string& rule, const std::vector<Tensor>& inputs,
                        Heads heads = {}, float scale = 1) {
  Sink sink;
  const auto graph = load(model_of(rule, inputs, heads, scale), sink);
  if (!graph) {
    ADD_FAILURE() << errors_of(sink);
    return std::vector<Tensor>(2);
  }
  std::vector<Tensor> given;
  for (const Tensor& input : inputs) {
    if (!input.shape().empty()) given.push_back(input);
  }
  return evaluate(*graph, given);
}

const Tensor kNone = f32({}, {0});

TEST(LinearAttention, AddsProductsOfKeysAndValues) {
  const Tensor q = f32({1, 2, 2}, {1, 2, 3, 4}), k = f32({1, 2, 2}, {1, 0, 2, 1});
  const Tensor v = f32({1, 2, 1}, {5, 7});
  const auto out = run("linear", {q, k, v});  // the state is [5, 0], then [19, 7]
  EXPECT_EQ(out[0], f32({1, 2, 1}, {5, 57 + 28}));
  EXPECT_EQ(out[1], f32({1, 1, 2, 1}, {19, 7}));
  const auto later = run("linear", {q, k, v, f32({1, 1, 2, 1}, {100, 10})}, {}, 0.5F);
  EXPECT_EQ(later[0], f32({1, 2, 1}, {(105 + 20) / 2.0F, (357 + 68) / 2.0F}));
  EXPECT_EQ(later[1], f32({1, 1, 2, 1}, {119, 17}));
}

TEST(LinearAttention, OnePositionNeedsNoLoop) {
  const Tensor one = f32({1, 1, 1}, {3});
  Sink sink;
  EXPECT_FALSE(has_regions(*load(model_of("linear", {one, one, one}), sink)));
  EXPECT_EQ(run("linear", {one, one, one})[0], f32({1, 1, 1}, {27}));
}

TEST(LinearAttention, CorrectsValuesByWhatTheStateKnows) {
  const Tensor x = f32({1, 2, 1}, {1, 2}), v = f32({1, 2, 1}, {4, 6});
  const Tensor beta = f32({1, 2, 1}, {0.5F, 0.25F});
  // 0 + 1 * 0.5 * (4 - 0) = 2; 2 + 2 * 0.25 * (6 - 2 * 2) = 3
  const auto out = run("delta", {x, x, v, kNone, kNone, beta});
  EXPECT_EQ(out[0], f32({1, 2, 1}, {2, 6}));
  EXPECT_EQ(out[1], f32({1, 1, 1, 1}, {3}));
}

TEST(LinearAttention, ForgetsByDecayBeforeItCorrects) {
  const Tensor x = f32({1, 1, 1}, {1}), v = f32({1, 1, 1}, {4});
  const Tensor past = f32({1, 1, 1, 1}, {8}), none = f32({1, 1, 1}, {-INFINITY});
  EXPECT_EQ(run("gated", {x, x, v, past, f32({1, 1, 1}, {0})})[1], f32({1, 1, 1, 1}, {12}));
  EXPECT_EQ(run("gated", {x, x, v, past, none})[1], f32({1, 1, 1, 1}, {4}));
  EXPECT_EQ(run("gated_delta", {x, x, v, past, none, f32({1, 1, 1}, {0.5F})})[1],
            f32({1, 1, 1, 1}, {2}));
}

TEST(LinearAttention, HeadsOfQueriesShareThoseOfKeysInTheirOrder) {
  const Tensor q = f32({1, 1, 4}, {1, 2, 3, 4}), k = f32({1, 1, 2}, {1, 10});
  const Tensor decay = f32({1, 1, 2}, {0, 0});
  EXPECT_EQ(run("gated", {q, k, k, kNone, decay}, {4, 2})[0], f32({1, 1, 4}, {1, 2, 300, 400}));
}

TEST(LinearAttention, TakesTheRootOfTheKeysAsScale) {
  const Tensor x = f32({1, 1, 4}, {1, 1, 1, 1}), v = f32({1, 1, 1}, {3});
  EXPECT_EQ(run("linear", {x, x, v}, {}, 0)[0], f32({1, 1, 1}, {6}));
}

TEST(LinearAttention, RefusesWhatDoesNotFit) {
  const auto errors = [](const std::string& rule, const std::vector<Tensor>& inputs,
                         Heads heads = {}) {
    Sink sink;
    return load(model_of(rule, inputs, heads), sink) ? "" : errors_of(sink);
  };
  const auto has = [](const std::string& text, const char* words) {
    return text.find(words) != std::string::npos;
  };
  const Tensor x = f32({1, 1, 2}, {1, 2});
  EXPECT_TRUE(has(errors("softmax", {x, x, x}), "update_rule: must be"));
  EXPECT_TRUE(has(errors("linear", {x, x, x}, {2, 4}), "must be a multiple of kv_num_heads"));
  EXPECT_TRUE(has(errors("linear", {x, x, x}, {3, 3}), "do not divide into 3 and 3 heads"));
  EXPECT_TRUE(has(errors("gated", {x, x, x}), "needs decay"));
  EXPECT_TRUE(has(errors("linear", {x, x, x, kNone, x}), "has no decay"));
  EXPECT_TRUE(has(errors("delta", {x, x, x, kNone, kNone, x}), "beta must have one number"));
  EXPECT_TRUE(has(errors("gated", {x, x, x, kNone, f32({1, 1, 3}, {1, 2, 3})}),
                  "decay must have one number"));
  EXPECT_TRUE(has(errors("linear", {x, f32({1, 2, 2}, {1, 2, 3, 4}), x}), "E-SHAPE"));
  const Tensor wide(DType::kF32, {1, 1, 1 << 13});
  EXPECT_TRUE(has(errors("linear", {wide, wide, wide}),
                  "error[E-LIMIT]: node #0 (LinearAttention): its state would have the shape "
                  "[1, 1, 8192, 8192], of its elements at most 33554432"));
}

}  // namespace
}  // namespace etch
