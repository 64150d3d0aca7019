// Code for Cortex-M55: convolutions of every shape that functions in assembly for Helium serve, or
// leave to others, compute what the references do, in the emulator and in the Native stage, which
// runs the portable functions that replace them. Skipped, with the packages that would help, where
// compiler or emulator is missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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

// Products and sums below the least normal number, which Helium's float instructions make 0 of.
Case subnormal_layers() {
  const auto tiny = [](const Shape& shape, float unit) {
    Tensor out(DType::kF32, shape);
    for (std::size_t i = 0; i < out.as<float>().size(); ++i)
      out.as<float>()[i] = static_cast<float>(static_cast<int>((i + 3) * 29 % 103) - 51) * unit;
    return out;
  };
  ModelBuilder model(17);
  model.input("x", DType::kF32, {2, 16}).input("i", DType::kF32, {1, 4, 6, 6});
  model.input("t", DType::kF32, {3, 8});
  model.initializer("w", tiny({16, 8}, 1e-21F)).initializer("c", tiny({8, 4, 3, 3}, 1e-21F));
  model.initializer("g", tiny({8}, 0.1F));
  model.node("MatMul", {"x", "w"}, {"m"}, {}).output("m");
  model.node("Conv", {"i", "c"}, {"v"}, {{"pads", Ints{1, 1, 1, 1}}}).output("v");
  model.node("LayerNormalization", {"t", "g"}, {"l"}, {}).output("l");
  return {"subnormal layers",
          model.bytes(),
          {tiny({2, 16}, 1e-20F), tiny({1, 4, 6, 6}, 1e-20F), tiny({3, 8}, 1e-39F)}};
}

// In one image, compiled as users do: where gcc makes vectors of sums.
void expect_optimized_agreement(const std::vector<Case>& all) {
  const std::string missing = cli::status_of(helium()).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  const Compiled compiled = compile_all(all, Objective::kBalanced);
  ASSERT_EQ(compiled.programs.size(), all.size());
  std::vector<BatchEntry> entries;
  for (std::size_t i = 0; i < all.size(); ++i)
    entries.push_back({compiled.programs[i].get(), &all[i].inputs});
  BatchOptions options;
  options.flags = {"-O2"};
  const auto outputs = run_generated(entries, helium(), options);
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(all[i])), "") << all[i].name;
}

TEST(Helium, SubnormalFloatsAreNumbers) { expect_optimized_agreement({subnormal_layers()}); }

// Numbers around `unit` and its negation.
Tensor numbers(const Shape& shape, float unit) {
  Tensor out(DType::kF32, shape);
  for (std::size_t i = 0; i < out.as<float>().size(); ++i)
    out.as<float>()[i] = static_cast<float>(static_cast<int>((i + 5) * 37 % 101) - 50) * unit;
  return out;
}

// Products of floats in tiles of every number of rows and columns, and convolutions. `unit` is that
// of x, `tiny` of some weights.
Case float_layers(const char* name_of_case, float unit, float tiny) {
  Case out{name_of_case, {}, {}};
  ModelBuilder model(17);
  model.opset("com.microsoft", 1);
  for (const std::int64_t rows : {1, 2, 5}) {
    const std::string x = cat("x", rows);
    model.input(x, DType::kF32, {rows, 19});
    out.inputs.push_back(numbers({rows, 19}, unit));
    for (const std::int64_t cols : {1, 4, 7, 8, 27}) {
      Tensor w = numbers({19, cols}, 0.25F);
      for (std::size_t i = 3; i < w.as<float>().size(); i += 29) w.as<float>()[i] *= tiny;
      const std::string name = cat(rows, "x", cols);
      model.initializer("w" + name, w);
      model.node("MatMul", {x, "w" + name}, {"y" + name}).output("y" + name);
    }
    Tensor packed(DType::kU8, {22, 2, 8}), scales = numbers({22, 2}, 0.25F * tiny);
    for (std::size_t i = 0; i < packed.mutable_bytes().size(); ++i)
      packed.mutable_bytes()[i] = static_cast<std::byte>(i * 71);
    const std::string name = cat("p", rows);
    model.initializer("b" + name, packed).initializer("s" + name, scales);
    model.node("MatMulNBits", {x, "b" + name, "s" + name}, {name},
               {{"K", std::int64_t{19}},
                {"N", std::int64_t{22}},
                {"bits", std::int64_t{4}},
                {"block_size", std::int64_t{16}}},
               "com.microsoft");
    model.output(name);
  }
  model.input("i", DType::kF32, {1, 6, 5, 7});
  out.inputs.push_back(numbers({1, 6, 5, 7}, unit));
  for (const std::int64_t group : {1, 6}) {
    const std::string name = cat("c", group);
    Tensor w = numbers({6, 6 / group, 3, 3}, 0.25F);
    for (std::size_t i = 3; i < w.as<float>().size(); i += 29) w.as<float>()[i] *= tiny;
    model.initializer("w" + name, w);
    model.node("Conv", {"i", "w" + name}, {"v" + name},
               {{"pads", Ints{1, 1, 1, 1}}, {"group", group}});
    model.node("Relu", {"v" + name}, {name}).output(name);
  }
  out.model = model.bytes();
  return out;
}

// Helium's vectors may compute these where no number is subnormal, and have to say so where one is.
TEST(Helium, FloatsInVectorsAgree) {
  expect_optimized_agreement(
      {float_layers("ordinary", 1, 1), float_layers("some results", 1e-36F, 1e-3F),
       float_layers("some weights", 0.5F, 1e-40F), float_layers("all of x", 1e-41F, 1)});
}

// Functions of rows of every length: of ordinary numbers, of some whose steps have subnormal
// results, of zeros of both signs and infinity.
Case rows_of_functions() {
  Case out{"rows of functions", {}, {}};
  ModelBuilder model(17);
  for (const std::int64_t n : {1, 3, 4, 7, 23}) {
    for (const float unit : {0.2F, 1e-19F, 1e-40F}) {
      const std::string name = cat("x", out.inputs.size());
      Tensor x = numbers({n}, unit);
      for (std::size_t k = 2; k < x.as<float>().size(); k += 5)
        x.as<float>()[k] = std::array{-0.0F, 70.0F, -70.0F, HUGE_VALF, -HUGE_VALF}[k % 23 / 5];
      model.input(name, DType::kF32, {n});
      out.inputs.push_back(x);
      model.node("Sigmoid", {name}, {"s" + name}).output("s" + name);
      model.node("Tanh", {name}, {"t" + name}).output("t" + name);
    }
  }
  out.model = model.bytes();
  return out;
}

TEST(Helium, FunctionsInVectorsAgree) { expect_optimized_agreement({rows_of_functions()}); }

// NaN among numbers, in what limits them; asked for where it comes out, as its bits are open.
Case not_a_number() {
  ModelBuilder model(17);
  model.input("i", DType::kF32, {1, 3, 4, 6}).input("r", DType::kF32, {11});
  model.initializer("w", numbers({8, 3, 3, 3}, 0.25F)).initializer("d", numbers({3, 1, 2, 2}, 1));
  model.initializer("low", f32({}, {0})).initializer("high", f32({}, {6}));
  model.node("Conv", {"i", "w"}, {"v"}, {}).node("Relu", {"v"}, {"relu"});
  model.node("Conv", {"i", "d"}, {"e"}, {{"group", std::int64_t{3}}});
  model.node("Clip", {"e", "low", "high"}, {"clip"});
  model.node("Sigmoid", {"r"}, {"sigmoid"}).node("Tanh", {"r"}, {"tanh"});
  for (const char* const name : {"relu", "clip", "sigmoid", "tanh"}) {
    const std::string is_nan = cat("of_", name);
    model.node("IsNaN", {name}, {is_nan}).output(is_nan);
  }
  Tensor i = numbers({1, 3, 4, 6}, 0.5F), r = numbers({11}, 0.5F);
  i.as<float>()[0] = i.as<float>()[40] = r.as<float>()[2] = r.as<float>()[9] = NAN;
  return {"not a number", model.bytes(), {i, r}};
}

TEST(Helium, LimitsKeepNaN) { expect_optimized_agreement({not_a_number()}); }

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
