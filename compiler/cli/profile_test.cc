// The profile "sonnx": a model that keeps every rule, and for each rule one that breaks it.
#include "compiler/cli/profile.h"

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/import/model_functions.h"
#include "tests/support/model_builder.h"

namespace etch::cli {
namespace {

using Attributes = std::map<std::string, Attribute>;

Attributes written_out() {
  return {{"auto_pad", std::string("NOTSET")}, {"dilations", Ints{1, 1}},
          {"group", std::int64_t{1}},          {"kernel_shape", Ints{1, 1}},
          {"pads", Ints{0, 0, 0, 0}},          {"strides", Ints{1, 1}}};
}

template <class T>
Tensor scalar(T value) {
  return Tensor::of<T>({}, {value});
}

// A QLinearConv of one channel with this bias.
ModelBuilder conv(const Attributes& attributes, std::int32_t bias = 0) {
  ModelBuilder model;
  model.input("x", DType::kU8, {1, 1, 2, 2});
  model.initializer("scale", scalar(1.0F)).initializer("zero", scalar<std::uint8_t>(0));
  model.initializer("w", Tensor::of<std::int8_t>({1, 1, 1, 1}, {3}));
  model.initializer("w_zero", scalar<std::int8_t>(0));
  model.initializer("bias", Tensor::of<std::int32_t>({1}, {bias}));
  model.node("QLinearConv", {"x", "scale", "zero", "w", "scale", "w_zero", "scale", "zero", "bias"},
             {"y"}, attributes);
  return model.output("y");
}

// "P3 node #0 (Relu): what" lines.
std::string findings_of(const ModelBuilder& model) {
  const std::string bytes = model.bytes();
  Sink sink, repeated;
  const auto graph = import_model(bytes, {}, repeated);
  if (!graph) return errors_of(repeated);
  const auto program = compile(bytes, {}, sink);
  const std::vector<std::string> functions = model_functions(bytes, {});
  std::string out;
  for (const ProfileFinding& each : sonnx_findings({*graph, functions, sink, program.get()})) {
    out += each.rule + " " + each.where + ": " + each.what + "\n";
  }
  return out;
}

TEST(SonnxProfile, AModelThatWritesEverythingOutConforms) {
  EXPECT_EQ(findings_of(conv(written_out())), "");
}

TEST(SonnxProfile, P1AsksForFixedShapes) {
  ModelBuilder model;
  model.input("x", DType::kF32, {"N", 2});
  model.node("Relu", {"x"}, {"y"});
  model.output("y");
  EXPECT_EQ(findings_of(model).substr(0, 3), "P1 ");
}

TEST(SonnxProfile, P2AllowsNoGraphInANode) {
  ModelBuilder branch;
  branch.node("Relu", {"x"}, {"z"}).output("z", DType::kF32, {2});
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).input("c", DType::kBool, {});
  model.node("If", {"c"}, {"y"}).subgraph("then_branch", branch).subgraph("else_branch", branch);
  model.output("y");
  EXPECT_EQ(findings_of(model).substr(0, 34), "P2 node #0 (If): contains a graph\n");
}

TEST(SonnxProfile, P3AllowsSpecifiedOperatorsOnly) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2});
  model.node("Selu", {"x"}, {"y"});
  model.output("y");
  EXPECT_EQ(findings_of(model), "P3 node #0 (Selu): its operator is not specified\n");
}

TEST(SonnxProfile, P4AllowsNoDefaultsAndNoAutomaticPadding) {
  Attributes attributes = written_out();
  attributes.erase("group");
  attributes.erase("strides");
  EXPECT_EQ(findings_of(conv(attributes)),
            "P4 node #0 (QLinearConv): does not write out group, strides\n");
  attributes = written_out();
  attributes["auto_pad"] = std::string("VALID");
  EXPECT_EQ(findings_of(conv(attributes)),
            "P4 node #0 (QLinearConv): auto_pad is VALID, must be NOTSET\n");
}

TEST(SonnxProfile, P5AsksForZeroPointsButNotOfInt32) {
  ModelBuilder model;
  model.input("x", DType::kS8, {2}).input("z", DType::kS32, {2});
  model.initializer("scale", scalar(1.0F));
  model.node("DequantizeLinear", {"x", "scale"}, {"y"});
  model.node("DequantizeLinear", {"z", "scale"}, {"w"});
  model.output("y").output("w");
  EXPECT_EQ(findings_of(model), "P5 node #0 (DequantizeLinear): has no zero point at input 2\n");
}

TEST(SonnxProfile, P6AsksForConstants) {
  ModelBuilder model;
  model.input("x", DType::kU8, {2}).input("scale", DType::kF32, {});
  model.initializer("zero", scalar<std::uint8_t>(0));
  model.node("DequantizeLinear", {"x", "scale", "zero"}, {"y"});
  model.output("y");
  EXPECT_EQ(findings_of(model), "P6 node #0 (DequantizeLinear): input 1 is not a constant\n");
}

TEST(SonnxProfile, P7AsksForSumsInsideOfInt32) {
  EXPECT_EQ(findings_of(conv(written_out(), std::numeric_limits<std::int32_t>::max())).substr(0, 3),
            "P7 ");
}

}  // namespace
}  // namespace etch::cli
