// A package says to every build system which CPUs its code is for, as far as the system has words
// for that.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/emit/package/fit.h"
#include "compiler/emit/package/package.h"
#include "compiler/import/file.h"
#include "compiler/targets/targets.h"
#include "tests/support/engines.h"
#include "tests/support/paths.h"

namespace etch {
namespace {

// The digits in all forms that the target can have.
std::vector<OutputFile> package_for(const char* target) {
  Sink sink;
  const std::string model = source_dir() + "/examples/digits/model.onnx";
  const Case digits{"digits", read_file(model, 1 << 20, "", sink).value_or(""), {}};
  const auto program = compiled(digits, target, RequantizeMode::kAuto);
  EmitOptions options;
  options.name = "digits";
  std::vector<PackageForm> forms;
  for (const PackageFormFacts& facts : package_forms()) {
    if (why_not(facts.form, *program, options).empty()) forms.push_back(facts.form);
  }
  return emit_package(*program, options, forms);
}

// The digits compute with floats, so their code asks for an FPU where its target has one.
TEST(PackageFit, TellsEveryBuildSystemWhichCpuItIsFor) {
  std::vector<OutputFile> files;
  const auto text_of = [&](const std::string& path) {
    for (const OutputFile& file : files) {
      if (file.path == path) return file.content;
    }
    return std::string();
  };
  const auto says = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  files = package_for("cortex-m4");
  const std::string m4 = text_of("Etch.digits.pdsc");
  EXPECT_TRUE(says(m4, "<accept Dcore=\"Cortex-M4\" Dfpu=\"SP_FPU\"/>")) << m4;
  EXPECT_TRUE(says(m4, "<accept Dcore=\"Cortex-M33\" Ddsp=\"DSP\" Dfpu=\"SP_FPU\"/>")) << m4;
  EXPECT_FALSE(says(m4, "Dcore=\"Cortex-M4\"/>")) << m4;
  EXPECT_FALSE(says(m4, "Cortex-M3\"")) << m4;
  const std::string kconfig = text_of("zephyr/Kconfig");
  constexpr char kDsp[] = "(CPU_CORTEX_M4 || CPU_CORTEX_M7 || ARMV8_M_DSP) && FPU";
  EXPECT_TRUE(says(kconfig, cat("\tdepends on ", kDsp, "\n").c_str())) << kconfig;
  EXPECT_TRUE(says(kconfig, cat("\tdepends on !(", kDsp, ")\n").c_str())) << kconfig;
  EXPECT_TRUE(says(kconfig, "\ncomment \"Network digits needs a Cortex-M with DSP")) << kconfig;
  EXPECT_TRUE(says(text_of("library.properties"), "\narchitectures=apollo3,"));
  EXPECT_TRUE(says(text_of("library.json"), "\"platforms\": [\"atmelsam\", "));
  EXPECT_TRUE(text_of("idf_component.yml").empty());
  files = package_for("cortex-m4-nofp");
  EXPECT_TRUE(says(text_of("Etch.digits.pdsc"), "<accept Dcore=\"Cortex-M4\"/>"));
  EXPECT_FALSE(says(text_of("zephyr/Kconfig"), "&& FPU"));
  files = package_for("riscv32imac");
  EXPECT_TRUE(says(text_of("idf_component.yml"), "\ntargets:\n  - esp32c2\n  - esp32c3\n"));
  files = package_for("scalar");
  EXPECT_FALSE(says(text_of("idf_component.yml"), "targets:"));
  EXPECT_TRUE(says(text_of("library.properties"), "\narchitectures=*\n"));
}

TEST(PackageFit, EveryTargetHasItsCpuInTheWordsOfZephyr) {
  for (const CrossTarget& target : cross_targets()) {
    const bool runs_zephyr =
        target.machine->kind != Machine::Kind::kWasi && target.isa->name != "s390x";
    EXPECT_EQ(!package_fit(target.isa->name).zephyr.empty(), runs_zephyr) << target.isa->name;
  }
  for (const IsaTraits* const isa : all_targets())
    EXPECT_EQ(package_fit(isa->name).zephyr.empty(), isa->name == "scalar") << isa->name;
}

}  // namespace
}  // namespace etch
