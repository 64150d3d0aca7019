// Resize with antialias: ONNX's examples, what has no effect, and what is refused.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "compiler/ops/evaluate.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using Many = std::map<std::string, Attribute>;

ModelBuilder resize(const Shape& x, const std::string& mode, const Many& more, const Tensor* scales,
                    const Tensor* sizes = nullptr, DType type = DType::kF32) {
  ModelBuilder model(19);
  model.input("x", type, {x.begin(), x.end()});
  if (scales != nullptr) model.initializer("scales", *scales);
  if (sizes != nullptr) model.initializer("sizes", *sizes);
  Many attributes{{"mode", mode}, {"antialias", std::int64_t{1}}};
  attributes.insert(more.begin(), more.end());
  std::vector<std::string> inputs = {"x", "", scales != nullptr ? "scales" : ""};
  if (sizes != nullptr) inputs.emplace_back("sizes");
  return model.node("Resize", inputs, {"y"}, attributes).output("y");
}

std::string errors(const ModelBuilder& model) {
  Sink sink;
  EXPECT_FALSE(load(model, sink));
  return errors_of(sink);
}

void expect_near(const ModelBuilder& model, const Tensor& x, const Tensor& expected) {
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const Tensor y = evaluate(*graph, {x}).at(0);
  ASSERT_EQ(y.shape(), expected.shape());
  for (std::size_t i = 0; i < expected.as<float>().size(); ++i)
    EXPECT_NEAR(y.as<float>()[i], expected.as<float>()[i], 2e-6);
}

Tensor from_one(Shape shape) {
  Tensor out(DType::kF32, std::move(shape));
  float at = 0;
  for (float& each : out.as<float>()) each = ++at;
  return out;
}

TEST(Antialias, GivesTheResultsOfTheSpecification) {
  const Tensor x = from_one({1, 1, 4, 4}), scales = f32({4}, {1, 1, 0.6F, 0.6F});
  expect_near(resize(x.shape(), "linear", {}, &scales), x,
              f32({1, 1, 2, 2}, {2.875F, 4.5F, 9.375F, 11}));
  expect_near(resize(x.shape(), "cubic", {}, &scales), x,
              f32({1, 1, 2, 2}, {2.5180721F, 4.2858863F, 9.589329F, 11.357142F}));
  const Tensor sizes = s64({2}, {3, 3});
  expect_near(resize(x.shape(), "linear", {{"axes", Ints{2, -1}}}, nullptr, &sizes), x,
              f32({1, 1, 3, 3}, {2.3636363F, 3.590909F, 4.818182F, 7.2727275F, 8.5F, 9.727273F,
                                 12.181818F, 13.409091F, 14.636364F}));
}

// The filter of what grows is as wide as without; what keeps its size is not touched.
TEST(Antialias, DoesNotChangeWhatGrows) {
  const Tensor x = from_one({2, 3}), scales = f32({2}, {1, 2});
  expect_near(resize(x.shape(), "linear", {}, &scales), x,
              f32({2, 6}, {1, 1.25F, 1.75F, 2.25F, 2.75F, 3, 4, 4.25F, 4.75F, 5.25F, 5.75F, 6}));
}

// Along one axis of two: 0.5 of both sides, where a part of the filter is outside.
TEST(Antialias, LeavesOutWhatIsOutside) {
  const Tensor x = f32({4}, {8, 16, 24, 32}), scales = f32({1}, {0.5F});
  const Many outside{{"exclude_outside", std::int64_t{1}}};
  expect_near(resize(x.shape(), "linear", {}, &scales), x, f32({2}, {13, 27}));
  expect_near(resize(x.shape(), "linear", outside, &scales), x,
              f32({2}, {8 * 3 / 7.0F + 16 * 3 / 7.0F + 24 / 7.0F,
                        16 / 7.0F + 24 * 3 / 7.0F + 32 * 3 / 7.0F}));
}

TEST(Antialias, SaysWhatItNeeds) {
  const std::string at = "model: error[E-";
  const Tensor scales = f32({2}, {1, 0.5F}), few = f32({1}, {1}), sizes = s64({2}, {1, 1});
  EXPECT_EQ(errors(resize({4, 4}, "nearest", {}, &scales)),
            at + "UNSUPPORTED]: node #0 (Resize): attribute 'antialias' needs mode linear or cubic "
                 "and half_pixel, pytorch_half_pixel, asymmetric or align_corners, got 'nearest' "
                 "and 'half_pixel'\n");
  EXPECT_EQ(errors(resize({4, 4}, "linear", {}, &few)),
            at + "SHAPE]: node #0 (Resize): scales must have 2 elements, got 1\n");
  EXPECT_EQ(errors(resize({4, 4}, "linear", {}, &scales, &sizes)),
            at + "SHAPE]: node #0 (Resize): needs either scales or sizes\n");
  EXPECT_EQ(errors(resize({4, 1}, "linear", {}, &scales)),
            at + "SHAPE]: node #0 (Resize): scales: cannot resize 1 elements along axis 1 to this "
                 "size with antialias\n");
  EXPECT_EQ(errors(resize({4, 4}, "linear", {{"axes", Ints{1, -1}}}, &scales)),
            at + "ATTR]: node #0 (Resize): attribute 'axes' names an axis twice\n");
  const Tensor large = s64({1}, {8192});
  EXPECT_EQ(
      errors(resize({4096, 1}, "linear", {{"axes", Ints{0}}}, nullptr, &large)),
      at + "SHAPE]: node #0 (Resize): sizes: antialias multiplies axis 0 by a matrix of 4096 x "
           "8192 weights, of which there can be at most 16777216\n");
  EXPECT_EQ(errors(resize({4, 4}, "linear", {}, &scales, nullptr, DType::kU8)),
            at + "TYPE]: node #0 (Resize): input 0: must be float32, got uint8\n");
  const Many keeps{{"keep_aspect_ratio_policy", std::string("not_larger")}};
  EXPECT_EQ(
      errors(resize({4, 4}, "linear", keeps, nullptr, &sizes)),
      at + "UNSUPPORTED]: node #0 (Resize): attribute 'antialias' needs keep_aspect_ratio_policy = "
           "stretch\n");
}

}  // namespace
}  // namespace etch
