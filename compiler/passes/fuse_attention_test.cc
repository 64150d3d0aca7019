// Which attention becomes one node, and which stays as it is.
#include "compiler/passes/fuse_attention.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/base/text.h"
#include "compiler/ops/fused_attention/op.h"
#include "compiler/ops/op.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// Operators in order; those of attention in brackets.
std::string after_fusing(ModelBuilder& model, std::int64_t above = 0) {
  Sink sink;
  auto graph = load(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  if (!graph) return {};
  fuse_attention(*graph, above);
  verify(*graph, Resolved::kYes);
  std::string out;
  for (const Node& node : graph->nodes) {
    std::string name = node.op_type;
    if (name == "FusedAttention") {
      name.clear();
      for (const ExpressionPart& part : params_of<FusedAttention>(node).parts)
        name += cat(name.empty() ? "" : " ", part.node.op_type);
      name = cat("[", name, "]");
    }
    out += cat(out.empty() ? "" : " ", name);
  }
  return out;
}

// Two heads; scores of 3 x 4 take 96 bytes.
ModelBuilder heads() {
  ModelBuilder model(18);
  model.input("q", DType::kF32, {2, 3, 5}).input("k", DType::kF32, {2, 5, 4});
  model.input("v", DType::kF32, {2, 4, 6}).input("mask", DType::kF32, {3, 4});
  model.initializer("scale", f32({}, {0.5F}));
  return model;
}

TEST(FuseAttention, TakesProductsAndWhatIsBetween) {
  ModelBuilder plain = heads();
  plain.node("MatMul", {"q", "k"}, {"s"}).node("Softmax", {"s"}, {"p"});
  plain.node("MatMul", {"p", "v"}, {"y"}).output("y");
  EXPECT_EQ(after_fusing(plain), "[MatMul Softmax MatMul]");
  ModelBuilder masked = heads();
  masked.node("MatMul", {"q", "k"}, {"s"}).node("Div", {"s", "scale"}, {"d"});
  masked.node("Add", {"mask", "d"}, {"m"}).node("Softmax", {"m"}, {"p"});
  masked.node("MatMul", {"p", "v"}, {"z"}).node("Relu", {"z"}, {"y"}).output("y");
  EXPECT_EQ(after_fusing(masked), "[MatMul Div Add Softmax MatMul] Relu");
}

TEST(FuseAttention, LeavesScoresThatACacheHolds) {
  for (const std::int64_t above : {95, 96}) {
    ModelBuilder model = heads();
    model.node("MatMul", {"q", "k"}, {"s"}).node("Softmax", {"s"}, {"p"});
    model.node("MatMul", {"p", "v"}, {"y"}).output("y");
    EXPECT_EQ(after_fusing(model, above),
              above == 95 ? "[MatMul Softmax MatMul]" : "MatMul Softmax MatMul");
  }
}

TEST(FuseAttention, LeavesWhatOthersRead) {
  ModelBuilder scores = heads();
  scores.node("MatMul", {"q", "k"}, {"s"}).node("Softmax", {"s"}, {"p"});
  scores.node("MatMul", {"p", "v"}, {"y"}).output("y").output("s");
  EXPECT_EQ(after_fusing(scores), "MatMul Softmax MatMul");
  ModelBuilder shares = heads();
  shares.node("MatMul", {"q", "k"}, {"s"}).node("Softmax", {"s"}, {"p"});
  shares.node("MatMul", {"p", "v"}, {"y"}).node("Relu", {"p"}, {"r"});
  shares.output("y").output("r");
  EXPECT_EQ(after_fusing(shares), "MatMul Softmax MatMul Relu");
}

TEST(FuseAttention, LeavesOtherSoftmaxesAndMasksOfEachMatrix) {
  ModelBuilder axis = heads();
  axis.node("MatMul", {"q", "k"}, {"s"}).node("Softmax", {"s"}, {"p"}, {{"axis", std::int64_t{1}}});
  axis.node("MatMul", {"p", "v"}, {"y"}).output("y");
  EXPECT_EQ(after_fusing(axis), "MatMul Softmax MatMul");
  ModelBuilder mask = heads();
  mask.input("masks", DType::kF32, {2, 3, 4});
  mask.node("MatMul", {"q", "k"}, {"s"}).node("Add", {"s", "masks"}, {"m"});
  mask.node("Softmax", {"m"}, {"p"}).node("MatMul", {"p", "v"}, {"y"}).output("y");
  EXPECT_EQ(after_fusing(mask), "MatMul Add Softmax MatMul");
}

TEST(FuseAttention, LeavesSharesThatAreTheRightOperand) {
  ModelBuilder model = heads();
  model.input("w", DType::kF32, {2, 6, 3});
  model.node("MatMul", {"q", "k"}, {"s"}).node("Softmax", {"s"}, {"p"});
  model.node("MatMul", {"w", "p"}, {"y"}).output("y");
  EXPECT_EQ(after_fusing(model), "MatMul Softmax MatMul");
}

TEST(FuseAttention, LeavesBatchesThatGrowInTheSecondProduct) {
  ModelBuilder model(18);
  model.input("q", DType::kF32, {3, 5}).input("k", DType::kF32, {5, 4});
  model.input("v", DType::kF32, {2, 4, 6});
  model.node("MatMul", {"q", "k"}, {"s"}).node("Softmax", {"s"}, {"p"});
  model.node("MatMul", {"p", "v"}, {"y"}).output("y");
  EXPECT_EQ(after_fusing(model), "MatMul Softmax MatMul");
}

// y = h + the attention of two heads, in each of three trips; the scores before or in the loop.
ModelBuilder attending_loop(bool scores_inside) {
  ModelBuilder model = heads();
  model.input("h", DType::kF32, {2, 3, 6});
  model.initializer("n", s64({}, {3}));
  ModelBuilder body(18);
  body.input("trip", DType::kS64, {}).input("on", DType::kBool, {});
  body.input("before", DType::kF32, {2, 3, 6}).node("Identity", {"on"}, {"goes_on"});
  (scores_inside ? body : model).node("MatMul", {"q", "k"}, {"s"});
  body.node("Softmax", {"s"}, {"p"}).node("MatMul", {"p", "v"}, {"m"});
  body.node("Add", {"before", "m"}, {"after"}).output("goes_on").output("after");
  model.node("Loop", {"n", "", "h"}, {"y"}).subgraph("body", body).output("y");
  return model;
}

TEST(FuseAttention, LeavesScoresBeforeALoopThere) {
  ModelBuilder inside = attending_loop(true), outside = attending_loop(false);
  EXPECT_NE(after_fusing(inside).find("[MatMul Softmax MatMul]"), std::string::npos);
  EXPECT_EQ(after_fusing(outside).find('['), std::string::npos);
}

}  // namespace
}  // namespace etch
