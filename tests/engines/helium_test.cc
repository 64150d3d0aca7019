// Code for Cortex-M55: convolutions of every shape that functions in assembly for Helium serve, or
// leave to others, compute what the references do, in the emulator and in the Native stage, which
// runs the portable functions that replace them. Skipped, with the packages that would help, where
// compiler or emulator is missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/toolchain.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/channel_cases.h"
#include "tests/support/conv_node.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/part.h"
#include "tests/support/residual_cases.h"
#include "tests/support/run_time_cases.h"
#include "tests/support/table_cases.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

const IsaTraits& helium() { return *find_target("cortex-m55"); }

bool calls_assembly(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(),
                     [](const auto& step) { return !step->assembly.empty(); });
}

struct Compiled {
  std::vector<std::unique_ptr<Program>> programs;
  int with_assembly = 0;
};

// Expects that the Native stage agrees with the reference for all.
Compiled compile_all(const std::vector<Case>& all, Objective objective) {
  CompileOptions options;
  options.target = helium().name;
  options.objective = objective;
  Compiled out;
  for (const Case& each : all) {
    out.programs.push_back(compiled(each, options));
    EXPECT_NE(out.programs.back(), nullptr) << each.name;
    if (out.programs.back() == nullptr) return out;
    const Program& program = *out.programs.back();
    out.with_assembly += calls_assembly(program) ? 1 : 0;
    EXPECT_EQ(difference_of(native_outputs(program, each.inputs), reference_outputs(each)), "")
        << each.name;
  }
  return out;
}

// The same in the emulator, several networks to an image, as many as its board has memory for.
// `share`: at least one of so many has functions in assembly.
void expect_agreement(const std::vector<Case>& all, int share,
                      Objective objective = Objective::kBalanced) {
  const Compiled compiled = compile_all(all, objective);
  ASSERT_EQ(compiled.programs.size(), all.size());
  EXPECT_GE(compiled.with_assembly * share, static_cast<int>(all.size()));
  const std::string missing = cli::status_of(helium()).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  constexpr std::size_t kTogether = 6;
  for (const std::vector<std::size_t>& chosen : images_of_part(all, kTogether)) {
    std::vector<BatchEntry> entries;
    entries.reserve(chosen.size());
    for (const std::size_t i : chosen)
      entries.push_back({compiled.programs[i].get(), &all[i].inputs});
    const auto outputs = run_generated(entries, helium());
    ASSERT_TRUE(outputs);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const Case& each = all[chosen[i]];
      EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(each)), "") << each.name;
    }
  }
}

TEST(Helium, ConvolutionsInAPlaneAgree) { expect_agreement(small_plane_convolutions(400), 8); }

TEST(Helium, ConvolutionsOnALineAndInSpaceAgree) {
  std::vector<Case> all = small_line_convolutions(120);
  add_cases(all, small_volume_convolutions(12));
  expect_agreement(all, 8);
}

TEST(Helium, EveryCountOfChannelsAgrees) { expect_agreement(dense_channel_counts(1), 2); }

// Blocks of three channels and more, of which the last product uses the first register of weights.
std::vector<Case> odd_channels_of_one_position() {
  std::vector<Case> out;
  for (const std::int64_t channels : {3, 5, 7, 11, 13}) {
    Dice dice(14'500'000 + static_cast<std::uint64_t>(channels));
    ConvShape shape;
    shape.in_per_group = 72;
    shape.out_per_group = channels;
    shape.in = shape.kernel = shape.stride = shape.dilation = {1, 1};
    shape.pad_begin = shape.pad_end = {0, 0};
    out.push_back(conv_case(shape, Scaling::kTypical, cat("one_position_", channels), dice));
  }
  return out;
}

TEST(Helium, OddCountsOfChannelsOfOnePositionAgree) {
  expect_agreement(odd_channels_of_one_position(), 2);
}

TEST(Helium, EveryCountOfDepthwiseChannelsAgrees) {
  expect_agreement(depthwise_channel_counts(1), 3);
}

TEST(Helium, DepthwiseConvolutionsOfIntegersAgree) { expect_agreement(depthwise_integers(1), 2); }

TEST(Helium, DepthwiseConvolutionsAlongALineAgree) { expect_agreement(depthwise_lines(90), 2); }

TEST(Helium, LinesOfFewChannelsAtATimeAgree) {
  expect_agreement(depthwise_lines(24), 2, Objective::kRam);
}

// Of `cases`, how many need less for --optimize ram; none needs more, and a limit finds it, too.
int count_smaller_arenas(const std::vector<Case>& cases) {
  int less = 0;
  for (const Case& each : cases) {
    CompileOptions options;
    options.target = helium().name;
    const std::unique_ptr<Program> plain = compiled(each, options);
    options.objective = Objective::kRam;
    const std::unique_ptr<Program> little = compiled(each, options);
    if (plain == nullptr || little == nullptr) {
      ADD_FAILURE() << each.name;
      continue;
    }
    EXPECT_LE(little->arena_bytes, plain->arena_bytes) << each.name;
    less += little->arena_bytes < plain->arena_bytes ? 1 : 0;
    options.objective = Objective::kBalanced;
    options.arena_limit = little->arena_bytes;
    const std::unique_ptr<Program> limited = compiled(each, options);
    EXPECT_TRUE(limited != nullptr && limited->arena_bytes <= little->arena_bytes) << each.name;
  }
  return less;
}

TEST(Helium, LinesTakeLessScratchMemoryForLittleRam) {
  EXPECT_GE(count_smaller_arenas(depthwise_lines(24)), 4);
}

// Of channels that fill several vectors.
std::vector<Case> wide_depthwise_planes() {
  std::vector<Case> all = depthwise_channel_counts(3);
  add_cases(all, depthwise_integers(2));
  std::erase_if(all, [](const Case& each) {
    for (const char* channels : {"_32_", "_48_", "_64_", "_96_", "_144_"})
      if (each.name.find(channels) != std::string::npos) return false;
    return true;
  });
  return all;
}

TEST(Helium, PlanesOfFewChannelsAtATimeAgree) {
  expect_agreement(wide_depthwise_planes(), 2, Objective::kRam);
}

TEST(Helium, PlanesTakeLessScratchMemoryForLittleRam) {
  EXPECT_GE(count_smaller_arenas(wide_depthwise_planes()), 12);
}

TEST(Helium, LargerConvolutionsAndWideWeightsAgree) {
  std::vector<Case> all = larger_convolutions(24);
  add_cases(all, nearly_narrow_convolutions(4));
  expect_agreement(all, 4);
}

TEST(Helium, EveryScalingAgrees) { expect_agreement(scaled_convolutions(), 2); }

TEST(Helium, IntegerResultsAgree) {
  std::vector<Case> all = integer_convolutions(16);
  add_cases(all, run_time_convolutions(4));
  expect_agreement(all, 8);
}

TEST(Helium, ResidualsAndNetworksAgree) {
  std::vector<Case> all = residual_convolutions(24);
  add_cases(all, small_networks(6));
  expect_agreement(all, 2);
}

// A maximum over windows of n x n of a map of 16 x 16, padded on all sides.
bool pool_is_assembly(std::int64_t n, Objective objective) {
  ModelBuilder model(13);
  model.input("x", DType::kU8, {1, 16, 16, 16});
  const std::vector<std::int64_t> pads(4, n / 2);
  model.node("MaxPool", {"x"}, {"y"},
             {{"kernel_shape", std::vector<std::int64_t>{n, n}}, {"pads", pads}});
  CompileOptions options;
  options.target = "cortex-m55";
  options.objective = objective;
  Sink sink;
  const auto program = compile(model.output("y").bytes(), options, sink);
  EXPECT_NE(program, nullptr) << errors_of(sink);
  return program != nullptr && std::ranges::any_of(program->steps, [](const auto& step) {
           return !step->assembly.empty();
         });
}

TEST(Helium, PoolsAreAssemblyWhereTheirTapsAreFew) {
  EXPECT_TRUE(pool_is_assembly(3, Objective::kBalanced));
  EXPECT_TRUE(pool_is_assembly(3, Objective::kSize));
  EXPECT_TRUE(pool_is_assembly(5, Objective::kBalanced));
  EXPECT_FALSE(pool_is_assembly(5, Objective::kSize));
  EXPECT_FALSE(pool_is_assembly(9, Objective::kBalanced));
}

// Averages of seven equal bytes 4 k + 1 are ties once halved: 7 q * fl(1 / 7) is not q for many.
TEST(Helium, AveragesDivideAsTheReferenceDoes) {
  ModelBuilder model(13);
  model.opset("com.microsoft", 1).input("x", DType::kU8, {1, 60, 1, 14});
  model.initializer("one", f32({}, {1})).initializer("two", f32({}, {2}));
  model.initializer("zero", u8({}, {0}));
  model.node("QLinearAveragePool", {"x", "one", "zero", "two", "zero"}, {"y"},
             {{"kernel_shape", std::vector<std::int64_t>{1, 7}},
              {"strides", std::vector<std::int64_t>{1, 7}}},
             "com.microsoft");
  std::vector<std::uint8_t> x;
  for (int channel = 0; channel < 60; ++channel)
    x.insert(x.end(), 14, static_cast<std::uint8_t>(4 * channel + 1));
  expect_agreement({{"ties", model.output("y").bytes(), {u8({1, 60, 1, 14}, x)}}}, 1);
}

TEST(Helium, PoolsAgree) { expect_agreement(pools(48), 2); }

TEST(Helium, ProductsOfTwoInputsAgree) { expect_agreement(products_of_two_inputs(5), 40); }

TEST(Helium, ProductsOfMatricesAgree) { expect_agreement(other_operators(1), 30); }

// Ties and floats around them, infinities, both kinds of NaN and any bits; as they are, and with
// the planes of an image written side by side for a convolution.
Case quantized_image(int index) {
  Dice dice(14'000'000 + static_cast<std::uint64_t>(index));
  const std::int64_t channels = dice.between(1, 5), rows = dice.between(3, 9),
                     cols = dice.between(2, 9);
  const float scale = 0.001F * static_cast<float>(dice.between(1, 9999));
  const int zero = static_cast<int>(dice.between(0, 255));
  Tensor x(DType::kF32, {1, channels, rows, cols});
  for (float& each : x.as<float>()) {
    const auto tie = (static_cast<float>(dice.between(-3, 258) - zero) + 0.5F) * scale;
    const auto bits = static_cast<std::uint32_t>(dice.between(0, 0xffffffff));
    const std::uint32_t near = std::bit_cast<std::uint32_t>(tie) + bits % 5 - 2;
    each = std::bit_cast<float>(dice.one_in(4) ? bits : near);
    if (dice.one_in(9)) each = dice.one_in(2) ? INFINITY : -INFINITY;
    if (dice.one_in(9)) each = std::bit_cast<float>(dice.one_in(2) ? 0x7f800001U : 0xffc00000U);
  }
  ModelBuilder model;
  model.input("x", DType::kF32, {1, channels, rows, cols});
  model.initializer("s", f32({}, {scale}))
      .initializer("z", u8({}, {static_cast<std::uint8_t>(zero)}));
  model.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  if (dice.one_in(2)) {
    model.initializer("w", random_bytes(dice, DType::kU8, {3, channels, 1, 1}));
    model.initializer("ys", f32({}, {scale * 90}));
    model.node("QLinearConv", {"q", "s", "z", "w", "s", "z", "ys", "z"}, {"y"}).output("y");
  }
  model.output("q");
  return {cat("quantized_image_", index), model.bytes(), {x}};
}

TEST(Helium, QuantizationOfFloatsAgrees) {
  std::vector<Case> all;
  all.reserve(36);
  for (int i = 0; i < 36; ++i) all.push_back(quantized_image(i));
  expect_agreement(all, 2);
}

// What a step of one network is called another one may be, too, so names must tell functions apart.
TEST(Helium, FunctionsOfOneNameAreEqual) {
  std::vector<Case> all = dense_channel_counts(1);
  add_cases(all, depthwise_channel_counts(1));
  add_cases(all, residual_convolutions(12));
  add_cases(all, depthwise_lines(90));
  add_cases(all, depthwise_integers(1));
  add_cases(all, pools(48));
  std::map<std::string, AssemblyFunction> known;
  for (const Case& each : all) {
    const std::unique_ptr<Program> program = compiled(each, helium().name, RequantizeMode::kAuto);
    ASSERT_NE(program, nullptr);
    for (const auto& step : program->steps) {
      for (const AssemblyFunction& function : step->assembly) {
        const auto [same, is_new] = known.emplace(function.name, function);
        if (is_new) continue;
        EXPECT_EQ(same->second.lines, function.lines) << function.name;
        EXPECT_EQ(same->second.fallback, function.fallback) << function.name;
        EXPECT_EQ(same->second.parameters(), function.parameters()) << function.name;
      }
    }
  }
  EXPECT_GT(known.size(), 50U);
}

}  // namespace
}  // namespace etch
