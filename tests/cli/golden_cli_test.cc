// `etch golden` from outside: what is recorded, what is found to differ, exit codes, and files that
// are broken.
#include <gtest/gtest.h>

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
#include "compiler/text/names.h"
#include "tests/support/numpy_files.h"
#include "tests/support/paths.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string kDigits = source_dir() + "/examples/digits/model.onnx";

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool says(const ProcessResult& result, const std::string& what) {
  return (result.output + result.errors).find(what) != std::string::npos;
}

class GoldenCli : public testing::Test {
 protected:
  void SetUp() override {
    Reporter reporter(Verbosity::kQuiet);
    work_ = WorkFolder::make({}, reporter);
    ASSERT_NE(work_, nullptr);
  }
  void TearDown() override { unsetenv("CXX"); }

  std::string path(const std::string& name) const { return (work_->path() / name).string(); }
  fs::path file() const { return work_->path() / "golden/golden.json"; }

  static ProcessResult etch(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {etch_binary(), "golden"});
    return run_process(arguments, std::chrono::minutes(5));
  }
  ProcessResult record(std::vector<std::string> more = {}, const std::string& model = kDigits,
                       const std::string& targets = "scalar,x86-64-multi") const {
    more.insert(more.begin(),
                {"record", model, "--targets", targets, "--samples", "2", "-o", path("golden")});
    return etch(more);
  }
  ProcessResult verify(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"verify", path("golden")});
    return etch(more);
  }

  // Changes the file; `edit` gets its JSON.
  template <class Edit>
  void change(Edit edit) const {
    Json json = Json::parse(contents(file()));
    edit(json);
    std::ofstream(file(), std::ios::binary) << json.dump(2) << "\n";
  }
  void write(const std::string& text) const { std::ofstream(file(), std::ios::binary) << text; }

  std::unique_ptr<WorkFolder> work_;
};

// Enough for the tests that look at the file only.
const std::vector<std::string> kGenerateOnly = {"--generate-only"};

// The digits network takes images of 1x1x8x8 floats.
TEST_F(GoldenCli, KeepsInputsOfNumPyAndBareElements) {
  fs::create_directory(path("set"));
  std::ofstream(path("set/input_0.bin"), std::ios::binary) << std::string(256, '\0');
  std::ofstream(path("all.npz"), std::ios::binary)
      << npz_file({{"image.npy", npy_file("<f4", "(2, 1, 8, 8)", std::string(512, '\0'))}}, true);
  ASSERT_EQ(etch({"record", kDigits, "--targets", "scalar", "--data", path("set"), "--data",
                  path("all.npz"), "-o", path("golden")})
                .exit_code,
            0);
  EXPECT_TRUE(fs::exists(path("golden/sample_0/input_0.bin")));
  EXPECT_TRUE(fs::exists(path("golden/sample_2/input_0.pb")));
  EXPECT_EQ(verify().exit_code, 0);
}

TEST_F(GoldenCli, VerifiesWhatItRecorded) {
  const ProcessResult recorded = record();
  ASSERT_EQ(recorded.exit_code, 0) << recorded.errors;
  const Json json = Json::parse(contents(file()));
  EXPECT_EQ(json["output_format"], 1);
  EXPECT_EQ(json["samples"].size(), 2U);
  // Targets: those of the recording above.
  for (const char* target : {"scalar", "x86-64-multi"}) {
    const Json& one = json["targets"][target];
    for (const char* key : {"arena_bytes", "weight_bytes", "code_bytes"}) {
      EXPECT_GT(one[key].get<int>(), 0) << target << " " << key;
    }
  }
  EXPECT_GT(json["targets"]["scalar"]["steps"][2]["code_bytes"].get<int>(), 0);
  EXPECT_TRUE(json["targets"]["scalar"]["files"].contains("model_steps_0.cc"));
  EXPECT_TRUE(fs::exists(path("golden/sample_1/input_0.pb")));

  const ProcessResult verified = verify({"--model", kDigits});
  EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
  EXPECT_TRUE(says(verified, "scalar: as recorded; outputs equal")) << verified.output;
  EXPECT_TRUE(says(verified, "PASS: code as recorded on 2 of 2 targets, outputs equal on 2"));

  // The same again, byte by byte, but only when asked.
  const std::string before = contents(file());
  EXPECT_EQ(record().exit_code, 3);
  EXPECT_EQ(record({"--force"}).exit_code, 0);
  EXPECT_EQ(contents(file()), before);
}

TEST_F(GoldenCli, LeavesAFolderAloneThatHoldsSomethingElse) {
  const fs::path mine = work_->path() / "golden/sample_5/mine.txt";
  fs::create_directories(mine.parent_path());
  std::ofstream(mine) << "mine";
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--generate-only"}, {"--generate-only", "--force"}}) {
    const ProcessResult refused = record(more, kDigits, "scalar");
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_TRUE(says(refused, "holds files but no golden")) << refused.errors;
    EXPECT_EQ(contents(mine), "mine");
  }
}

TEST_F(GoldenCli, RecordingAgainKeepsFilesOfUsers) {
  ASSERT_EQ(record(kGenerateOnly, kDigits, "scalar").exit_code, 0);
  ASSERT_TRUE(fs::exists(path("golden/sample_1/input_0.pb")));
  std::ofstream(path("golden/sample_notes.txt")) << "mine";
  std::ofstream(path("golden/sample_9")) << "a file";
  for (const char* folder : {"sample_", "sample_1b", "sample_01", "sample_-1", "sample_64"}) {
    fs::create_directory(path(cat("golden/", folder)));
  }
  const ProcessResult again = etch({"record", kDigits, "--targets", "scalar", "--samples", "1",
                                    "--generate-only", "--force", "-o", path("golden")});
  ASSERT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_FALSE(fs::exists(path("golden/sample_1"))) << "of the earlier recording";
  EXPECT_EQ(contents(path("golden/sample_notes.txt")), "mine");
  EXPECT_EQ(contents(path("golden/sample_9")), "a file");
  for (const char* folder : {"sample_", "sample_1b", "sample_01", "sample_-1", "sample_64"}) {
    EXPECT_TRUE(fs::is_directory(path(cat("golden/", folder)))) << folder;
  }
}

// Data elsewhere is not copied, and the author of the file must not choose what is read.
TEST_F(GoldenCli, DataInOtherFilesIsRefused) {
  const std::string why = "save the model with its data inside that file";
  const ProcessResult recorded =
      record({"--generate-only", "--external-data", path(".")}, kDigits, "scalar");
  EXPECT_EQ(recorded.exit_code, 1);
  EXPECT_TRUE(says(recorded, why)) << recorded.errors;
  EXPECT_FALSE(fs::exists(path("golden")));
  ASSERT_EQ(record(kGenerateOnly, kDigits, "scalar").exit_code, 0);
  for (const Json& options :
       {Json::array({"--external-data", "/etc"}), Json::array({"--external-data=/etc"})}) {
    change([&](Json& json) { json["options"] = options; });
    const ProcessResult verified = verify();
    EXPECT_EQ(verified.exit_code, 3) << verified.output;
    EXPECT_TRUE(says(verified, "golden.json: error[E-IO]: options: --external-data: "))
        << verified.errors;
    EXPECT_TRUE(says(verified, why)) << verified.errors;
  }
}

TEST_F(GoldenCli, ExplainsAChangeOfCodeAndAcceptsItOnRequest) {
  ASSERT_EQ(record({}, kDigits, "scalar").exit_code, 0);
  std::string name;
  int arena = 0;
  change([&](Json& json) {
    Json& target = json["targets"]["scalar"];
    Json& step = target["steps"][4];
    name = step["name"];
    arena = target["arena_bytes"];
    step["code_sha256"] = std::string(64, '0');
    step["code_bytes"] = step["code_bytes"].get<int>() + 8;
    target["files"]["model_steps_0.cc"]["sha256"] = std::string(64, '0');
    target["arena_bytes"] = arena / 2;
  });
  const std::string changed = contents(file());
  const ProcessResult refused = verify();
  EXPECT_EQ(refused.exit_code, 5) << refused.output << refused.errors;
  for (const std::string& what :
       {std::string("scalar: code changed; outputs equal"),
        std::string("files that changed: model_steps_0.cc"), cat("step ", name, " ("),
        cat("arena ", with_thousands(arena / 2), " -> ", with_thousands(arena), " bytes (+100.0 %"),
        std::string("FAIL: generated code changed on 1 of 1 targets")}) {
    EXPECT_TRUE(says(refused, what)) << what << "\n" << refused.output;
  }
  EXPECT_EQ(verify({"--allow-code-change"}).exit_code, 0);
  EXPECT_EQ(verify({"--allow-code-change", "--max-growth", "99"}).exit_code, 5);
  EXPECT_EQ(verify({"--allow-code-change", "--max-growth", "101"}).exit_code, 0);
  EXPECT_EQ(contents(file()), changed) << "only --update writes";
  EXPECT_EQ(verify({"--update"}).exit_code, 0);
  EXPECT_EQ(verify().exit_code, 0);
}

TEST_F(GoldenCli, OtherOutputsAreNeverAccepted) {
  ASSERT_EQ(record({}, kDigits, "scalar").exit_code, 0);
  change([](Json& json) { json["samples"][1]["outputs"][0]["sha256"] = std::string(64, '0'); });
  const std::string changed = contents(file());
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {}, {"--allow-code-change"}, {"--update"}, {"--skip-missing"}}) {
    const ProcessResult result = verify(more);
    EXPECT_EQ(result.exit_code, 4) << result.output << result.errors;
    EXPECT_TRUE(says(result, "scalar: OUTPUTS DIFFER")) << result.output;
    EXPECT_TRUE(says(result, "sample 1, output 0 'logits': other values")) << result.output;
  }
  EXPECT_EQ(contents(file()), changed);
}

TEST_F(GoldenCli, AnotherModelIsNoticed) {
  ASSERT_EQ(record(kGenerateOnly).exit_code, 0);
  const std::string other = path("other.onnx");
  std::ofstream(other, std::ios::binary) << contents(kDigits) << "\xc0\x3e\x01";
  const ProcessResult result = verify({"--model", other});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_TRUE(says(result, "is not the model that was recorded")) << result.output;
  fs::copy_file(other, path("golden/model.onnx"), fs::copy_options::overwrite_existing);
  EXPECT_EQ(verify().exit_code, 3);
  fs::remove(path("golden/model.onnx"));
  EXPECT_EQ(verify().exit_code, 3);
}

// The others would keep what another version generated.
TEST_F(GoldenCli, SomeTargetsAreNotUpdatedAfterAnotherVersion) {
  ASSERT_EQ(record({"--generate-only"}, kDigits, "scalar,cortex-m0").exit_code, 0);
  change([](Json& json) { json["etch_version"] = "0.0.9"; });
  const std::string before = contents(file());
  const ProcessResult refused = verify({"--targets", "scalar", "--update", "--generate-only"});
  EXPECT_EQ(refused.exit_code, 1) << refused.output;
  EXPECT_TRUE(says(refused, "update all of them at once")) << refused.errors;
  EXPECT_EQ(contents(file()), before);
}

TEST_F(GoldenCli, WhatCannotBeRunIsSaid) {
  ASSERT_EQ(record({}, kDigits, "scalar").exit_code, 0);
  setenv("CXX", "/nowhere/c++", 1);
  const ProcessResult missing = verify();
  EXPECT_EQ(missing.exit_code, 3) << missing.output;
  EXPECT_TRUE(says(missing, "outputs not compared: a C++ compiler is needed ($CXX"))
      << missing.output;
  EXPECT_EQ(verify({"--skip-missing"}).exit_code, 0);
  EXPECT_EQ(verify({"--generate-only"}).exit_code, 0);
  const std::string before = contents(file());
  EXPECT_EQ(verify({"--update", "--skip-missing"}).exit_code, 0);
  EXPECT_EQ(contents(file()), before) << "sizes and outputs that are not known here stay";

  change([](Json& json) {
    json["targets"]["scalar"]["steps"][0]["code_sha256"] = std::string(64, '0');
  });
  EXPECT_EQ(verify({"--skip-missing"}).exit_code, 5);
  EXPECT_EQ(verify({"--skip-missing", "--allow-code-change"}).exit_code, 0);
  for (const char* without : {"--skip-missing", "--generate-only"}) {
    const ProcessResult refused = verify({"--update", without});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_TRUE(says(refused, "changed and did not run")) << refused.output;
  }

  const ProcessResult none = record({"--force"}, kDigits, "scalar");
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_TRUE(says(none, "no target can be run here")) << none.errors;
  EXPECT_EQ(record({"--force", "--generate-only"}, kDigits, "scalar").exit_code, 0);
  unsetenv("CXX");
  const ProcessResult generated = verify();
  EXPECT_EQ(generated.exit_code, 0);
  EXPECT_TRUE(says(generated, "only generated")) << generated.output;
}

TEST_F(GoldenCli, WithoutTestDataInputsAreMadeUpAndOptionsAreKept) {
  fs::copy_file(kDigits, path("7-digits.onnx"));
  const std::string tuning = path("some.tune");
  std::ofstream(tuning) << "";
  ASSERT_EQ(record({"--requantize", "integer", "--strict-integer", "--dim", "N=2", "--unroll",
                    "auto", "--unroll", "n12_conv=2", "--tuning", tuning},
                   path("7-digits.onnx"), "scalar")
                .exit_code,
            2)
      << "the float input is refused: so the options arrived";
  ASSERT_EQ(record({"--requantize", "integer", "--dim", "N=2", "--unroll", "auto", "--unroll",
                    "n12_conv=2", "--tuning", tuning},
                   path("7-digits.onnx"), "scalar")
                .exit_code,
            0);
  const Json json = Json::parse(contents(file()));
  EXPECT_EQ(json["name"], "model_7_digits");
  EXPECT_EQ(json["samples"][1]["seed"], 2);
  EXPECT_NE(json["samples"][0]["outputs"], json["samples"][1]["outputs"]);
  EXPECT_EQ(json["samples"][0]["outputs"][0]["type"], "float32[2, 10]");
  EXPECT_EQ(json["options"].size(), 10U) << json["options"];
  fs::remove(tuning);
  const ProcessResult verified = verify();
  EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
}

TEST_F(GoldenCli, BrokenFilesGiveOneLineThatSaysWhere) {
  ASSERT_EQ(record(kGenerateOnly, kDigits, "scalar").exit_code, 0);
  const std::string good = contents(file());
  const auto expect_refused = [&](const std::string& text) {
    write(text);
    const ProcessResult result = verify();
    EXPECT_EQ(result.exit_code, 3) << text.substr(0, 60) << result.output << result.errors;
    EXPECT_TRUE(says(result, "golden.json: error[E-")) << result.errors;
    EXPECT_EQ(result.output, "");
  };
  expect_refused("");
  expect_refused(good.substr(0, good.size() / 2));
  expect_refused(std::string("\0\xff\x01", 3));
  expect_refused(std::string(100000, '['));
  for (const char* option : {"--help", "--frobnicate", "stray", "--target", "--qdq", "--version"}) {
    write(good);
    change([&](Json& json) { json["options"] = {option}; });
    expect_refused(contents(file()));
  }
  write(good + std::string(17 << 20, ' '));
  EXPECT_EQ(verify().exit_code, 2);  // E-LIMIT
  fs::remove(file());
  EXPECT_EQ(verify().exit_code, 3);
}

TEST_F(GoldenCli, SamplesThatAreGoneAreAnErrorOfTheFolder) {
  ASSERT_EQ(record({}, kDigits, "scalar").exit_code, 0);
  fs::remove_all(path("golden/sample_1"));
  const ProcessResult result = verify();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(says(result, "golden/sample_1: error[E-IO]: there is no such")) << result.errors;
}

TEST_F(GoldenCli, WrongUsageIsExitCode1) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"forget"},
      {"verify"},
      {"record", kDigits, "-o", path("x")},
      {"record", kDigits, "--targets", "native", "-o", path("x")},
      {"record", kDigits, "--targets", "z80", "-o", path("x")},
      {"record", kDigits, "--targets", "scalar"},
      {"record", kDigits, "--targets", "scalar", "--target", "avx2", "-o", path("x")},
      {"record", kDigits, "--targets", "scalar", "-o", path("x"), "--samples", "0"},
      {"verify", path("x"), "--max-growth", "-1"},
  };
  for (const std::vector<std::string>& arguments : wrong) {
    const ProcessResult result = etch(arguments);
    EXPECT_EQ(result.exit_code, 1) << result.output << result.errors;
    EXPECT_FALSE(fs::exists(path("x")));
  }
}

TEST_F(GoldenCli, EveryTargetGivesTheOutputsOfTheFirst) {
  if (find_program("arm-none-eabi-gcc").empty() || find_program("qemu-system-arm").empty()) {
    GTEST_SKIP() << "no cross compiler or emulator (tools/setup --cross)";
  }
  const ProcessResult recorded = record({}, kDigits, "cortex-m0,scalar,cortex-m55");
  ASSERT_EQ(recorded.exit_code, 0) << recorded.output << recorded.errors;
  const Json json = Json::parse(contents(file()));
  EXPECT_GT(json["targets"]["cortex-m0"]["stack_bytes"].get<int>(), 100);
  EXPECT_FALSE(json["targets"]["scalar"].contains("stack_bytes"));
  const ProcessResult verified = verify();
  EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
  EXPECT_TRUE(says(verified, "outputs equal on 3")) << verified.output;
}

}  // namespace
}  // namespace etch::cli
