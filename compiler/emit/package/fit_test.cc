// Which CPUs packages are for; see fit.h.
#include "compiler/emit/package/fit.h"

#include <gtest/gtest.h>

#include "compiler/targets/targets.h"

namespace etch {
namespace {

TEST(PackageFit, EveryInstructionSetOfThisListIsForX86ButThePortableOne) {
  for (const IsaTraits* isa : all_targets()) {
    const bool portable = isa->name == "scalar";
    EXPECT_EQ(package_fit(isa->name).zephyr, portable ? "" : "X86 || ARCH_POSIX") << isa->name;
    EXPECT_EQ(package_fit(isa->name).espressif.empty(), !portable) << isa->name;
  }
}

TEST(PackageFit, AnotherMachineHasARowOfItsOwn) {
  EXPECT_EQ(package_fit("aarch64").zephyr, "ARM64");
  EXPECT_EQ(package_fit("cortex-r5").zephyr_cpu, "a Cortex-R");
}

}  // namespace
}  // namespace etch
