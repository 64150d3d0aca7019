// Scales from the least subnormal to the greatest float give the same bytes everywhere: the
// references, the Native stage (which ends the process where a float is converted that does not fit
// int32) with the plans of every kind of target, and compiled code. With ETCH_SWEEP=1 many more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/scale_cases.h"
#include "tests/support/targets.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

bool sweeping() { return std::getenv("ETCH_SWEEP") != nullptr; }

// Null where the model is refused, which takes an error.
std::unique_ptr<Program> program_of(const Case& each, std::string_view target,
                                    RequantizeMode requantize) {
  Sink sink;
  CompileOptions options;
  options.target = std::string(target);
  options.requantize = requantize;
  std::unique_ptr<Program> program = compile(each.model, options, sink);
  EXPECT_NE(program != nullptr, sink.has_errors()) << each.name;
  return program;
}

std::vector<Case> accepted(Case (*make)(int), int first, int count) {
  std::vector<Case> out;
  for (int i = first; i < first + count; ++i) {
    Case each = make(i);
    if (program_of(each, "scalar", RequantizeMode::kFloat) != nullptr)
      out.push_back(std::move(each));
  }
  return out;
}

TEST(ExtremeScales, NeverReachAConversionThatTheyDoNotFit) {
  const int count = sweeping() ? 20000 : 360;
  const std::vector<Case> all = accepted(extreme_scales, 0, count);
  EXPECT_GT(2 * static_cast<int>(all.size()), count);  // most models have a meaning
  expect_native_agrees(all);
  std::printf("%zu of %d models have a meaning\n", all.size(), count);
}

TEST(ExtremeScales, AgreeWithoutFloatsToo) {
  expect_native_agrees(accepted(extreme_scales, 50'000, sweeping() ? 4000 : 96),
                       RequantizeMode::kInteger);
}

// Whatever becomes of the groups, all targets do the same.
std::vector<Tensor> scalar_outputs(const Case& each) {
  return native_outputs(*compiled(each, "scalar"), each.inputs);
}

TEST(ExtremeScales, OfFloatGroupsGiveOneResult) {
  for (const Case& each : accepted(extreme_float_groups, 0, sweeping() ? 6000 : 80)) {
    const std::vector<Tensor> expected = scalar_outputs(each);
    for (const IsaTraits* const isa : plans()) {
      const auto program = compiled(each, isa->name);
      EXPECT_EQ(difference_of(native_outputs(*program, each.inputs), expected), "")
          << each.name << " on " << isa->name;
    }
  }
}

TEST(ExtremeScales, AreExactOnBothSidesOfInt32) { expect_native_agrees(scales_around_int32()); }

class CompiledExtremeScales : public testing::TestWithParam<std::string> {};

TEST_P(CompiledExtremeScales, GiveTheSameBytes) {
  const int times = sweeping() ? 6 : 1;
  std::vector<Case> all = scales_around_int32();
  add_cases(all, accepted(extreme_scales, 100'000, times * extreme_scale_kinds()));
  std::vector<std::vector<Tensor>> expected;
  expected.reserve(all.size());
  for (const Case& each : all) expected.push_back(reference_outputs(each));
  for (Case& each : accepted(extreme_float_groups, 100'000, times * 4)) {
    expected.push_back(scalar_outputs(each));
    all.push_back(std::move(each));
  }
  expect_compiled_gives(all, expected, GetParam());
}

// One for each way of converting; with ETCH_SWEEP all that have the memory for so many networks.
std::vector<std::string> compiled_targets() {
  // Targets: each converts floats to integers in its own way.
  std::vector<std::string> out = {"scalar",    "sse41",   "avx2",       "avx512_vnni",   "aarch64",
                                  "cortex-m4", "riscv64", "armv7-neon", "wasm32-simd128"};
  if (!sweeping()) return out;
  for (const ::etch::CrossTarget& target : cross_targets()) {
    const std::string name(target.isa->name);
    const bool small = target.machine->kind == Machine::Kind::kFirmware &&
                       target.machine->rom.bytes < (std::uint64_t{1} << 20);
    if (!small && std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Targets, CompiledExtremeScales, testing::ValuesIn(compiled_targets()),
                         [](const auto& each) { return folder_of_target(each.param); });

// ---- what the results are ----

Case sum_of(float x_scale, float y_scale, const std::string& domain) {
  ModelBuilder model(13);
  model.opset("com.microsoft", 1);
  model.input("a", DType::kU8, {5}).input("b", DType::kU8, {5});
  model.initializer("x", f32({}, {x_scale})).initializer("y", f32({}, {y_scale}));
  model.initializer("middle", u8({}, {128})).initializer("zero", u8({}, {10}));
  if (domain.empty()) {
    model.node("DequantizeLinear", {"a", "x", "middle"}, {"af"});
    model.node("DequantizeLinear", {"b", "x", "middle"}, {"bf"});
    model.node("Add", {"af", "bf"}, {"cf"});
    model.node("QuantizeLinear", {"cf", "y", "zero"}, {"c"});
  } else {
    model.node("QLinearAdd", {"a", "x", "middle", "b", "x", "middle", "y", "zero"}, {"c"}, {},
               domain);
  }
  return {cat(domain, " ", decimal(x_scale), " / ", decimal(y_scale)),
          model.output("c").bytes(),
          {u8({5}, {0, 255, 129, 127, 128}), u8({5}, {0, 255, 128, 128, 255})}};
}

TEST(ExtremeScales, SumsSaturateOnTheSideWhereTheyLie) {
  for (const float y_scale : {1e-4F, 1e-6F, 1e-20F, 1e-30F}) {
    for (const char* domain : {"", "com.microsoft"}) {
      const Case each = sum_of(100, y_scale, domain);
      EXPECT_EQ(reference_outputs(each).at(0), u8({5}, {0, 255, 255, 0, 255})) << each.name;
      expect_native_agrees({each});
    }
  }
}

// All taps count in the bound of an average.
TEST(ExtremeScales, AveragesOfTheGreatestByteSaturate) {
  const float limit = 2147483648.0F / 255;
  for (const float scale : {0.9F * limit, 1.5F * limit, 1e36F}) {
    ModelBuilder model(13);
    model.opset("com.microsoft", 1).input("x", DType::kU8, {1, 1, 3, 3});
    model.initializer("scale", f32({}, {scale})).initializer("one", f32({}, {1}));
    model.initializer("zero", u8({}, {0}));
    model.node("QLinearAveragePool", {"x", "scale", "zero", "one", "zero"}, {"y"},
               {{"kernel_shape", Ints{2, 2}}}, "com.microsoft");
    const Case each{decimal(scale),
                    model.output("y").bytes(),
                    {u8({1, 1, 3, 3}, std::vector<std::uint8_t>(9, 255))}};
    EXPECT_EQ(reference_outputs(each).at(0), u8({1, 1, 2, 2}, {255, 255, 255, 255}));
    expect_native_agrees({each});
  }
}

TEST(ExtremeScales, SumsThatLeaveFloat32AreRefusedOrStayFloat) {
  Sink sink;
  CompileOptions options;
  options.target = "avx2";
  EXPECT_EQ(compile(sum_of(1e10F, 1e-27F, "com.microsoft").model, options, sink), nullptr);
  EXPECT_NE(errors_of(sink).find("sums of two elements, in steps of the output, must be finite"),
            std::string::npos)
      << errors_of(sink);
  const Case floats = sum_of(1e10F, 1e-27F, "");
  EXPECT_EQ(reference_outputs(floats).at(0), u8({5}, {0, 255, 255, 0, 255}));
  expect_native_agrees({floats});
}

// Ordinary scales need no clamp, and their code has none.
TEST(ExtremeScales, OnlyTheirCodeClamps) {
  const auto clamps = [](const Case& each) {
    const std::unique_ptr<Program> program = compiled(each, "avx2");
    for (const auto& step : program->steps) {
      for (const std::string& fact : step->facts) {
        if (fact.find("may leave int32: clamped") != std::string::npos) return true;
      }
    }
    return false;
  };
  EXPECT_FALSE(clamps(sum_of(100, 1e-3F, "com.microsoft")));
  EXPECT_FALSE(clamps(sum_of(8e6F, 1, "com.microsoft")));
  EXPECT_TRUE(clamps(sum_of(1.7e7F, 1, "com.microsoft")));
  EXPECT_TRUE(clamps(sum_of(100, 1e-6F, "com.microsoft")));
}

}  // namespace
}  // namespace etch
