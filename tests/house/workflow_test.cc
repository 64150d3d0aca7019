// examples/ci/github-workflow.yml as far as it can be tested without GitHub: its structure, its
// packages, the syntax of its scripts, and the scripts that verify and record, run on real goldens.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/process.h"
#include "compiler/host/work_folder.h"
#include "tests/support/paths.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kRoot = source_dir();
constexpr std::chrono::minutes kTimeout{5};

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Workflow : public testing::Test {
 protected:
  void SetUp() override {
    const std::string script =
        "import json, sys, yaml\n"
        "print(json.dumps(yaml.safe_load(open(sys.argv[1])), default=str))\n";
    const std::string file = (kRoot / "examples/ci/github-workflow.yml").string();
    if (!run_process({"python3", "-c", "import yaml"}, kTimeout).succeeded()) {
      GTEST_SKIP() << "python3 with PyYAML is not installed";
    }
    const ProcessResult read = run_process({"python3", "-c", script, file}, kTimeout);
    ASSERT_TRUE(read.succeeded()) << read.errors;
    workflow_ = Json::parse(read.output);
    Reporter reporter(Verbosity::kQuiet);
    work_ = WorkFolder::make({}, reporter);
    ASSERT_NE(work_, nullptr);
  }
  void TearDown() override {
    for (const char* name : {"GOLDENS", "VERIFY_OPTIONS", "GITHUB_STEP_SUMMARY"}) unsetenv(name);
  }

  const Json& steps() const { return workflow_["jobs"]["goldens"]["steps"]; }
  const Json& step(const std::string& name) const {
    for (const Json& step : steps()) {
      if (step["name"] == name) return step;
    }
    ADD_FAILURE() << "no step " << name;
    return steps()[0];
  }

  // Runs a step as GitHub's runner does: bash that stops at the first error, in the project. The
  // installed program is the one of this build.
  ProcessResult run(const std::string& name, const std::string& options = "") const {
    std::string script = step(name)["run"].get<std::string>();
    const std::string installed = "/opt/etch/bin";
    const std::size_t at = script.find(installed);
    EXPECT_NE(at, std::string::npos);
    script.replace(at, installed.size(), fs::path(etch_binary()).parent_path().string());
    const std::string file = (work_->path() / "script.sh").string();
    std::ofstream(file) << script;
    for (const auto& [variable, value] : workflow_["env"].items()) {
      setenv(variable.c_str(), value.get<std::string>().c_str(), 1);
    }
    setenv("VERIFY_OPTIONS", options.c_str(), 1);
    setenv("GITHUB_STEP_SUMMARY", (work_->path() / "summary.md").c_str(), 1);
    return run_process({"bash", "--noprofile", "--norc", "-eo", "pipefail", file}, kTimeout,
                       work_->path());
  }

  void record() const {
    const ProcessResult recorded = run_process(
        {etch_binary(), "golden", "record", (kRoot / "examples/digits/model.onnx").string(),
         "--targets", "scalar", "--samples", "1", "-o", golden().string()},
        kTimeout);
    ASSERT_TRUE(recorded.succeeded()) << recorded.errors;
  }
  fs::path golden() const { return work_->path() / "goldens/digits"; }
  void replace_in_golden(const std::string& key, const std::string& value) const {
    std::string text = contents(golden() / "golden.json");
    const std::size_t at = text.find(cat("\"", key, "\": \""));
    ASSERT_NE(at, std::string::npos);
    text.replace(at + key.size() + 5, value.size(), value);
    std::ofstream(golden() / "golden.json", std::ios::binary) << text;
  }

  Json workflow_;
  std::unique_ptr<WorkFolder> work_;
};

TEST_F(Workflow, HasTheStructureThatGitHubWants) {
  EXPECT_TRUE(workflow_["name"].is_string());
  ASSERT_TRUE(workflow_.contains("true")) << "the key on, which YAML 1.1 takes for a boolean";
  EXPECT_TRUE(workflow_["true"].contains("pull_request"));
  EXPECT_EQ(workflow_["permissions"], (Json{{"contents", "read"}}));
  ASSERT_EQ(workflow_["jobs"].size(), 1U);
  EXPECT_TRUE(workflow_["jobs"]["goldens"]["runs-on"].is_string());
  ASSERT_GT(steps().size(), 5U);
  const std::vector<std::string> known = {"name", "id", "if", "uses", "with", "run"};
  for (const Json& step : steps()) {
    for (const auto& [key, value] : step.items()) {
      EXPECT_NE(std::find(known.begin(), known.end(), key), known.end()) << key;
    }
    EXPECT_NE(step.contains("uses"), step.contains("run")) << step;
    if (!step.contains("uses")) continue;
    const std::string action = step["uses"].get<std::string>();
    EXPECT_EQ(action.rfind("actions/", 0), 0U) << action;
    EXPECT_NE(action.find("@v"), std::string::npos) << action << " has a version";
  }
}

TEST_F(Workflow, ScriptsAreCorrectBash) {
  for (const Json& step : steps()) {
    if (!step.contains("run")) continue;
    const std::string file = (work_->path() / "script.sh").string();
    std::ofstream(file) << step["run"].get<std::string>();
    const ProcessResult result = run_process({"bash", "-n", file}, kTimeout);
    EXPECT_TRUE(result.succeeded()) << step["name"] << result.errors;
  }
}

TEST_F(Workflow, PackagesAreThoseOfSetup) {
  const std::string setup = contents(kRoot / "tools/setup") + " ca-certificates git ";
  const std::string script = step("Install compilers and emulators")["run"].get<std::string>();
  const std::size_t begin = script.find("--no-install-recommends") + 23;
  std::string word;
  int packages = 0;
  for (const char c : script.substr(begin) + " ") {
    if (c != ' ' && c != '\n' && c != '\\') {
      word += c;
      continue;
    }
    if (word.empty()) continue;
    EXPECT_NE(setup.find(word), std::string::npos) << word;
    ++packages;
    word.clear();
  }
  EXPECT_GT(packages, 12);
}

TEST_F(Workflow, VerifyingPassesForWhatWasRecordedAndExplainsItInTheSummary) {
  record();
  const ProcessResult result = run("Verify goldens");
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_NE(result.output.find("etch golden verify: PASS"), std::string::npos) << result.output;
  const std::string summary = contents(work_->path() / "summary.md");
  EXPECT_NE(summary.find("scalar: as recorded; outputs equal"), std::string::npos) << summary;
}

TEST_F(Workflow, VerifyingFailsWithoutGoldens) { EXPECT_EQ(run("Verify goldens").exit_code, 1); }

TEST_F(Workflow, AChangeOfCodeFailsAndIsRecordedForTheArtifact) {
  record();
  replace_in_golden("code_sha256", std::string(64, '0'));
  EXPECT_EQ(run("Verify goldens").exit_code, 5);
  EXPECT_EQ(run("Verify goldens", "--allow-code-change --max-growth 2").exit_code, 0);
  EXPECT_EQ(run("Record what changed").exit_code, 0);
  EXPECT_EQ(run("Verify goldens").exit_code, 0);
}

TEST_F(Workflow, ADifferenceOfOutputsFailsAndStays) {
  record();
  std::string text = contents(golden() / "golden.json");
  const std::size_t at = text.find("\"sha256\": \"", text.find("\"samples\"")) + 11;
  text.replace(at, 64, std::string(64, '0'));
  std::ofstream(golden() / "golden.json", std::ios::binary) << text;
  EXPECT_EQ(run("Verify goldens", "--allow-code-change").exit_code, 4);
  EXPECT_EQ(run("Record what changed").exit_code, 0);
  EXPECT_EQ(contents(golden() / "golden.json"), text);
}

}  // namespace
}  // namespace etch::cli
