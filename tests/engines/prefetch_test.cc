// Networks whose weights exceed a core's caches prefetch them, which changes no result.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/schedule/divide.h"
#include "compiler/schedule/memory.h"
#include "compiler/stage/audit.h"
#include "compiler/stage/recorder.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/model_builder.h"
#include "tests/support/padding_cases.h"

namespace etch {
namespace {

// Weights of 660 kB, in several blocks and a smaller one.
Case large_weights() { return small_map(6, 256, 288, 0); }

// A product with as many, whose zero point of x is known at run time.
Case large_dynamic_weights() {
  Dice dice(5);
  ModelBuilder model(13);
  model.input("x", DType::kU8, {36, 768}).input("x_zero", DType::kU8, {});
  model.initializer("w", random_bytes(dice, DType::kS8, {768, 864}));
  model.node("MatMulInteger", {"x", "w", "x_zero"}, {"y"}).output("y");
  return {"large_dynamic_weights",
          model.bytes(),
          {random_bytes(dice, DType::kU8, {36, 768}), random_bytes(dice, DType::kU8, {})}};
}

std::string text_of(const Program& program) {
  std::string out;
  for (const auto& step : program.steps) {
    Recorder recorder(*step);
    recorder.set_isa(program.isa);
    step->run(recorder);
    out += recorder.text();
  }
  return out;
}

bool prefetches(const Case& each, const char* target) {
  const auto program = compiled(each, target);
  return program != nullptr && text_of(*program).find("rt::prefetch(") != std::string::npos;
}

TEST(Prefetch, IsForWeightsBeyondTheCaches) {
  EXPECT_TRUE(prefetches(large_weights(), "avx512_vnni"));
  EXPECT_TRUE(prefetches(large_weights(), "avx2"));
  EXPECT_TRUE(prefetches(large_dynamic_weights(), "avx512_vnni"));
  EXPECT_FALSE(prefetches(small_map(6, 64, 64, 0), "avx512_vnni"));
  EXPECT_FALSE(prefetches(large_weights(), "scalar"));
}

TEST(Prefetch, IsSpreadOverAllTilesOfABlock) {
  const auto program = compiled(large_weights(), "avx512_vnni");
  ASSERT_NE(program, nullptr);
  for (const auto& step : program->steps) {
    if (step->kind != "conv") continue;
    const AuditResult result = audit(*step, program->isa, extents_of(*program, *step));
    EXPECT_TRUE(result.findings.empty());
    // At least most lines of the weights, and not more than one in two loads of weights.
    std::int64_t lines = 0;
    for (const ConstantArray& constant : step->constants) {
      if (constant.suffix == "weights")
        lines = static_cast<std::int64_t>(constant.bytes.size()) / 64;
    }
    EXPECT_GT(result.executions.at("prefetch"), lines * 3 / 4);
    EXPECT_LT(result.executions.at("prefetch"), result.executions.at("load_w4") / 2 + lines);
  }
}

// One pixel is one tile; 56 x 56 of them are more tiles than a panel of weights has lines.
TEST(Prefetch, IsSaidWhereTilesDo) {
  for (const Case& each :
       {large_weights(), small_map(1, 512, 2048, 0), small_map(56, 64, 1024, 0)}) {
    const auto program = compiled(each, "avx2");
    ASSERT_NE(program, nullptr);
    for (const auto& step : program->steps) {
      Recorder recorder(*step);
      recorder.set_isa(program->isa);
      step->run(recorder);
      const bool does = recorder.text().find("rt::prefetch(") != std::string::npos;
      EXPECT_EQ(step->schedule.find("prefetches") != std::string::npos, does) << step->schedule;
    }
  }
}

TEST(Prefetch, ChangesNoResult) {
  const std::vector<Case> cases{large_weights(), large_dynamic_weights()};
  expect_native_agrees(cases);
  expect_compiled_agrees(cases, "avx2");
  expect_compiled_agrees(cases, "avx512_vnni");
}

TEST(Prefetch, ChangesNoResultOnTwoThreads) {
  const IsaTraits& isa = *find_target("native");
  const Case each = large_weights();
  const auto program = compiled(each, isa.name);
  ASSERT_NE(program, nullptr);
  divide_work(*program, 2, 0);
  plan_memory(*program);
  const std::vector<BatchEntry> entries{{program.get(), &each.inputs}};
  const auto outputs = run_generated(entries, isa);
  ASSERT_TRUE(outputs);
  EXPECT_EQ(difference_of(outputs->front(), reference_outputs(each)), "");
}

TEST(Prefetch, HasCleanCode) {
  expect_clean_code({large_weights(), large_dynamic_weights()}, "avx512_vnni");
}

}  // namespace
}  // namespace etch
