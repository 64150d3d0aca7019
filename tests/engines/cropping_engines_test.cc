// Convolutions that do not make what a Slice cuts off give the bits of the references, which make
// it and cut it off, and so do dynamically quantized ones after a Pad.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "tests/support/agreement.h"
#include "tests/support/model_builder.h"
#include "tests/support/targets.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using Attributes = std::map<std::string, Attribute>;

Tensor random_floats(Dice& dice, Shape shape) {
  Tensor out(DType::kF32, std::move(shape));
  for (float& x : out.as<float>()) x = static_cast<float>(dice.between(-999, 999)) / 64.0F;
  return out;
}

// A convolution along one or two axes, and where it is cut.
struct Crop {
  std::int64_t channels = 1, filters = 1;
  Shape in;
  Ints kernel, strides, dilations, pads, starts, ends, axes;

  explicit Crop(Dice& dice) {
    const std::int64_t spatial = dice.between(1, 2);
    channels = dice.pick<std::int64_t>({1, 4, 16, 20});
    filters = dice.pick<std::int64_t>({1, 4, 16, 24, 33});
    in = {dice.between(1, 2), channels};
    Ints ends_of_pads;
    for (std::int64_t d = 0; d < spatial; ++d) {
      const std::int64_t cut_begin = dice.between(0, 2), cut_end = dice.between(0, 5);
      kernel.push_back(dice.between(1, 4));
      strides.push_back(dice.pick<std::int64_t>({1, 1, 2, 3}));
      dilations.push_back(dice.pick<std::int64_t>({1, 1, 2}));
      in.push_back(dice.between(24, 40));
      pads.push_back(dice.between(0, 4));
      ends_of_pads.push_back(dice.between(0, 6));
      starts.push_back(cut_begin);
      ends.push_back(cut_end == 0 ? 1000 : -cut_end);
      axes.push_back(d + 2);
    }
    pads.insert(pads.end(), ends_of_pads.begin(), ends_of_pads.end());
  }

  Attributes attributes() const {
    return {{"strides", strides}, {"dilations", dilations}, {"pads", pads}};
  }
  Shape weights(bool transposed) const {
    Shape out = transposed ? Shape{channels, filters} : Shape{filters, channels};
    out.insert(out.end(), kernel.begin(), kernel.end());
    return out;
  }
  Shape per_filter() const {
    Shape out(in.size(), 1);
    out[1] = filters;
    return out;
  }
  void slice(ModelBuilder& model, const std::string& from) const {
    const auto count = static_cast<std::int64_t>(axes.size());
    model.initializer("starts", s64({count}, starts)).initializer("ends", s64({count}, ends));
    model.initializer("axes", s64({count}, axes));
    model.node("Slice", {from, "starts", "ends", "axes"}, {"s"}).node("Relu", {"s"}, {"y"});
  }
};

Case of_floats(int index) {
  Dice dice(static_cast<std::uint64_t>(index) + 41'000'000);
  const Crop crop(dice);
  const bool transposed = index % 2 == 1;
  ModelBuilder model;
  model.input("x", DType::kF32, {crop.in.begin(), crop.in.end()});
  model.initializer("w", random_floats(dice, crop.weights(transposed)));
  model.initializer("b", random_floats(dice, {crop.filters}));
  model.node(transposed ? "ConvTranspose" : "Conv", {"x", "w", "b"}, {"c"}, crop.attributes());
  const bool between = dice.one_in(2);
  if (between) model.node("Sigmoid", {"c"}, {"m"});
  crop.slice(model, between ? "m" : "c");
  model.output("y");
  return {cat("floats_", index), model.bytes(), {random_floats(dice, crop.in)}};
}

Case of_bytes(int index) {
  Dice dice(static_cast<std::uint64_t>(index) + 42'000'000);
  const Crop crop(dice);
  ModelBuilder model;
  model.input("x", DType::kU8, {crop.in.begin(), crop.in.end()});
  model.initializer("w", random_bytes(dice, DType::kS8, crop.weights(false)));
  model.initializer("scale", f32({}, {0.0625F})).initializer("y_scale", f32({}, {8}));
  model.initializer("zero", u8({}, {static_cast<std::uint8_t>(dice.between(0, 255))}));
  model.initializer("w_zero", Tensor::of<std::int8_t>({}, {0}));
  model.node("QLinearConv", {"x", "scale", "zero", "w", "scale", "w_zero", "y_scale", "zero"},
             {"q"}, crop.attributes());
  model.node("DequantizeLinear", {"q", "y_scale", "zero"}, {"c"});
  crop.slice(model, "c");
  model.output("y");
  return {cat("bytes_", index), model.bytes(), {random_bytes(dice, DType::kU8, crop.in)}};
}

// Pad, DynamicQuantizeLinear, two convolutions, bias, Slice.
Case quantized_dynamically(int index) {
  Dice dice(static_cast<std::uint64_t>(index) + 43'000'000);
  const Crop crop(dice);
  ModelBuilder model;
  model.input("x", DType::kF32, {crop.in.begin(), crop.in.end()});
  Ints around(2 * crop.in.size(), 0);
  for (std::size_t d = 2; d < crop.in.size(); ++d) {
    around[d] = dice.between(0, 3);
    around[d + crop.in.size()] = dice.between(0, 3);
  }
  model.initializer("around", s64({static_cast<std::int64_t>(around.size())}, around));
  model.initializer("nothing", f32({}, {0}));
  model.node("Pad", {"x", "around", "nothing"}, {"p"});
  model.node("DynamicQuantizeLinear", {"p"}, {"q", "q_scale", "q_zero"});
  model.initializer("w_scale", f32({}, {0.03125F})).node("Mul", {"q_scale", "w_scale"}, {"f"});
  const bool twice = dice.one_in(3);
  for (const std::string& name :
       twice ? std::vector<std::string>{"", "2"} : std::vector<std::string>{""}) {
    model.initializer("w" + name, random_bytes(dice, DType::kU8, crop.weights(false)));
    model.initializer("z" + name, u8({}, {static_cast<std::uint8_t>(dice.between(100, 150))}));
    model.node("ConvInteger", {"q", "w" + name, "q_zero", "z" + name}, {"i" + name},
               crop.attributes());
    model.node("Cast", {"i" + name}, {"c" + name}, {{"to", std::int64_t{1}}});
    model.node("Mul", {"c" + name, "f"}, {"m" + name});
  }
  model.initializer("b", random_floats(dice, crop.per_filter())).node("Add", {"m", "b"}, {"a"});
  crop.slice(model, "a");
  model.output("y");
  if (twice) model.output("m2");
  return {cat("dynamic_", index), model.bytes(), {random_floats(dice, crop.in)}};
}

std::vector<Case> cropped_convolutions(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    out.push_back(of_floats(index));
    out.push_back(of_bytes(index));
    out.push_back(quantized_dynamically(index));
  }
  return out;
}

TEST(CroppedConvolutions, AgreeNatively) { expect_native_agrees(cropped_convolutions(40)); }

class Cropping : public ::testing::TestWithParam<const char*> {};

TEST_P(Cropping, AgreesCompiled) {
  expect_compiled_agrees(thinned(cropped_convolutions(4), GetParam()), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Targets, Cropping,
                         ::testing::ValuesIn(all_targets_but({{"avx_vnni",
                                                               "the kernels of avx512_vnni"}})),
                         name_of_target);

}  // namespace
}  // namespace etch
