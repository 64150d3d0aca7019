// Floats of Cortex-M55 and of 32-bit Arm with NEON, whose vectors take subnormal numbers for zero:
// code for these targets, in their emulators, computes what the references do, also where numbers
// are subnormal, infinite or none. Skipped, with the packages that would help, where compilers or
// emulators are missing.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/toolchain.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// Products and sums below the least normal number, which these vectors make 0 of.
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

// In one image for each target, compiled as users do: where gcc makes vectors of sums.
void expect_agreement_on(const IsaTraits& target, const std::vector<Case>& all,
                         const BatchOptions& options) {
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  for (const Case& each : all) {
    programs.push_back(compiled(each, target.name, RequantizeMode::kAuto));
    ASSERT_NE(programs.back(), nullptr) << each.name;
    entries.push_back({programs.back().get(), &each.inputs});
  }
  const auto outputs = run_generated(entries, target, options);
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(all[i])), "")
        << target.name << ": " << all[i].name;
}

void expect_agreement(const std::vector<Case>& all) {
  BatchOptions options;
  options.flags = {"-O2"};
  std::string all_missing;
  // Targets: those whose vectors are checked.
  for (const char* const name : {"cortex-m55", "armv7-neon"}) {
    const IsaTraits& target = *find_target(name);
    const std::string missing = cli::status_of(target).missing;
    if (missing.empty()) expect_agreement_on(target, all, options);
    all_missing += missing;
  }
  if (!all_missing.empty()) GTEST_SKIP() << all_missing;
}

TEST(CheckedVectors, SubnormalFloatsAreNumbers) { expect_agreement({subnormal_layers()}); }

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

// Vectors may compute these where no number is subnormal, and have to say so where one is.
TEST(CheckedVectors, FloatsInVectorsAgree) {
  expect_agreement({float_layers("ordinary", 1, 1), float_layers("some results", 1e-36F, 1e-3F),
                    float_layers("some weights", 0.5F, 1e-40F),
                    float_layers("all of x", 1e-41F, 1)});
}

// Functions of rows of every length: of ordinary numbers, of some whose steps have subnormal
// results, of zeros of both signs, limits and infinity.
Case rows_of_functions() {
  Case out{"rows of functions", {}, {}};
  ModelBuilder model(20);
  for (const std::int64_t n : {1, 3, 4, 7, 23, 40}) {
    for (const float unit : {0.2F, 0.0625F, 1e-19F, 1e-40F}) {
      const std::string name = cat("x", out.inputs.size());
      Tensor x = numbers({n}, unit);
      for (std::size_t k = 2; k < x.as<float>().size(); k += 5)
        x.as<float>()[k] =
            std::array{-0.0F, 70.0F, -70.0F, HUGE_VALF, -HUGE_VALF, -95.0F, 88.5F, 9.0F}[k / 5];
      model.input(name, DType::kF32, {n}).input("f" + name, DType::kF32, {n});
      out.inputs.push_back(x);
      out.inputs.push_back(numbers({n}, unit));  // finite: the sign of 0 * infinity, NaN, is open
      model.node("Gelu", {"f" + name}, {"g" + name}).output("g" + name);
      model.node("HardSwish", {"f" + name}, {"h" + name}).output("h" + name);
      for (const char* const function :
           {"Sigmoid", "Tanh", "Exp", "Erf", "Log", "Softplus", "HardSigmoid"}) {
        const std::string result = cat(function, name);
        model.node(function, {name}, {result}).output(result);
      }
    }
  }
  out.model = model.bytes();
  return out;
}

// Of these e^x is wrong where NEON's steps are taken for exact that are not: of the first the whole
// part of x / ln 2 is next to a tie, of the second a step of the polynomial is. Each is in a vector
// of its own, as one such lane is enough.
TEST(CheckedVectors, UncertainStepsAreTakenAgain) {
  Tensor x = f32({8}, {0x1.28aacp+5F, 1, 2, -3, -0x1.3301fcp+6F, 0.3F, -1, 7});
  ModelBuilder model(17);
  model.input("x", DType::kF32, {8}).node("Exp", {"x"}, {"y"}).output("y");
  expect_agreement({{"uncertain steps", model.bytes(), {x}}});
}

// Rows that are summed: of ordinary numbers, of some that are subnormal, of zeros. The second
// Softmax has elements of which e^x is subnormal and 0.
Case sums_of_rows() {
  Case out{"sums of rows", {}, {}};
  ModelBuilder model(17);
  for (const std::int64_t n : {1, 7, 16, 37}) {
    for (const float unit : {0.2F, 4.0F, 1e-40F, 0.0F}) {
      const std::string name = cat("x", out.inputs.size());
      out.inputs.push_back(numbers({3, n}, unit));
      model.input(name, DType::kF32, {3, n});
      model.initializer("g" + name, numbers({n}, 0.1F));
      model.initializer("b" + name, numbers({n}, 0.3F));
      for (const char* const function : {"Softmax", "LogSoftmax"})
        model.node(function, {name}, {function + name}).output(function + name);
      model.node("LayerNormalization", {name, "g" + name, "b" + name}, {"n" + name})
          .output("n" + name);
      model.node("ReduceMean", {name}, {"m" + name}, {{"axes", Ints{1}}}).output("m" + name);
    }
  }
  out.model = model.bytes();
  return out;
}

TEST(CheckedVectors, FunctionsInVectorsAgree) { expect_agreement({rows_of_functions()}); }

// With VFPv4 a fused step is an instruction, which the build has to allow.
TEST(CheckedVectors, OfCpusWithFusedStepsAgree) {
  const IsaTraits& target = *find_target("armv7-neon");
  const std::string missing = cli::status_of(target).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  BatchOptions options;
  options.flags = {"-O2", "-mcpu=cortex-a7", "-mfpu=neon-vfpv4"};
  options.emulator_arguments = {"-cpu", "cortex-a15"};
  expect_agreement_on(target, {rows_of_functions(), sums_of_rows()}, options);
}

TEST(CheckedVectors, SumsOfRowsAgree) { expect_agreement({sums_of_rows()}); }

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

TEST(CheckedVectors, LimitsKeepNaN) { expect_agreement({not_a_number()}); }

}  // namespace
}  // namespace etch
