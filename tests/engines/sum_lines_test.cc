// QLinearAdd where the verb of a fused step computes lane by lane: rows of two inputs are a line in
// integers (compiler/program/requantize/sum_line.h), what is broadcast stays in vectors of floats,
// and compiled code agrees with the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
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

// Every pair of bytes; b as long as a, or one for all.
Case sum_case(const char* name, float b_scale, float scale, bool is_broadcast = false) {
  const std::int64_t rows = is_broadcast ? 1 : 256;
  Tensor a(DType::kU8, {256, 256}), b(DType::kU8, {rows, is_broadcast ? 1 : 256});
  for (std::size_t i = 0; i < a.as<std::uint8_t>().size(); ++i)
    a.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i / 256);
  for (std::size_t i = 0; i < b.as<std::uint8_t>().size(); ++i)
    b.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i % 256 + (is_broadcast ? 77 : 0));
  ModelBuilder model(17);
  model.opset("com.microsoft", 1);
  model.input("a", DType::kU8, {256, 256});
  model.input("b", DType::kU8, {rows, is_broadcast ? 1 : 256});
  model.initializer("a_scale", f32({}, {0.05F})).initializer("zero", u8({}, {128}));
  model.initializer("b_scale", f32({}, {b_scale})).initializer("scale", f32({}, {scale}));
  model.node("QLinearAdd", {"a", "a_scale", "zero", "b", "b_scale", "zero", "scale", "zero"}, {"y"},
             {}, "com.microsoft");
  model.output("y");
  return {name, model.bytes(), {a, b}};
}

bool has_line(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(), [](const auto& step) {
    return std::any_of(step->facts.begin(), step->facts.end(), [](const std::string& fact) {
      return fact.find("line in integers") != std::string::npos;
    });
  });
}

bool takes_line(const Case& each, const char* target) {
  const std::unique_ptr<Program> program = compiled(each, target, RequantizeMode::kAuto);
  return program != nullptr && has_line(*program);
}

TEST(SumLines, OfRowsAreTakenWhereFusedStepsAreLaneByLane) {
  EXPECT_TRUE(takes_line(sum_case("rows", 0.05F, 0.09F), "armv7-neon"));
  EXPECT_FALSE(takes_line(sum_case("one", 0.05F, 0.09F, true), "armv7-neon"));
  EXPECT_FALSE(takes_line(sum_case("rows", 0.05F, 0.09F), "aarch64"));
}

TEST(SumLines, AgreeForAllPairsOfBytes) {
  const IsaTraits& target = *find_target("armv7-neon");
  const std::string missing = cli::status_of(target).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  // Of the forms of a line: rounded down, and with ties to even.
  const std::vector<Case> all{sum_case("narrow", 0.05F, 0.09F), sum_case("to even", 0.05F, 0.1F),
                              sum_case("one for all", 0.05F, 0.09F, true)};
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  for (const Case& each : all) {
    programs.push_back(compiled(each, target.name, RequantizeMode::kAuto));
    ASSERT_NE(programs.back(), nullptr) << each.name;
    entries.push_back({programs.back().get(), &each.inputs});
  }
  const auto outputs = run_generated(entries, target);
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(all[i])), "") << all[i].name;
}

}  // namespace
}  // namespace etch
