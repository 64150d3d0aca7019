// Which nodes are computed once, and which stay apart.
#include "compiler/passes/common_subexpressions.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/support/model_builder.h"
#include "tests/support/operators_after.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

std::string operators_after(const ModelBuilder& model) {
  return operators_after(model, merge_common_subexpressions);
}

ModelBuilder two_of(const char* op, const std::map<std::string, Attribute>& first,
                    const std::map<std::string, Attribute>& second) {
  ModelBuilder model(13);
  model.input("x", DType::kF32, {2, 3});
  model.node(op, {"x"}, {"a"}, first).node(op, {"x"}, {"b"}, second);
  model.node("Sub", {"a", "b"}, {"y"}).output("y");
  return model;
}

TEST(CommonSubexpressions, OneTensorIsQuantizedOnce) {
  ModelBuilder model(13);
  model.input("x", DType::kF32, {2, 3});
  for (const std::string n : {"1", "2", "3"}) {
    model.initializer("w" + n, s8({3, 1}, {1, 2, 3}));
    model.node("DynamicQuantizeLinear", {"x"}, {"q" + n, "s" + n, "z" + n});
    model.node("MatMulInteger", {"q" + n, "w" + n, "z" + n}, {"y" + n}).output("y" + n);
  }
  EXPECT_EQ(operators_after(model),
            "DynamicQuantizeLinear MatMulInteger MatMulInteger MatMulInteger");
}

TEST(CommonSubexpressions, ChainsFallTogether) {
  ModelBuilder model(13);
  model.input("x", DType::kF32, {2, 3});
  model.initializer("c", f32({1}, {2})).initializer("d", f32({1}, {2}));
  model.node("Exp", {"x"}, {"a"}).node("Mul", {"a", "c"}, {"b"});
  model.node("Exp", {"x"}, {"e"}).node("Mul", {"e", "d"}, {"f"});
  model.node("Sub", {"b", "f"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(model), "Exp Mul Sub");
}

TEST(CommonSubexpressions, AttributesCount) {
  ModelBuilder equal = two_of("Softmax", {{"axis", std::int64_t{1}}}, {{"axis", std::int64_t{1}}});
  EXPECT_EQ(operators_after(equal), "Softmax Sub");
  ModelBuilder other = two_of("Softmax", {{"axis", std::int64_t{1}}}, {{"axis", std::int64_t{0}}});
  EXPECT_EQ(operators_after(other), "Softmax Softmax Sub");
}

// LeakyRelu gives -0 of -1 with alpha 0, and 0 with alpha -0.
TEST(CommonSubexpressions, TheSignOfZeroCountsInAttributes) {
  ModelBuilder other = two_of("LeakyRelu", {{"alpha", 0.0F}}, {{"alpha", -0.0F}});
  EXPECT_EQ(operators_after(other), "LeakyRelu LeakyRelu Sub");
  ModelBuilder equal = two_of("LeakyRelu", {{"alpha", -0.0F}}, {{"alpha", -0.0F}});
  EXPECT_EQ(operators_after(equal), "LeakyRelu Sub");
}

TEST(CommonSubexpressions, OperatorsAndConstantsCount) {
  ModelBuilder model(13);
  model.input("x", DType::kF32, {2})
      .initializer("c", f32({1}, {0}))
      .initializer("d", f32({1}, {-0.0F}));
  model.initializer("e", f32({1, 1}, {0}));
  model.node("Add", {"x", "c"}, {"p"})
      .node("Add", {"x", "d"}, {"q"})
      .node("Mul", {"x", "c"}, {"r"});
  model.node("Add", {"x", "e"}, {"t"});
  model.node("Add", {"p", "q"}, {"pq"}).node("Add", {"pq", "r"}, {"pqr"});
  model.node("Add", {"pqr", "t"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(model), "Add Add Mul Add Add Add Add");
}

TEST(CommonSubexpressions, TheNumberOfOutputsCounts) {
  ModelBuilder model(13);
  model.input("x", DType::kF32, {6});
  model.node("Split", {"x"}, {"a", "b"}).node("Split", {"x"}, {"c", "d", "e"});
  model.node("Add", {"a", "b"}, {"y"}).node("Sub", {"c", "d"}, {"z"}).output("y").output("z");
  EXPECT_EQ(operators_after(model), "Split Split Add Sub");
}

TEST(CommonSubexpressions, OutputsAndDequantizationStay) {
  ModelBuilder outputs(13);
  outputs.input("x", DType::kF32, {2});
  outputs.node("Exp", {"x"}, {"y"}).node("Exp", {"x"}, {"z"}).output("y").output("z");
  EXPECT_EQ(operators_after(outputs), "Exp Exp");
  ModelBuilder model(13);
  model.input("x", DType::kU8, {2}).initializer("s", f32({}, {0.5F}));
  model.node("DequantizeLinear", {"x", "s"}, {"a"}).node("DequantizeLinear", {"x", "s"}, {"b"});
  model.node("Sub", {"a", "b"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(model), "DequantizeLinear DequantizeLinear Sub");
}

}  // namespace
}  // namespace etch
