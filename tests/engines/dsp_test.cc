// Code for Cortex-M4, M7 and M33: convolutions whose weights are not int8 but of 8 bits' range
// (uint8 with a zero point, as tf2onnx and ONNX Runtime write them), or whose zero point of x is
// known at run time, run in the same functions in assembly as others, and so do pools, in the
// emulator and in the Native stage. Skipped, with the packages that would help, where compiler or
// emulator is missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/toolchain.h"
#include "compiler/kernels/conv/dsp/conv.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/channel_cases.h"
#include "tests/support/engines.h"
#include "tests/support/expression_cases.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/part.h"
#include "tests/support/residual_cases.h"

namespace etch {
namespace {

bool moves_weights(const Program& program) {
  return std::ranges::any_of(program.steps, [](const auto& step) {
    const auto* const conv = dynamic_cast<const DspConvStep*>(step.get());
    return conv != nullptr && conv->plan.moved != 0;
  });
}

// Of a zero point that is known at run time.
bool adds_starts(const Program& program) {
  return std::ranges::any_of(program.steps,
                             [](const auto& step) { return step->kind == "started"; });
}

// In the emulator, four networks to an image.
void expect_outputs(const std::vector<std::unique_ptr<Program>>& programs,
                    const std::vector<Case>& all, const IsaTraits& isa) {
  constexpr std::size_t kTogether = 4;
  for (const std::vector<std::size_t>& chosen : images_of_part(all, kTogether)) {
    std::vector<BatchEntry> entries;
    for (const std::size_t i : chosen) entries.push_back({programs[i].get(), &all[i].inputs});
    const auto outputs = run_generated(entries, isa);
    ASSERT_TRUE(outputs);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const Case& each = all[chosen[i]];
      EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(each)), "") << each.name;
    }
  }
}

// Expects that the Native stage agrees with the reference.
std::vector<std::unique_ptr<Program>> compile_all(const std::vector<Case>& all,
                                                  const IsaTraits& isa,
                                                  Objective objective = Objective::kBalanced) {
  CompileOptions options;
  options.target = isa.name;
  options.objective = objective;
  std::vector<std::unique_ptr<Program>> programs;
  for (const Case& each : all) {
    programs.push_back(compiled(each, options));
    EXPECT_NE(programs.back(), nullptr) << each.name;
    if (programs.back() == nullptr) return {};
    EXPECT_EQ(difference_of(native_outputs(*programs.back(), each.inputs), reference_outputs(each)),
              "")
        << each.name;
  }
  return programs;
}

TEST(DspConvolutions, UnsignedWeightsAndZeroPointsAtRunTimeAgree) {
  const IsaTraits& isa = *find_target("cortex-m4");
  std::vector<Case> all = nearly_narrow_convolutions(8);
  add_cases(all, larger_convolutions(12));
  add_cases(all, residual_convolutions(12));
  add_cases(all, dynamic_blocks(16));
  const std::vector<std::unique_ptr<Program>> programs = compile_all(all, isa);
  int moved = 0, started = 0;
  for (const auto& program : programs) {
    moved += moves_weights(*program) ? 1 : 0;
    started += adds_starts(*program) ? 1 : 0;
  }
  EXPECT_GE(moved, 8);
  EXPECT_GE(started, 2);
  const std::string missing = cli::status_of(isa).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  expect_outputs(programs, all, isa);
}

// A pixel with padding around it, of a row-major tensor: its channels follow each other, and the
// stride from it to the next, which is not there, is 1.
std::vector<Case> convolutions_of_one_pixel() {
  std::vector<Case> out;
  for (const std::int64_t channels : {1, 2, 3, 4, 8, 17}) {
    for (const std::int64_t group : {std::int64_t{1}, channels}) {
      for (const std::size_t rank : {1U, 2U}) {
        Dice dice(static_cast<std::uint64_t>(std::ssize(out)) + 32'000'000);
        const Ints kernel(rank, 3);
        Shape w_shape = {group == 1 ? 4 : channels, channels / group};
        w_shape.insert(w_shape.end(), kernel.begin(), kernel.end());
        Shape shape = {1, channels};
        shape.resize(rank + 2, 1);
        ModelBuilder model(13);
        model.input("x", DType::kU8, {shape.begin(), shape.end()});
        model.initializer("one", Tensor::of<std::int64_t>({1}, {1}));
        model.initializer("scale", Tensor::of<float>({}, {0.0625F}));
        model.initializer("zero", Tensor::of<std::uint8_t>({}, {100}));
        model.initializer("w", random_bytes(dice, DType::kS8, w_shape, -127, 127));
        model.initializer("w_zero", Tensor::of<std::int8_t>({}, {0}));
        model.node("Expand", {"x", "one"}, {"e"});
        model.node("QLinearConv", {"e", "scale", "zero", "w", "scale", "w_zero", "scale", "zero"},
                   {"y"}, {{"pads", Ints(2 * rank, 1)}, {"group", group}});
        model.output("y");
        out.push_back({cat("pixel_", channels, "_", group, "_", rank),
                       model.bytes(),
                       {random_bytes(dice, DType::kU8, shape)}});
      }
    }
  }
  return out;
}

TEST(DspConvolutions, OnePixelBetweenPaddingAgrees) {
  const std::vector<Case> all = convolutions_of_one_pixel();
  // Targets: one of each kind of assembly for convolutions.
  for (const char* const name : {"cortex-m0", "cortex-m3", "cortex-m33"})
    EXPECT_EQ(compile_all(all, *find_target(name)).size(), all.size());
  const IsaTraits& isa = *find_target("cortex-m4");
  const std::vector<std::unique_ptr<Program>> programs = compile_all(all, isa);
  ASSERT_EQ(programs.size(), all.size());
  const std::string missing = cli::status_of(isa).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  expect_outputs(programs, all, isa);
}

// Products of int8 weights without -128, in each form of result, of tiles and of single pixels.
std::vector<Case> joint_convolutions(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 31'000'000);
    const std::int64_t in = dice.between(4, 40), channels = dice.between(1, 9);
    const std::int64_t kernel = dice.between(1, 3), size = index % 4 == 3 ? kernel : kernel + 4;
    const bool integer = index % 2 == 1;
    ModelBuilder model(13);
    model.input("x", DType::kU8, {1, in, size, size});
    model.initializer(
        "x_zero", Tensor::of<std::uint8_t>({}, {static_cast<std::uint8_t>(dice.between(0, 255))}));
    model.initializer("w",
                      random_bytes(dice, DType::kS8, {channels, in, kernel, kernel}, -127, 127));
    if (integer) {
      model.node("ConvInteger", {"x", "w", "x_zero"}, {"y"}, {}).output("y");
    } else {
      model.initializer("x_scale", Tensor::of<float>({}, {0.0625F}));
      model.initializer("w_scale", Tensor::of<float>({}, {0.01F}));
      model.initializer("w_zero", Tensor::of<std::int8_t>({}, {0}));
      model.node("QLinearConv",
                 {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "x_scale", "x_zero"}, {"y"},
                 {});
      model.output("y");
    }
    out.push_back({cat("joint_", index),
                   model.bytes(),
                   {random_bytes(dice, DType::kU8, {1, in, size, size})}});
  }
  return out;
}

// Weights of two channels in halfwords: floats, integers and sums as they are; tiles and rows.
TEST(DspConvolutions, JointWeightsOfTwoChannelsAgree) {
  const std::vector<Case> all = joint_convolutions(16);
  // Targets: those whose rounding differs, and the one with tiles of its own.
  for (const char* const name : {"cortex-m4", "cortex-m4-nofp", "cortex-m7"}) {
    const IsaTraits& isa = *find_target(name);
    const std::vector<std::unique_ptr<Program>> programs = compile_all(all, isa);
    std::ptrdiff_t joint = 0;
    for (const auto& program : programs) {
      for (const auto& step : program->steps)
        joint += std::ranges::count_if(step->assembly, [](const AssemblyFunction& function) {
          return function.name.find("_joint_") != std::string::npos;
        });
    }
    EXPECT_GE(joint, 12) << name;
    const std::string missing = cli::status_of(isa).missing;
    if (!missing.empty()) GTEST_SKIP() << missing;
    expect_outputs(programs, all, isa);
  }
}

// How many functions of all have a name that begins and ends so.
std::ptrdiff_t functions_named(const std::vector<std::unique_ptr<Program>>& programs,
                               std::string_view begin, std::string_view end) {
  std::ptrdiff_t count = 0;
  for (const auto& program : programs) {
    for (const auto& step : program->steps)
      count += std::ranges::count_if(step->assembly, [&](const AssemblyFunction& function) {
        return function.name.starts_with(begin) && function.name.ends_with(end);
      });
  }
  return count;
}

// Kernels as large as the image: one pixel. Few channels, and more of them; weights of int8, and of
// uint8 with a zero point.
std::vector<Case> convolutions_to_one_pixel() {
  std::vector<Case> out;
  for (const std::int64_t channels : {1, 4, 9, 12, 13}) {
    for (const std::int64_t in : {1, 6, 40}) {
      const std::int64_t size = in == 40 ? 1 : 3;
      for (const bool is_unsigned : {false, true}) {
        Dice dice(static_cast<std::uint64_t>(std::ssize(out)) + 33'000'000);
        const DType type = is_unsigned ? DType::kU8 : DType::kS8;
        const int low = is_unsigned ? 0 : -127, high = is_unsigned ? 255 : 127;
        ModelBuilder model(13);
        model.input("x", DType::kU8, {1, in, size, size});
        model.initializer("scale", Tensor::of<float>({}, {0.0625F}));
        model.initializer("zero", Tensor::of<std::uint8_t>({}, {100}));
        model.initializer("w", random_bytes(dice, type, {channels, in, size, size}, low, high));
        model.initializer("w_zero", is_unsigned ? Tensor::of<std::uint8_t>({}, {130})
                                                : Tensor::of<std::int8_t>({}, {0}));
        model.node("QLinearConv", {"x", "scale", "zero", "w", "scale", "w_zero", "scale", "zero"},
                   {"y"}, {});
        model.output("y");
        out.push_back({cat("to_one_pixel_", channels, "_", in, is_unsigned ? "_u8" : "_s8"),
                       model.bytes(),
                       {random_bytes(dice, DType::kU8, {1, in, size, size})}});
      }
    }
  }
  out.resize(out.size() / 4 * 4);
  return out;
}

// Up to twelve channels read the bytes of x; more have them widened once.
TEST(DspConvolutions, RowsOfFewChannelsReadBytes) {
  const std::vector<Case> all = convolutions_to_one_pixel();
  // Targets: those whose rounding differs.
  for (const char* const name : {"cortex-m4", "cortex-m4-nofp"}) {
    const IsaTraits& isa = *find_target(name);
    const auto programs = compile_all(all, isa);
    EXPECT_EQ(functions_named(programs, "dsp_row", "_bytes"), 24) << name;
    EXPECT_EQ(functions_named(programs, "dsp_gather", ""), 4) << name;
    const std::string missing = cli::status_of(isa).missing;
    if (!missing.empty()) GTEST_SKIP() << missing;
    expect_outputs(programs, all, isa);
  }
}

// Loops of little code, depthwise weights as bytes where these hold them, rows copied in a loop.
TEST(DspConvolutions, CodeForSizeAgrees) {
  const IsaTraits& isa = *find_target("cortex-m4");
  std::vector<Case> all = joint_convolutions(8);
  add_cases(all, larger_convolutions(8));
  const std::vector<Case> depthwise = depthwise_channel_counts(1);
  for (std::size_t i = 0; i < depthwise.size(); i += 2) all.push_back(depthwise[i]);
  add_cases(all, depthwise_lines(4));
  all.resize(all.size() / 4 * 4);
  const auto programs = compile_all(all, isa, Objective::kSize);
  EXPECT_GE(functions_named(programs, "dsp_tile", "_compact"), 10);
  EXPECT_GE(functions_named(programs, "dsp_row", "_compact"), 2);
  EXPECT_GE(functions_named(programs, "dsp_depthwise", "_compact"), 1);
  EXPECT_GE(functions_named(programs, "dsp_depthwise", "_compact_bytes"), 1);
  const std::string missing = cli::status_of(isa).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  expect_outputs(programs, all, isa);
}

// Cortex-M7 has tiles of its own where four pixels are computed together.
TEST(DspConvolutions, LoadsThatAlternateWithProductsAgree) {
  const IsaTraits& isa = *find_target("cortex-m7");
  std::vector<Case> all = dense_channel_counts(1);
  add_cases(all, nearly_narrow_convolutions(4));
  add_cases(all, larger_convolutions(8));
  add_cases(all, residual_convolutions(8));
  add_cases(all, dynamic_blocks(8));
  const std::vector<std::unique_ptr<Program>> programs = compile_all(all, isa);
  EXPECT_GE(functions_named(programs, "dsp_tile_4x2", "_two"), 20);
  const std::string missing = cli::status_of(isa).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  expect_outputs(programs, all, isa);
}

// Maxima of words of four channels; the last word goes over some channels again.
TEST(DspPools, MaximaOfWordsAgree) {
  const IsaTraits& isa = *find_target("cortex-m4");
  const std::vector<Case> all = pools(32);
  const std::vector<std::unique_ptr<Program>> programs = compile_all(all, isa);
  int in_assembly = 0;
  for (const auto& program : programs) {
    for (const auto& step : program->steps)
      in_assembly += step->kind == "maxpool" && !step->assembly.empty() ? 1 : 0;
  }
  EXPECT_GE(in_assembly, 10);
  const std::string missing = cli::status_of(isa).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  expect_outputs(programs, all, isa);
}

}  // namespace
}  // namespace etch
