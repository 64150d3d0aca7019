// Constants of generated code stay near the size of the weights that they are packed from, for
// single convolutions of every kind of weights.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "compiler/targets/targets.h"
#include "tests/support/cases.h"
#include "tests/support/conv_node.h"
#include "tests/support/engines.h"
#include "tests/support/model_builder.h"
#include "tests/support/targets.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

std::int64_t bytes_of_constants(const Program& program) {
  std::int64_t out = 0;
  for (const auto& step : program.steps) {
    for (const ConstantArray& constant : step->constants) out += std::ssize(constant.bytes);
  }
  return out;
}

// ---- single layers ----

struct Layer {
  const char* name;
  ConvShape shape;
};

ConvShape shape_of(ConvShape::Kind kind, std::int64_t group, std::int64_t in, std::int64_t out,
                   std::vector<std::int64_t> kernel) {
  ConvShape shape;
  shape.kind = kind;
  if (kind == ConvShape::Kind::kConvInteger)
    shape.at_run_time = ConvShape::AtRunTime::kZeroPointOfX;
  shape.group = group;
  shape.in_per_group = in;
  shape.out_per_group = out;
  for (const std::int64_t size : kernel) {
    shape.in.push_back(9);
    shape.kernel.push_back(size);
    shape.stride.push_back(1);
    shape.dilation.push_back(1);
    shape.pad_begin.push_back(size / 2);
    shape.pad_end.push_back(size / 2);
  }
  return shape;
}

std::vector<Layer> layers() {
  constexpr auto kInteger = ConvShape::Kind::kConvInteger;
  constexpr auto kQLinear = ConvShape::Kind::kQLinearConv;
  return {
      {"integer 3x3", shape_of(kInteger, 96, 1, 1, {3, 3})},
      {"integer 5x5", shape_of(kInteger, 576, 1, 1, {5, 5})},
      {"integer 1d", shape_of(kInteger, 64, 1, 1, {31})},
      {"integer volume", shape_of(kInteger, 64, 1, 1, {3, 3, 3})},
      {"integer groups", shape_of(kInteger, 16, 4, 4, {3, 3})},
      {"integer multiplier", shape_of(kInteger, 64, 1, 2, {3, 3})},
      {"requantized 3x3", shape_of(kQLinear, 576, 1, 1, {3, 3})},
      {"requantized 5x5", shape_of(kQLinear, 576, 1, 1, {5, 5})},
      {"requantized 7x7", shape_of(kQLinear, 128, 1, 1, {7, 7})},
      {"requantized groups", shape_of(kQLinear, 32, 2, 4, {3, 3})},
  };
}

// What the constants of a layer may take.
double bound_of(const ConvShape& shape, const IsaTraits& isa) {
  const auto channels = static_cast<double>(shape.group * shape.out_per_group);
  double weights = channels * static_cast<double>(shape.in_per_group);
  for (const std::int64_t size : shape.kernel) weights *= static_cast<double>(size);
  double factor = 1.5;  // quads of taps, d of 9-bit weights, padded lanes
  // Products of int16 have weights of two bytes.
  if (isa.weight_form == WeightForm::kS16EvenOdd) factor *= 2;
  // Assembly: int16 weights for SMLAD; four columns of four rows for each of two rows on Helium.
  // Its targets have no halo for padding, so that each border case has biases of its own.
  if (isa.assembly != Assembly::kNone) factor *= 2.5;
  // Two output rows that share quads have vectors of their own.
  const std::size_t rank = shape.kernel.size();
  const bool pairs = isa.lanes > 1 && rank > 1 && shape.kernel[rank - 2] <= 3;
  if (pairs) factor *= 2;
  // Where there are vectors, groups may fill a quarter of the lanes: a copy of x costs more time.
  const bool grouped = shape.in_per_group > 1 || shape.out_per_group > 1;
  if (grouped && isa.lanes > 1) factor *= 4;
  // A row as one run repeats the weights after whole pixels and vectors.
  const std::int64_t count = shape.group * shape.out_per_group;
  factor *= static_cast<double>(std::lcm(count, std::int64_t{isa.byte_lanes()}) / count);
  // Per channel a bias, a scale or what takes its place without floats, and rounding exceptions.
  const double per_channel = isa.float_requantization ? 8 : 40;
  const double repeats =
      static_cast<double>(std::lcm(count, std::int64_t{isa.byte_lanes()}) / count);
  return factor * weights + repeats * per_channel * channels + 4096;
}

TEST(ConstantsBound, HoldsForSingleLayers) {
  for (const IsaTraits* const isa : plans()) {
    for (const Layer& layer : layers()) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        Dice dice(seed);
        const Case each = conv_case(layer.shape, Scaling::kTypical, layer.name, dice);
        const auto program = compiled(each, isa->name);
        ASSERT_NE(program, nullptr) << layer.name;
        EXPECT_LE(static_cast<double>(bytes_of_constants(*program)), bound_of(layer.shape, *isa))
            << layer.name << " seed " << seed << " on " << isa->name;
      }
    }
  }
}

// ---- an image without a halo ----

// The convolution of positions of wav2vec 2.0: x is a transposed view of what a product wrote,
// whose memory has no halo; 16 taps with 8 of padding have 17 border cases.
Case transposed_then_convolved() {
  constexpr std::int64_t kPositions = 40, kChannels = 16, kGroups = 4, kTaps = 16;
  Dice dice(1);
  ModelBuilder model;
  model.input("a", DType::kU8, {1, kPositions, 8});
  model.initializer("scale", Tensor::of<float>({}, {0.01F}));
  model.initializer("y_scale", Tensor::of<float>({}, {0.05F}));
  model.initializer("zero", Tensor::of<std::uint8_t>({}, {120}));
  model.initializer("w_zero", Tensor::of<std::int8_t>({}, {0}));
  model.initializer("b", random_bytes(dice, DType::kS8, {8, kChannels}));
  model.initializer("w", random_bytes(dice, DType::kS8, {kChannels, kChannels / kGroups, kTaps}));
  model.node("QLinearMatMul", {"a", "scale", "zero", "b", "scale", "w_zero", "y_scale", "zero"},
             {"rows"});
  model.node("Transpose", {"rows"}, {"x"}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
  model.node("QLinearConv", {"x", "y_scale", "zero", "w", "scale", "w_zero", "y_scale", "zero"},
             {"y"}, {{"pads", std::vector<std::int64_t>{8, 8}}, {"group", kGroups}});
  model.output("y");
  return {"transposed then convolved",
          model.bytes(),
          {random_bytes(dice, DType::kU8, {1, kPositions, 8})}};
}

TEST(ConstantsBound, OfAConvolutionWhoseImageHasNoHalo) {
  const Case each = transposed_then_convolved();
  const std::vector<Tensor> expected = reference_outputs(each);
  // Targets: bytes in lanes of four, 16-bit lanes, and none.
  for (const std::string_view target : {"avx512_vnni", "avx2", "scalar"}) {
    const auto program = compiled(each, target);
    ASSERT_NE(program, nullptr) << target;
    // Weights of 16-bit lanes have two bytes, lanes that a group of 4 channels leaves empty four.
    constexpr std::int64_t kWeights = 8 * 16 + 16 * 4 * 16;
    EXPECT_LE(bytes_of_constants(*program), 8 * kWeights + 4096) << target;
    EXPECT_EQ(difference_of(native_outputs(*program, each.inputs), expected), "") << target;
  }
}

// Two convolutions of half the channels each, as in YOLO: each has its weights once, not once for
// every border.
constexpr std::int64_t kWeightsOfParts = 2 * 32 * 16 * 9;
std::int64_t constants_of_parts(bool transposed) {
  Dice dice(1);
  ModelBuilder model(13);
  const Shape shape = transposed ? Shape{1, 8, 8, 32} : Shape{1, 32, 8, 8};
  model.input("x", DType::kU8, {shape.begin(), shape.end()});
  model.initializer("scale", f32({}, {0.0625F})).initializer("zero", u8({}, {100}));
  model.initializer("w_zero", s8({}, {0}));
  model.node("MaxPool", {"x"}, {"q"}, {{"kernel_shape", Ints{1, 1}}});
  if (transposed) model.node("Transpose", {"q"}, {"t"}, {{"perm", Ints{0, 3, 1, 2}}});
  model.node("Split", {transposed ? "t" : "q"}, {"p0", "p1"}, {{"axis", std::int64_t{1}}});
  for (const std::string i : {"0", "1"}) {
    model.initializer("w" + i, random_bytes(dice, DType::kS8, {32, 16, 3, 3}, -127, 127));
    model.node("QLinearConv",
               {"p" + i, "scale", "zero", "w" + i, "scale", "w_zero", "scale", "zero"}, {"y" + i},
               {{"pads", Ints(4, 1)}});
    model.output("y" + i);
  }
  const auto program = compiled({"parts", model.bytes(), {}}, "avx512_vnni");
  EXPECT_NE(program, nullptr);
  return program == nullptr ? INT64_MAX : bytes_of_constants(*program);
}

TEST(ConstantsBound, HoldsForPartsOfATensor) {
  EXPECT_LE(constants_of_parts(false), kWeightsOfParts * 3 / 2 + 4096);
}

TEST(ConstantsBound, HoldsForPartsOfATransposedTensor) {
  EXPECT_LE(constants_of_parts(true), kWeightsOfParts * 3 / 2 + 4096);
}

}  // namespace
}  // namespace etch
