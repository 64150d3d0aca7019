// Attention in one step, a block of rows at a time, against the reference functions of the
// operators that it is made of, one after the other: natively for every target, and compiled.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ir/op_def.h"
#include "tests/support/agreement.h"
#include "tests/support/model_builder.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

// Batches of both products, and sizes. Scores are more than fuse_attention() leaves whole.
struct Sizes {
  Shape queries, keys, values;  // batches
  std::int64_t rows, depth, cols, width;
};

const std::vector<Sizes> kSizes{
    {{1, 2}, {1, 2}, {1, 2}, 130, 3, 257, 5},  // blocks and a rest
    {{3}, {3}, {3}, 37, 8, 700, 17},
    {{}, {}, {}, 200, 4, 400, 64},
    {{2, 1}, {1, 3}, {3}, 65, 2, 180, 4},  // broadcast
    {{20}, {1}, {20}, 7, 5, 600, 3},       // few rows, keys that all share
    {{}, {}, {}, 2, 1, 40000, 2},          // fewer rows than a tile
};

Tensor random_floats(Dice& dice, Shape shape) {
  Tensor out(DType::kF32, std::move(shape));
  for (float& x : out.as<float>())
    x = std::ldexp(static_cast<float>(dice.between(-999999, 999999)), -19);
  return out;
}

Shape joined(Shape batch, std::int64_t rows, std::int64_t cols) {
  batch.push_back(rows);
  batch.push_back(cols);
  return batch;
}

class AttentionNet {
 public:
  explicit AttentionNet(Dice& dice) : dice_(dice) {}

  std::string operand(const Shape& shape, bool constant) {
    const std::string name = cat("t", names_++);
    const Tensor tensor = random_floats(dice_, shape);
    if (constant) {
      model_.initializer(name, tensor);
    } else {
      model_.input(name, DType::kF32, {shape.begin(), shape.end()});
      inputs_.push_back(tensor);
    }
    return name;
  }
  std::string node(const std::string& op, const std::vector<std::string>& inputs,
                   const std::map<std::string, Attribute>& attributes = {}) {
    const std::string name = cat("t", names_++);
    model_.node(op, inputs, {name}, attributes);
    return name;
  }
  // Keys as rows that are turned, as networks have them, or as columns.
  std::string keys(const Sizes& s) {
    if (dice_.one_in(2)) return operand(joined(s.keys, s.depth, s.cols), dice_.one_in(3));
    Ints order;
    order.reserve(s.keys.size() + 2);
    for (std::size_t d = 0; d < s.keys.size(); ++d) order.push_back(static_cast<std::int64_t>(d));
    const auto last = static_cast<std::int64_t>(s.keys.size());
    order.push_back(last + 1);
    order.push_back(last);
    return node("Transpose", {operand(joined(s.keys, s.cols, s.depth), false)}, {{"perm", order}});
  }
  std::string changed(const std::string& scores, const Sizes& s) {
    const std::vector<Shape> shapes{{}, {s.cols}, {s.rows, 1}, {s.rows, s.cols}, {1, 1}};
    const std::string other = operand(dice_.pick(shapes), dice_.one_in(2));
    const std::string op = dice_.pick<std::string>({"Add", "Sub", "Mul", "Div"});
    return dice_.one_in(2) ? node(op, {scores, other}) : node(op, {other, scores});
  }
  Case finished(const std::string& y, std::string name) {
    model_.output(y);
    return {std::move(name), model_.bytes(), inputs_};
  }

 private:
  Dice& dice_;
  ModelBuilder model_{18};
  std::vector<Tensor> inputs_;
  int names_ = 0;
};

std::vector<Case> attention_cases(int rounds) {
  Dice dice(20261126);
  std::vector<Case> out;
  for (int round = 0; round < rounds; ++round) {
    const Sizes& s = kSizes[static_cast<std::size_t>(round) % kSizes.size()];
    AttentionNet net(dice);
    const std::string queries = net.operand(joined(s.queries, s.rows, s.depth), false);
    std::string scores = net.node("MatMul", {queries, net.keys(s)});
    const std::int64_t changes = dice.between(0, 3);
    for (std::int64_t i = 0; i < changes; ++i) scores = net.changed(scores, s);
    const std::string shares = net.node("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    const std::string values = net.operand(joined(s.values, s.cols, s.width), dice.one_in(3));
    const std::string y = net.node("MatMul", {shares, values});
    out.push_back(net.finished(y, cat("attention ", round, " of ", s.rows, " x ", s.cols)));
  }
  return out;
}

TEST(Attention, NativelyInBlocks) { expect_native_agrees(attention_cases(18)); }
TEST(Attention, NativelyInFusedBlocks) { expect_native_agrees(fused(attention_cases(18))); }

TEST(Attention, IsOneStep) {
  for (const Case& each : attention_cases(12)) {
    const auto program = compiled(each, "avx512_vnni");
    ASSERT_NE(program, nullptr) << each.name;
    const auto& steps = program->steps;
    const auto attends = [](const auto& step) { return step->kind == "attention"; };
    EXPECT_EQ(std::ranges::count_if(steps, attends), 1) << each.name;
  }
}

class CompiledAttention : public testing::TestWithParam<const char*> {};

TEST_P(CompiledAttention, AgreesWithTheReferences) {
  std::vector<Case> cases = thinned(attention_cases(12), GetParam());
  add_cases(cases, thinned(fused(attention_cases(6)), GetParam()));
  expect_compiled_agrees(cases, GetParam());
}

TEST(Attention, GivesCleanCode) { expect_clean_code(attention_cases(6), "scalar"); }

INSTANTIATE_TEST_SUITE_P(Attention, CompiledAttention, testing::ValuesIn(all_targets_but({})),
                         name_of_target);

}  // namespace
}  // namespace etch
