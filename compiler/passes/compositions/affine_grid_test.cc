// AffineGrid: coordinates with ONNX Runtime's roundings, and what does not fit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/ops/evaluate.h"
#include "compiler/ops/op.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

ModelBuilder model_of(const Shape& theta, const Ints& size, bool aligned) {
  ModelBuilder model(20);
  model.input("theta", DType::kF32, {theta.begin(), theta.end()});
  model.initializer("size", Tensor::of<std::int64_t>({std::ssize(size)}, size));
  model.node("AffineGrid", {"theta", "size"}, {"y"},
             {{"align_corners", std::int64_t{aligned ? 1 : 0}}});
  return std::move(model.output("y"));
}

Tensor run(const Tensor& theta, const Ints& size, bool aligned) {
  Sink sink;
  const auto graph = load(model_of(theta.shape(), size, aligned), sink);
  if (!graph) {
    ADD_FAILURE() << errors_of(sink);
    return {};
  }
  return evaluate(*graph, {theta})[0];
}

// One line of x, as ONNX Runtime has it.
TEST(AffineGrid, PlacesCoordinatesFromMinusOneToOne) {
  const Tensor x_only = f32({1, 2, 3}, {1, 0, 0, 0, 0, 0});
  EXPECT_EQ(run(x_only, {1, 1, 1, 4}, true),
            f32({1, 1, 4, 2}, {-1, 0, -0.333333313F, 0, 0.333333373F, 0, 1, 0}));
  EXPECT_EQ(run(x_only, {1, 1, 1, 4}, false),
            f32({1, 1, 4, 2}, {-0.75F, 0, -0.249999985F, 0, 0.25000003F, 0, 0.75F, 0}));
  EXPECT_EQ(run(x_only, {1, 1, 1, 1}, true), f32({1, 1, 1, 2}, {1, 0}));
  EXPECT_EQ(run(x_only, {1, 1, 1, 1}, false), f32({1, 1, 1, 2}, {0, 0}));
}

TEST(AffineGrid, MultipliesThetaByXYAndOne) {
  const Tensor theta = f32({2, 2, 3}, {2, 3, 5, 7, 11, 13, 0, 0, 1, 0, 0, 2});
  EXPECT_EQ(run(theta, {2, 1, 2, 2}, true),
            f32({2, 2, 2, 2}, {-2 - 3 + 5, -7 - 11 + 13, 2 - 3 + 5, 7 - 11 + 13, -2 + 3 + 5,
                               -7 + 11 + 13, 2 + 3 + 5, 7 + 11 + 13, 1, 2, 1, 2, 1, 2, 1, 2}));
}

TEST(AffineGrid, HasTheDepthLastInCubes) {
  const Tensor theta = f32({1, 3, 4}, {1, 0, 0, 0, 0, 10, 0, 0, 0, 0, 100, 0});
  const Tensor y = run(theta, {1, 1, 2, 2, 2}, true);
  ASSERT_EQ(y.shape(), (Shape{1, 2, 2, 2, 3}));
  EXPECT_EQ(y.real(3), 1);     // x of the next column
  EXPECT_EQ(y.real(7), 10);    // y of the next row
  EXPECT_EQ(y.real(14), 100);  // z of the next plane
}

TEST(AffineGrid, RefusesWhatDoesNotFit) {
  const auto errors = [](const Shape& theta, const Ints& size) {
    Sink sink;
    return load(model_of(theta, size, false), sink) ? "" : errors_of(sink);
  };
  EXPECT_NE(errors({1, 2, 3}, {1, 1, 4}).find("size must be"), std::string::npos);
  EXPECT_NE(errors({1, 2, 3}, {1, 1, 0, 4}).find("size must be"), std::string::npos);
  EXPECT_NE(errors({1, 2, 3}, {1, 1, 1 << 20, 1 << 20}).find("with at most"), std::string::npos);
  EXPECT_NE(errors({1, 3, 4}, {1, 1, 4, 4}).find("E-SHAPE"), std::string::npos);
}

}  // namespace
}  // namespace etch
