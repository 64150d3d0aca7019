// Convolutions by Winograd, which code for speed has on Cortex-M cores with SIMD: the bytes of the
// references, for every border, odd size, type and form of requantization; and the choice of it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/host/network.h"
#include "compiler/host/toolchain.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/residual_cases.h"

namespace etch {
namespace {

Case conv_3x3(int index) {
  Dice dice(static_cast<std::uint64_t>(index) + 9100);
  ConvShape shape;
  shape.batch = dice.one_in(4) ? 2 : 1;
  shape.in_per_group = dice.one_in(5) ? dice.between(2, 34) : 4 * dice.between(1, 9);
  shape.out_per_group = dice.one_in(5) ? dice.between(1, 34) : 2 * dice.between(1, 17);
  shape.kernel = {3, 3};
  shape.stride = {1, 1};
  shape.dilation = {1, 1};
  for (int axis = 0; axis < 2; ++axis) {
    shape.pad_begin.push_back(dice.between(0, 2));
    shape.pad_end.push_back(dice.between(0, 2));
    shape.in.push_back(dice.between(3, axis == 0 ? 9 : 19));
  }
  const auto scaling = dice.pick<Scaling>({Scaling::kTypical, Scaling::kTypical, Scaling::kTies,
                                           Scaling::kSaturating, Scaling::kHuge, Scaling::kTiny});
  return conv_case(shape, scaling, cat("winograd_", index), dice);
}

std::vector<Case> convolutions(int count) {
  std::vector<Case> out;
  out.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) out.push_back(conv_3x3(i));
  return out;
}

std::unique_ptr<Program> compiled_for(const Case& each, Objective objective,
                                      RequantizeMode requantize = RequantizeMode::kFloat) {
  CompileOptions options;
  options.target = "cortex-m4";
  options.objective = objective;
  options.requantize = requantize;
  Sink sink;
  auto program = compile(each.model, options, sink);
  EXPECT_NE(program, nullptr) << each.name;
  return program;
}

int winograd_steps(const Program& program) {
  int count = 0;
  for (const auto& step : program.steps)
    count += step->schedule.find("Winograd") != std::string::npos;
  return count;
}

// How many steps of all were by Winograd.
int expect_agreement(const std::vector<Case>& cases, RequantizeMode requantize) {
  int found = 0;
  for (const Case& each : cases) {
    const auto program = compiled_for(each, Objective::kSpeed, requantize);
    if (program == nullptr) continue;
    found += winograd_steps(*program);
    EXPECT_EQ(difference_of(native_outputs(*program, each.inputs), reference_outputs(each)), "")
        << each.name;
  }
  return found;
}

TEST(Winograd, AgreesNatively) {
  EXPECT_GT(expect_agreement(convolutions(120), RequantizeMode::kFloat), 40);
}

TEST(Winograd, AgreesNativelyWithIntegers) {
  EXPECT_GT(expect_agreement(convolutions(60), RequantizeMode::kInteger), 8);
}

TEST(Winograd, AgreesWithResiduals) {
  EXPECT_GT(expect_agreement(residual_convolutions(300), RequantizeMode::kFloat), 8);
}

TEST(Winograd, IsForSpeedOnly) {
  for (const Case& each : convolutions(12)) {
    for (const Objective objective : {Objective::kBalanced, Objective::kSize, Objective::kRam})
      EXPECT_EQ(winograd_steps(*compiled_for(each, objective)), 0) << each.name;
  }
}

// The instructions, in the emulator. With ETCH_SWEEP, more of them.
void expect_emulated(const std::vector<Case>& cases, RequantizeMode requantize, int most) {
  const std::string missing = cli::status_of(*find_target("cortex-m4")).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  cli::Reporter reporter(cli::Verbosity::kQuiet);
  if (std::getenv("ETCH_SWEEP") != nullptr) most *= 6;
  for (const Case& each : cases) {
    auto program = compiled_for(each, Objective::kSpeed, requantize);
    if (program == nullptr || winograd_steps(*program) == 0) continue;
    if (most-- == 0) break;
    const auto network = cli::Network::build(std::move(program), cli::Timing::kNone, {}, reporter);
    ASSERT_NE(network, nullptr) << each.name;
    network->limit_time(120);
    const auto outputs = network->run({each.inputs}, reporter);
    ASSERT_TRUE(outputs) << each.name;
    EXPECT_EQ(difference_of(outputs->front(), reference_outputs(each)), "") << each.name;
  }
  EXPECT_LE(most, 0);
}

TEST(Winograd, AgreesInTheEmulator) {
  expect_emulated(convolutions(60), RequantizeMode::kFloat, 3);
}

TEST(Winograd, AgreesInTheEmulatorWithIntegers) {
  expect_emulated(convolutions(60), RequantizeMode::kInteger, 1);
}

TEST(Winograd, AgreesInTheEmulatorWithResiduals) {
  expect_emulated(residual_convolutions(300), RequantizeMode::kFloat, 2);
}

}  // namespace
}  // namespace etch
