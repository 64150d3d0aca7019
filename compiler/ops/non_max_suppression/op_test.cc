// NonMaxSuppression: the refusal says where to cut, and cutting there works.
#include "compiler/ops/non_max_suppression/op.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "compiler/compile.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// A detector's end: boxes and scores, the selection, and what needs its result.
std::string detector() {
  ModelBuilder model(13);
  model.input("x", DType::kF32, {1, 4, 4}).initializer("most", s64({1}, {3}));
  model.node("Relu", {"x"}, {"boxes"});
  model.node("Sigmoid", {"x"}, {"scores"});
  model.node("NonMaxSuppression", {"boxes", "scores", "most"}, {"selected"});
  model.node("Unheard", {"selected"}, {"y"}, {}).output("y");
  return model.bytes();
}

TEST(NonMaxSuppression, IsRefusedWithThePlaceToCut) {
  ModelBuilder model(13);
  model.input("x", DType::kF32, {1, 4, 4});
  model.node("Relu", {"x"}, {"boxes"}).node("Sigmoid", {"x"}, {"scores"});
  model.node("NonMaxSuppression", {"boxes", "scores"}, {"selected"}).output("selected");
  Sink sink;
  EXPECT_EQ(compile(model.bytes(), {}, sink), nullptr);
  EXPECT_EQ(
      errors_of(sink),
      "model: error[E-UNSUPPORTED]: node #2 (NonMaxSuppression): how many boxes are left is "
      "known at run time only, and shapes are not; cut the network before it (--cut 'boxes' "
      "--cut 'scores') and select boxes in your own code, or give its output a shape [N, 3] in "
      "the file: rows without a box then hold -1\n");
}

TEST(NonMaxSuppression, CuttingThereCompilesTheRest) {
  CompileOptions options;
  options.target = "scalar";
  options.import.cuts = {"boxes", "scores"};
  Sink sink;
  const auto program = compile(detector(), options, sink);
  ASSERT_NE(program, nullptr) << errors_of(sink);
  ASSERT_EQ(program->outputs.size(), 2U);
  EXPECT_EQ(program->outputs[0].name, "boxes");
  EXPECT_EQ(program->outputs[1].name, "scores");
}

// A network that declares `rows` rows of at most `most` boxes of each class.
std::string errors_of_declared(std::int64_t rows, std::int64_t most, float overlap) {
  ModelBuilder model(13);
  model.input("boxes", DType::kF32, {1, 4, 4}).input("scores", DType::kF32, {1, 2, 4});
  model.initializer("most", s64({1}, {most})).initializer("overlap", f32({1}, {overlap}));
  model.node("NonMaxSuppression", {"boxes", "scores", "most", "overlap"}, {"selected"});
  model.output("selected", DType::kS64, {rows, 3});
  CompileOptions options;
  options.target = "scalar";
  Sink sink;
  return compile(model.bytes(), options, sink) != nullptr ? "" : errors_of(sink);
}

TEST(NonMaxSuppression, BoundsMayBeAbsurd) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t most : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, INT64_MAX})
    EXPECT_EQ(errors_of_declared(5, most, 0.5F), "") << most;
  for (const float overlap : {-1.0F, 2.0F}) EXPECT_EQ(errors_of_declared(5, 3, overlap), "");
  for (const float overlap : {nan, std::numeric_limits<float>::infinity()}) {
    const std::string errors = errors_of_declared(5, 3, overlap);
    EXPECT_NE(errors.find("E-TENSOR"), std::string::npos) << overlap << ": " << errors;
  }
  for (const std::int64_t rows : {std::int64_t{1} << 40, INT64_MAX}) {
    const std::string errors = errors_of_declared(rows, INT64_MAX, 0.5F);
    EXPECT_NE(errors.find("E-SHAPE"), std::string::npos) << rows << ": " << errors;
  }
}

TEST(Cut, NeedsANameOfTheNetwork) {
  CompileOptions options;
  options.import.cuts = {"bboxes"};
  Sink sink;
  EXPECT_EQ(compile(detector(), options, sink), nullptr);
  EXPECT_EQ(errors_of(sink),
            "model: error[E-NAME]: --cut 'bboxes': is no input, initializer, node or output of a "
            "node; did you mean 'boxes'?\n");
}

}  // namespace
}  // namespace etch
