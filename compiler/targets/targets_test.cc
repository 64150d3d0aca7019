#include "compiler/targets/targets.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compile.h"

namespace etch {
namespace {

TEST(Targets, RankEveryListedInstructionSet) {
  std::set<std::string_view> ranked;
  for (const IsaTraits* isa : all_targets()) ranked.insert(isa->name);
  const std::set<std::string_view> listed = {
#define ETCH_ISA(folder) #folder,
#include "templates/isa/isas.def"
#undef ETCH_ISA
  };
  EXPECT_EQ(ranked, listed);
}

TEST(Targets, AreFoundByName) {
  for (const IsaTraits* isa : all_targets()) EXPECT_EQ(find_target(isa->name), isa);
  EXPECT_EQ(find_target("avx"), nullptr);
  EXPECT_EQ(find_target(""), nullptr);
}

TEST(Targets, NativeIsTheBestThatRunsHere) {
  const IsaTraits* native = find_target("native");
  ASSERT_NE(native, nullptr);
  EXPECT_TRUE(target_runs_here(native->name));
  for (const IsaTraits* isa : all_targets()) {
    if (isa == native) break;
    EXPECT_FALSE(target_runs_here(isa->name)) << isa->name;
  }
}

TEST(Targets, ScalarRunsEverywhereAndNeedsNoFlags) {
  EXPECT_TRUE(target_runs_here("scalar"));
  EXPECT_TRUE(target_flags("scalar").empty());
}

TEST(Targets, FlagsComeFromTheFileThatGeneratedFoldersCarry) {
  EXPECT_EQ(target_flags("avx2"), (std::vector<std::string>{"-mavx2", "-mfma"}));
}

}  // namespace
}  // namespace etch
