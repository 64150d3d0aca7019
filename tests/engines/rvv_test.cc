// Code for RISC-V with vectors gives the same bytes whatever VLEN is: built for any CPU, on CPUs of
// 256 and 512 bits (the suite of all cross targets has 128), and built for 256 bits and more, where
// compilers take fewer registers for a vector. Skipped, with the packages that would help, where
// compiler or emulator is missing.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/toolchain.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/channel_cases.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/part.h"
#include "tests/support/residual_cases.h"
#include "tests/support/row_cases.h"

namespace etch {
namespace {

const IsaTraits& rvv() { return *find_target("riscv64-rvv"); }

// Tiles, depthwise rows and their rests, sums, pools and other rows of bytes.
std::vector<Case> all_cases() {
  std::vector<Case> all = small_plane_convolutions(600);
  add_cases(all, larger_convolutions(2));
  add_cases(all, residual_convolutions(2));
  add_cases(all, small_networks(1));
  add_cases(all, other_operators(1));
  return all;
}

class VectorLength : public testing::Test {
 protected:
  void SetUp() override {
    const std::string missing = cli::status_of(rvv()).missing;
    if (!missing.empty()) GTEST_SKIP() << missing;
  }

  static void expect_agreement(int vlen, const std::vector<std::string>& flags,
                               const std::vector<Case>& all) {
    std::vector<std::unique_ptr<Program>> programs;
    std::vector<BatchEntry> entries;
    for (const Case& each : all) {
      programs.push_back(compiled(each, rvv().name, RequantizeMode::kAuto));
      ASSERT_NE(programs.back(), nullptr) << each.name;
      entries.push_back({programs.back().get(), &each.inputs});
    }
    BatchOptions options;
    options.flags = flags;
    options.emulator_arguments = {"-cpu", cat("rv64,v=true,vext_spec=v1.0,vlen=", vlen)};
    const auto outputs = run_generated(entries, rvv(), options);
    ASSERT_TRUE(outputs);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(all[i])), "") << all[i].name;
    }
  }
};

TEST_F(VectorLength, Of256BitsGivesTheSameBytes) {
  expect_agreement(256, {"-O1"}, part_of(half_of(all_cases(), 0)));
}

TEST_F(VectorLength, Of512BitsGivesTheSameBytes) {
  expect_agreement(512, {"-O2"}, part_of(half_of(all_cases(), 1)));
}

TEST_F(VectorLength, KnownToTheCompilerGivesTheSameBytes) {
  expect_agreement(256, {"-O2", "-march=rv64gcv_zvl256b"}, part_of(half_of(all_cases(), 0)));
}

}  // namespace
}  // namespace etch
