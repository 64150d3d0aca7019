// `etch tune`, --tuning and --unroll from outside.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/host/process.h"
#include "compiler/kernels/conv/tuning.h"
#include "tests/support/paths.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

const std::string kDigits = source_dir() + "/examples/digits/model.onnx";

class TuneCli : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "etch-tune-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // report.json of the bundled network with these arguments.
  nlohmann::json report_with(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"compile", kDigits, "-o", path("out"), "--target", "scalar"});
    const ProcessResult result = etch(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return nlohmann::json::parse(read("out/report.json"));
  }

  static ProcessResult etch(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), etch_binary());
    return run_process(arguments, std::chrono::minutes(5));
  }

  fs::path folder_;
};

const nlohmann::json* convolution(const nlohmann::json& report) {
  for (const auto& step : report["steps"]) {
    if (step["kind"] == "conv") return &step;
  }
  return nullptr;
}

TEST_F(TuneCli, WritesAFileThatCompileTakes) {
  const ProcessResult tuned =
      etch({"tune", kDigits, "-o", path("model.tune"), "--target", "scalar", "--seconds", "0.1"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.errors;
  EXPECT_NE(tuned.output.find("kinds of layers are faster"), std::string::npos) << tuned.output;
  const std::string text = read("model.tune");
  EXPECT_EQ(text.rfind("# Tiles measured by `etch tune`.", 0), 0U) << text;
  std::vector<TuningFault> faults;
  const Tuning tuning = parse_tuning(text, faults);
  EXPECT_TRUE(faults.empty()) << text;
  const nlohmann::json report = report_with({"--tuning", path("model.tune")});
  std::size_t layers = 0;
  for (const auto& step : report["steps"]) {
    if (step.contains("tiles") && step["tiles"]["tuned"] == true) ++layers;
  }
  EXPECT_GE(layers, tuning.entries.size());
  const ProcessResult checked =
      etch({"check", kDigits, "--target", "scalar", "--tuning", path("model.tune")});
  EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.errors;
}

TEST_F(TuneCli, SharesTheLayersAmongMachines) {
  // Of the four kinds of layers the last one is in the last of four shares.
  const ProcessResult last = etch({"tune", kDigits, "-o", path("part.tune"), "--target", "scalar",
                                   "--seconds", "0.1", "--shard", "4/4"});
  EXPECT_EQ(last.exit_code, 0) << last.errors;
  EXPECT_NE(last.output.find("n33_conv"), std::string::npos) << last.output;
  for (const char* other : {"n12_conv", "n15_conv", "n21_conv"}) {
    EXPECT_EQ(last.output.find(other), std::string::npos) << last.output;
  }
  for (const char* wrong : {"0/2", "3/2", "2", "a/b", "1/0", "/", ""}) {
    const ProcessResult result = etch({"tune", kDigits, "-o", path("x.tune"), "--shard", wrong});
    EXPECT_EQ(result.exit_code, 1) << wrong;
    EXPECT_NE(result.errors.find("is not I/N"), std::string::npos) << result.errors;
  }
}

TEST_F(TuneCli, LeavesOtherPeoplesFilesAlone) {
  const std::string file = write("notes.txt", "mine\n");
  const ProcessResult result = etch({"tune", kDigits, "-o", file, "--target", "scalar"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.errors.find("was not written by `etch tune`"), std::string::npos);
  EXPECT_EQ(read("notes.txt"), "mine\n");
}

TEST_F(TuneCli, AHandWrittenFileDecidesTheTile) {
  const nlohmann::json usual = report_with({});
  const nlohmann::json* const before = convolution(usual);
  ASSERT_NE(before, nullptr);
  const std::string key = (*before)["tiles"]["tuning_key"];
  const std::string file =
      write("hand.tune", "scalar " + key + " tile=1x3 channels=2 outer=channels unroll=2 # mine\n");
  fs::remove_all(path("out"));
  const nlohmann::json report = report_with({"--tuning", file});
  const nlohmann::json tiles = (*convolution(report))["tiles"];
  EXPECT_EQ(tiles["rows"], 1);
  EXPECT_EQ(tiles["cols"], 3);
  EXPECT_EQ(tiles["channels"], 2);
  EXPECT_EQ(tiles["outer"], "channels");
  EXPECT_EQ(tiles["tuned"], true);
  EXPECT_EQ((*before)["tiles"]["tuned"], false);
}

TEST_F(TuneCli, AWrongFileIsRefusedWithItsLines) {
  const std::string file = write("wrong.tune",
                                 "# fine\nscalar a tile=1x1\n"
                                 "scalar a tile=4x4 channels=4 outer=pixels unroll=auto\n");
  const ProcessResult result =
      etch({"compile", kDigits, "-o", path("out"), "--target", "scalar", "--tuning", file});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("wrong.tune:2: expected TARGET LAYER"), std::string::npos)
      << result.errors;
  EXPECT_NE(result.errors.find("wrong.tune:3: a tile of 4 x 4 pixels x 4 channels needs 64"),
            std::string::npos)
      << result.errors;
  EXPECT_FALSE(fs::exists(path("out")));
  EXPECT_EQ(etch({"compile", kDigits, "-o", path("out"), "--tuning", path("none")}).exit_code, 3);
}

TEST_F(TuneCli, UnrollSetsOneLayerOrAll) {
  const nlohmann::json all = report_with({"--unroll", "1"});
  const nlohmann::json* const first = convolution(all);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ((*first)["tiles"]["unrolled_groups"], 1);
  fs::remove_all(path("out"));
  const std::string name = (*first)["name"];
  const nlohmann::json one = report_with({"--unroll", "1", "--unroll", name + "=full"});
  const nlohmann::json tiles = (*convolution(one))["tiles"];
  EXPECT_EQ(tiles["unrolled_groups"], tiles["k_groups"]);
}

TEST_F(TuneCli, UnrollRefusesLayersThatDoNotExist) {
  const ProcessResult result =
      etch({"compile", kDigits, "-o", path("out"), "--unroll", "conv_3=full"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.errors.find("there is no layer of this name; those that can be unrolled are "),
            std::string::npos)
      << result.errors;
  EXPECT_EQ(etch({"compile", kDigits, "-o", path("out"), "--unroll", "conv_3=9x"}).exit_code, 1);
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(TuneCli, HelpEndsWithAnExample) {
  EXPECT_NE(etch({"tune", "--help"}).output.find("  etch tune model.onnx -o model.tune\n"),
            std::string::npos);
  for (const char* command : {"compile", "check", "bench", "run"}) {
    const std::string help = etch({command, "--help"}).output;
    EXPECT_NE(help.find("--unroll"), std::string::npos) << command;
    EXPECT_NE(help.find("--tuning"), std::string::npos) << command;
  }
}

}  // namespace
}  // namespace etch::cli
