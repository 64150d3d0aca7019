// Products with a sigmoid of themselves that become one function, and those that must not.
#include "compiler/passes/fuse_swish.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ir/dead_code.h"
#include "tests/support/model_builder.h"
#include "tests/support/replay.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// x [2, 64], and what a test makes of it.
struct Gated {
  ModelBuilder model{18};

  Gated() {
    model.input("x", DType::kF32, {2, 64});
    model.initializer("c", f32({1}, {1.702F})).initializer("each", f32({64}, Floats(64, 1.5F)));
  }
  Gated& node(const std::string& type, const std::vector<std::string>& inputs,
              const std::string& output) {
    model.node(type, inputs, {output});
    return *this;
  }

  // The operators that are left, whose results are those of the file bit for bit.
  std::string operators() {
    Sink sink;
    auto graph = load(model, sink);
    EXPECT_TRUE(graph) << errors_of(sink);
    if (!graph) return "";
    Tensor x(DType::kF32, {2, 64});
    int step = 0;
    for (float& value : x.as<float>()) value = std::ldexp(static_cast<float>(step++ - 64), -2) / 3;
    const std::vector<Tensor> expected = run_references(*graph, {x});
    fuse_swishes(*graph);
    remove_dead(*graph);
    verify(*graph, Resolved::kYes);
    EXPECT_EQ(run_references(*graph, {x}), expected);
    std::string out;
    for (const Node& node : graph->nodes) out += cat(out.empty() ? "" : " ", node.op_type);
    return out;
  }
};

TEST(FuseSwish, AProductWithItsOwnSigmoidIsOneFunction) {
  Gated silu, turned;
  silu.node("Sigmoid", {"x"}, "s").node("Mul", {"x", "s"}, "y").model.output("y");
  EXPECT_EQ(silu.operators(), "QuickGelu");
  turned.node("Sigmoid", {"x"}, "s").node("Mul", {"s", "x"}, "y").model.output("y");
  EXPECT_EQ(turned.operators(), "QuickGelu");
}

TEST(FuseSwish, ASigmoidOfAMultipleHasItsFactor) {
  Gated quick, turned;
  quick.node("Mul", {"x", "c"}, "m").node("Sigmoid", {"m"}, "s").node("Mul", {"x", "s"}, "y");
  quick.model.output("y");
  EXPECT_EQ(quick.operators(), "QuickGelu");
  turned.node("Mul", {"c", "x"}, "m").node("Sigmoid", {"m"}, "s").node("Mul", {"s", "x"}, "y");
  turned.model.output("y");
  EXPECT_EQ(turned.operators(), "QuickGelu");
}

TEST(FuseSwish, AProductWithTheTangentOfItsSoftplusIsMish) {
  Gated mish;
  mish.node("Softplus", {"x"}, "p").node("Tanh", {"p"}, "t").node("Mul", {"x", "t"}, "y");
  mish.model.output("y");
  EXPECT_EQ(mish.operators(), "Mish");
}

TEST(FuseSwish, GatesOfOtherValuesStay) {
  Gated other, factors, tangent;
  other.node("Neg", {"x"}, "n").node("Sigmoid", {"n"}, "s").node("Mul", {"x", "s"}, "y");
  other.model.output("y");
  EXPECT_EQ(other.operators(), "Neg Sigmoid Mul");
  factors.node("Mul", {"x", "each"}, "m").node("Sigmoid", {"m"}, "s").node("Mul", {"x", "s"}, "y");
  factors.model.output("y");
  EXPECT_EQ(factors.operators(), "Mul Sigmoid Mul");
  tangent.node("Tanh", {"x"}, "t").node("Mul", {"x", "t"}, "y").model.output("y");
  EXPECT_EQ(tangent.operators(), "Tanh Mul");
}

TEST(FuseSwish, GatesThatOthersReadStay) {
  Gated seen, read;
  seen.node("Sigmoid", {"x"}, "s").node("Mul", {"x", "s"}, "y").model.output("y").output("s");
  EXPECT_EQ(seen.operators(), "Sigmoid Mul");
  read.node("Sigmoid", {"x"}, "s").node("Mul", {"x", "s"}, "m").node("Add", {"m", "s"}, "y");
  read.model.output("y");
  EXPECT_EQ(read.operators(), "Sigmoid Mul Add");
}

TEST(FuseSwish, WhatIsQuantizedDynamicallyStays) {
  Gated quantized;
  quantized.node("Sigmoid", {"x"}, "s").node("Mul", {"x", "s"}, "m");
  quantized.model.node("DynamicQuantizeLinear", {"m"}, {"y", "scale", "zero"}).output("y");
  EXPECT_EQ(quantized.operators(), "Sigmoid Mul DynamicQuantizeLinear");
}

}  // namespace
}  // namespace etch
