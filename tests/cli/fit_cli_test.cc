// `etch fit`: what each target takes of RAM and flash, whether that fits, and what would help.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/host/process.h"
#include "compiler/host/toolchain.h"
#include "compiler/targets/multi.h"
#include "compiler/targets/targets.h"
#include "tests/support/cli.h"

namespace etch::cli {
namespace {

using Json = nlohmann::json;

class CliFit : public Cli {
 protected:
  static ProcessResult fit(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"fit", kDigits});
    return etch(std::move(arguments));
  }
  static Json rows(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    return Json::parse(fit(std::move(arguments)).output)["targets"];
  }
};

TEST_F(CliFit, ListsEveryTargetOnce) {
  const Json all = rows({"--ram", "64k", "--flash", "1M", "--estimate"});
  EXPECT_EQ(all.size(), all_targets().size() + cross_targets().size() + multi_targets().size());
  for (const Json& row : all) {
    EXPECT_TRUE(row.value("fits", false)) << row;
    EXPECT_EQ(row["flash"]["code_is"], "estimated");
    EXPECT_EQ(row["ram"]["bytes"], row["ram"]["arena"].get<int>() + 296)
        << row;  // 8x8 and 10 floats
  }
}

// Targets: one with an arena that the limit is just above and just below of
TEST_F(CliFit, FitsIntoExactlyWhatItNeeds) {
  const auto with = [&](int ram, int flash) {
    return rows({"--ram", std::to_string(ram), "--flash", std::to_string(flash), "--estimate", "-t",
                 "scalar"})[0];
  };
  const Json row = with(1 << 20, 1 << 20);
  const int ram = row["ram"]["bytes"], flash = row["flash"]["bytes"];
  EXPECT_EQ(with(ram, flash)["fits"], true);
  const Json less_ram = with(ram - 1, flash), less_flash = with(ram, flash - 1);
  EXPECT_EQ(less_ram["fits"], false);
  EXPECT_EQ(less_ram["advice"][0], "needs 1 B more RAM");
  EXPECT_EQ(less_flash["fits"], false);
  EXPECT_EQ(less_flash["advice"][0], "needs 1 B more flash");
}

TEST_F(CliFit, EndsWithCodeTwoWhereNothingFits) {
  const ProcessResult none = fit({"--ram", "1k", "--flash", "1k", "--estimate", "-t", "scalar"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.output.find("its weights alone exceed it"), std::string::npos) << none.output;
  EXPECT_NE(none.output.find("fits 0 of 1 target\n"), std::string::npos) << none.output;
  EXPECT_EQ(fit({"--ram", "1x", "--flash", "1k"}).exit_code, 1);
  EXPECT_EQ(fit({"--ram", "1k", "--flash", "1k", "--clock", "-1M"}).exit_code, 1);
  EXPECT_EQ(fit({"--ram", "1k"}).exit_code, 1);
}

TEST_F(CliFit, MeasuresCodeStackAndInstructionsWhereTheToolsAreHere) {
  if (!status_of(*find_target("cortex-m4")).runs_here()) GTEST_SKIP() << "no compiler or emulator";
  const Json row = rows({"--ram", "64k", "--flash", "1M", "-t", "cortex-m4", "--clock", "100M"})[0];
  EXPECT_EQ(row["flash"]["code_is"], "measured");
  EXPECT_GT(row["ram"]["stack"].get<int>(), 0);
  const auto instructions = row["instructions"].get<double>();
  EXPECT_GT(instructions, 100'000);
  EXPECT_DOUBLE_EQ(row["estimated_ms"].get<double>(), instructions / 100e6 * 1e3);
}

}  // namespace
}  // namespace etch::cli
