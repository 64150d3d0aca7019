// Operators that ONNX took out: values worked out by hand, and what is refused. ONNX Runtime gives
// the same for them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/one_operator.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

const Tensor kImage = f32({1, 2, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});

OneOperator on_image(const std::string& type, std::int64_t opset = 9) {
  OneOperator out(type, opset);
  out.input(kImage);
  return out;
}

OneOperator crop(const Ints& border, const Ints& size = {}) {
  OneOperator out = on_image("Crop");
  out.attribute("border", border);
  if (!size.empty()) out.attribute("scale", size);
  return out;
}

TEST(Experimental, MultipliesAndAdds) {
  const Tensor x = f32({3}, {-1, 0, 2});
  OneOperator affine("Affine", 7);
  EXPECT_EQ(affine.input(x).attribute("alpha", 150.0F).attribute("beta", 3.0F).output(),
            f32({3}, {-147, 3, 303}));
  EXPECT_EQ(OneOperator("Affine", 7).input(x).output(), x);
  EXPECT_EQ(OneOperator("Scale", 9).input(x).attribute("scale", 0.5F).output(),
            f32({3}, {-0.5F, 0, 1}));
}

TEST(Experimental, ImageScalerHasABiasPerChannel) {
  OneOperator node = on_image("ImageScaler");
  node.attribute("scale", 2.0F).attribute("bias", std::vector<float>{-1, 100});
  EXPECT_EQ(node.output(), f32({1, 2, 2, 3}, {-1, 1, 3, 5, 7, 9, 112, 114, 116, 118, 120, 122}));
  OneOperator three = on_image("ImageScaler");
  three.attribute("bias", std::vector<float>{1, 2, 3});
  EXPECT_TRUE(says(three, "attribute 'bias': must have 2 elements, one per channel, has 3"));
  OneOperator flat("ImageScaler", 9);
  flat.input(f32({2}, {1, 2}));
  EXPECT_TRUE(says(flat, "input 0: must be [N, C, H, W], got [2]"));
}

TEST(Experimental, FunctionsHaveAnOuterAlphaAndAnInnerBeta) {
  OneOperator tanh("ScaledTanh", 9);
  tanh.input(f32({2}, {0, 100})).attribute("alpha", 3.0F).attribute("beta", 0.5F);
  EXPECT_EQ(tanh.output(), f32({2}, {0, 3}));
  OneOperator softplus("ParametricSoftplus", 9);
  softplus.input(f32({2}, {-100, 100})).attribute("alpha", 3.0F).attribute("beta", 2.0F);
  const Tensor y = softplus.output();
  EXPECT_NEAR(y.real(0), 0, 1e-30);
  EXPECT_EQ(y.real(1), 600);
  OneOperator none("ScaledTanh", 9);
  none.input(f32({2}, {0, 1})).attribute("alpha", 3.0F);
  EXPECT_TRUE(says(none, "attribute 'beta' is missing"));
}

TEST(Experimental, CropTakesOffBordersOrKeepsASize) {
  EXPECT_EQ(crop({1, 0, 0, 1}).output(), f32({1, 2, 1, 2}, {1, 2, 7, 8}));
  EXPECT_EQ(crop({0, 1, 2, 0}).output(), f32({1, 2, 1, 1}, {3, 9}));
  EXPECT_EQ(crop({1, 1, 9, 9}, {1, 2}).output(), f32({1, 2, 1, 2}, {4, 5, 10, 11}));
}

TEST(Experimental, CropKeepsWithinTheImage) {
  constexpr std::int64_t kMost = INT64_MAX, kLeast = INT64_MIN;
  const std::vector<std::pair<Ints, Ints>> refused = {
      {{0, 1, 0, 1}, {}},     {{-1, 0, 0, 0}, {}},    {{0, 0, 0, kLeast}, {}},
      {{kMost, 0, 0, 0}, {}}, {{1, 1, 0, 0}, {2, 1}}, {{1, 1, 0, 0}, {kMost, 1}},
      {{0, 0, 0, 0}, {0, 1}}, {{0, 0, 0, 0}, {1, 4}}};
  for (const auto& [border, size] : refused) {
    OneOperator node = crop(border, size);
    EXPECT_TRUE(says(node, "attributes 'border' and 'scale' keep nothing of axis"));
  }
  OneOperator three = crop({0, 0, 0});
  EXPECT_TRUE(says(three, "attribute 'border' must have 4 elements, 'scale' 2 or none"));
}

TEST(Experimental, IsGoneFromOperatorSet10On) {
  for (const char* const type : {"Affine", "Scale", "ImageScaler", "ScaledTanh", "Crop"}) {
    OneOperator node = on_image(type, 10);
    EXPECT_TRUE(says(node, "version 10 of ai.onnx took it out, the model imports 10"));
  }
}

}  // namespace
}  // namespace etch
