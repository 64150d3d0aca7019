// What commands print for scripts: one object on standard output, with the keys of docs/json.md.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "compiler/targets/multi.h"
#include "compiler/targets/targets.h"
#include "tests/support/cli.h"

namespace etch::cli {
namespace {

using Json = nlohmann::json;

class CliJson : public Cli {
 protected:
  // The object that a command prints; a failure if it prints anything else.
  static Json object(const std::vector<std::string>& arguments, int exit_code = 0) {
    const ProcessResult result = etch(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.errors;
    Json out = Json::parse(result.output, nullptr, /*allow_exceptions=*/false);
    EXPECT_TRUE(out.is_object()) << result.output;
    return out.is_object() ? out : Json::object();
  }
};

// Every key of `object` and of the objects in its arrays.
void add_keys(const Json& object, std::set<std::string>& keys) {
  if (object.is_array()) {
    for (const Json& each : object) add_keys(each, keys);
  }
  if (!object.is_object()) return;
  for (const auto& [key, value] : object.items()) {
    keys.insert(key);
    add_keys(value, keys);
  }
}

void expect_all_on_page(const Json& object) {
  std::set<std::string> keys;
  add_keys(object, keys);
  const std::string page = contents(source_dir() + "/docs/json.md");
  for (const std::string& key : keys) {
    EXPECT_NE(page.find("`" + key + "`"), std::string::npos) << key;
  }
}

TEST_F(CliJson, CheckSaysWhatBecameOfEveryOutput) {
  const Json out = object({"check", kDigits, "--target", "scalar", "--json"});
  EXPECT_EQ(out["target"], "scalar");
  EXPECT_EQ(out["pass"], true);
  EXPECT_EQ(out["data_sets"], 5);
  EXPECT_EQ(out["exact_outputs"], 5);
  ASSERT_EQ(out["outputs"].size(), 5U);
  EXPECT_EQ(out["outputs"][1]["data_set"], "test_data_set_1");
  EXPECT_EQ(out["outputs"][1]["exact"], true);
  EXPECT_EQ(out["outputs"][1]["elements"], 10);
  EXPECT_EQ(out["outputs"][1]["different"], 0);
  expect_all_on_page(out);
}

TEST_F(CliJson, CheckSaysWhatDiffers) {
  const std::string data = source_dir() + "/examples/digits/test_data_set_";
  std::filesystem::create_directory(path("data"));
  std::filesystem::copy(data + "0/input_0.pb", path("data"));
  std::filesystem::copy(data + "1/output_0.pb", path("data"));
  const Json out = object(
      {"check", kDigits, "--target", "scalar", "--data", path("data"), "--json"}, /*exit_code=*/4);
  EXPECT_EQ(out["pass"], false);
  EXPECT_EQ(out["exact_outputs"], 0);
  ASSERT_EQ(out["outputs"].size(), 1U);
  EXPECT_EQ(out["outputs"][0]["accepted"], false);
  EXPECT_GT(out["outputs"][0]["different"], 0);
  EXPECT_GT(out["outputs"][0]["largest"], 0);
}

TEST_F(CliJson, CompilePrintsTheReportOfTheFolder) {
  Json out = object({"compile", kDigits, "-t", "scalar", "-o", path("out"), "--json"});
  EXPECT_EQ(out["output"], path("out"));
  std::set<std::string> written;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path("out"))) {
    if (entry.is_regular_file()) written.insert(entry.path().lexically_relative(path("out")));
  }
  EXPECT_EQ(out["written"].get<std::set<std::string>>(), written);
  out.erase("output");
  out.erase("written");
  EXPECT_EQ(out, Json::parse(contents(path("out") + "/report.json")));
}

TEST_F(CliJson, GoldenPrintsItsFileAndThenWhatChanged) {
  const std::string folder = path("golden");
  const Json recorded = object({"golden", "record", kDigits, "--targets", "scalar", "-o", folder,
                                "--generate-only", "--json"});
  EXPECT_EQ(recorded, Json::parse(contents(folder + "/golden.json")));
  const Json good = object({"golden", "verify", folder, "--json"});
  EXPECT_EQ(good["pass"], true);
  EXPECT_EQ(good["targets"]["scalar"]["code_changed"], false);
  EXPECT_EQ(good["targets"]["scalar"]["compared"], false);
  Json other = recorded;
  other["targets"]["scalar"]["arena_bytes"] = 1;
  std::ofstream(folder + "/golden.json") << other.dump(2);
  const Json bad = object({"golden", "verify", folder, "--json"}, /*exit_code=*/5);
  EXPECT_EQ(bad["pass"], false);
  EXPECT_EQ(bad["targets"]["scalar"]["code_changed"], true);
  EXPECT_FALSE(bad["targets"]["scalar"]["words"].empty());
  EXPECT_TRUE(bad["why"].is_string());
}

TEST_F(CliJson, GoldenVerifiesTheTargetsThatAreAskedFor) {
  const std::string folder = path("golden");
  object({"golden", "record", kDigits, "--targets", "scalar,cortex-m0", "-o", folder,
          "--generate-only", "--json"});
  const std::vector<std::string> verify = {"golden", "verify", folder, "--generate-only", "--json"};
  EXPECT_EQ(object(verify)["targets"].size(), 2U);
  std::vector<std::string> one = verify;
  one.insert(one.end(), {"--targets", "cortex-m0", "--update"});
  const std::string before = contents(folder + "/golden.json");
  const Json out = object(one);
  EXPECT_EQ(out["targets"].size(), 1U);
  EXPECT_TRUE(out["targets"].contains("cortex-m0"));
  EXPECT_EQ(contents(folder + "/golden.json"), before);
  one.back() = "--targets=avx2";
  EXPECT_EQ(etch(one).exit_code, 1);
}

TEST_F(CliJson, TargetsListsEveryTargetOnce) {
  const Json out = object({"targets", "--json"});
  std::multiset<std::string> listed, expected;
  for (const MultiTarget& each : multi_targets()) expected.emplace(each.isa->name);
  for (const Json& each : out["targets"]) listed.insert(each["target"].get<std::string>());
  for (const IsaTraits* isa : all_targets()) expected.emplace(isa->name);
  for (const CrossTarget& target : cross_targets()) expected.emplace(target.isa->name);
  EXPECT_EQ(listed, expected);
  expect_all_on_page(out);
}

TEST_F(CliJson, ARefusedModelLeavesStandardOutputEmpty) {
  const std::string model = write("broken.onnx", "this is no model");
  for (const std::string command : {"check", "bench"}) {
    const ProcessResult result = etch({command, model, "--json"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.output, "");
  }
}

}  // namespace
}  // namespace etch::cli
