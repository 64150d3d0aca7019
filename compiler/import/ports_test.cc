// What a file says of its inputs and outputs, with sizes that options give.
#include "compiler/import/ports.h"

#include <gtest/gtest.h>

#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(DeclaredPorts, HaveTheSizesOfTheFileAndOfOptions) {
  ModelBuilder model(13);
  model.input("x", DType::kF32, {Dim("N"), Dim("C"), 4}).input("given", DType::kU8, {3});
  model.initializer("w", f32({1}, {2})).node("Mul", {"x", "w"}, {"y"}).output("y");
  ImportOptions options;
  options.dims["N"] = 2;
  options.input_shapes["given"] = {5, 6};
  Sink sink;
  const auto ports = declared_ports(model.bytes(), options, sink);
  ASSERT_TRUE(ports);
  ASSERT_EQ(ports->inputs.size(), 2U);
  EXPECT_EQ(ports->inputs[0].name, "x");
  EXPECT_EQ(ports->inputs[0].dtype, DType::kF32);
  EXPECT_EQ(ports->inputs[0].sizes, (std::vector<std::int64_t>{2, -1, 4}));
  EXPECT_EQ(ports->inputs[1].sizes, (std::vector<std::int64_t>{5, 6}));
  ASSERT_EQ(ports->outputs.size(), 1U);
  EXPECT_EQ(ports->outputs[0].name, "y");
}

TEST(DeclaredPorts, AreNotThoseOfOtherFiles) {
  Sink sink;
  EXPECT_FALSE(declared_ports("no model", {}, sink));
  EXPECT_TRUE(sink.has_errors());
}

}  // namespace
}  // namespace etch
