// Programs as they are compiled keep the rules of compiler/program/verify.h, also where verify() is
// not called after every stage: in release builds.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/program/verify.h"
#include "compiler/targets/targets.h"
#include "tests/support/cases.h"
#include "tests/support/engines.h"

namespace etch {
namespace {

TEST(VerifiedPrograms, HaveNoFaultsOnAnyTarget) {
  std::vector<Case> cases = small_networks(3);
  for (Case& each : larger_convolutions(4)) cases.push_back(std::move(each));
  for (const IsaTraits* const isa : all_targets()) {
    for (const Case& each : cases) {
      const std::unique_ptr<Program> program = compiled(each, isa->name);
      ASSERT_NE(program, nullptr) << each.name;
      EXPECT_EQ(faults_of(*program), std::vector<std::string>{}) << each.name << " " << isa->name;
    }
  }
}

}  // namespace
}  // namespace etch
