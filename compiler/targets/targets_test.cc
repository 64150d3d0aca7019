#include "compiler/targets/targets.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compile.h"
#include "compiler/targets/aliases.h"

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

TEST(Targets, OtherNamesOfCpusStandForTargetsThatThereAre) {
  std::set<std::string_view> names;
  for (const TargetAlias& alias : target_aliases()) {
    EXPECT_TRUE(names.insert(alias.name).second) << alias.name;
    const IsaTraits* const isa = find_target(alias.name);
    ASSERT_NE(isa, nullptr) << alias.name;
    EXPECT_EQ(isa->name, alias.target);
    EXPECT_NE(isa->name, alias.name) << "is a target of its own";
  }
  EXPECT_EQ(find_target("cortex-m85"), find_target("cortex-m55"));
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
  EXPECT_EQ(target_flags("avx2"), (std::vector<std::string>{"-mavx2", "-mfma", "-mf16c"}));
}

}  // namespace
}  // namespace etch
