// The installed CMake package from outside: installs this build below a temporary prefix, and
// builds examples/cmake-consumer and small projects against it in folders of their own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/process.h"
#include "compiler/host/work_folder.h"
#include "tests/support/paths.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

const fs::path kExamples = source_dir() + "/examples";
const fs::path kBuild = fs::path(etch_binary()).parent_path().parent_path();  // PROJECT_BINARY_DIR

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class CMakePackage : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {"cmake", "ctest", "ninja", "c++"}) {
      if (find_program(program).empty()) GTEST_SKIP() << program << " is not installed";
    }
    Reporter reporter(Verbosity::kQuiet);
    work_ = WorkFolder::make({}, reporter);
    ASSERT_NE(work_, nullptr);
    const ProcessResult installed =
        run({"cmake", "--install", kBuild.string(), "--prefix", path("prefix")});
    ASSERT_TRUE(installed.succeeded()) << installed.output << installed.errors;
  }

  std::string path(const std::string& name) const { return (work_->path() / name).string(); }
  static ProcessResult run(const std::vector<std::string>& command) {
    return run_process(command, std::chrono::minutes(5));
  }
  ProcessResult configure(const std::string& source, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"cmake", "-S", source, "-B", path("build"), "-G", "Ninja",
                               "-DCMAKE_PREFIX_PATH=" + path("prefix")});
    return run(more);
  }
  ProcessResult build() const { return run({"cmake", "--build", path("build")}); }
  ProcessResult test() const {
    return run({"ctest", "--test-dir", path("build"), "--output-on-failure", "--no-tests=error"});
  }

  // Configures a project that calls etch_add_model(net ...) with these arguments.
  ProcessResult configure_model(const std::string& arguments,
                                std::vector<std::string> more = {}) const {
    const fs::path source = work_->path() / "source";
    fs::create_directories(source);
    fs::copy_file(kExamples / "digits/model.onnx", source / "model.onnx",
                  fs::copy_options::overwrite_existing);
    std::ofstream(source / "CMakeLists.txt")
        << "cmake_minimum_required(VERSION 3.20)\nproject(small LANGUAGES CXX)\n"
           "enable_testing()\nfind_package(Etch REQUIRED)\n"  // the other spelling
        << "add_custom_command(OUTPUT made.onnx COMMAND ${CMAKE_COMMAND} -E copy\n"
           "  ${CMAKE_CURRENT_SOURCE_DIR}/model.onnx made.onnx)\n"
        << "etch_add_model(net " << arguments << ")\n";
    fs::remove_all(path("build"));
    return configure(source.string(), std::move(more));
  }

  std::unique_ptr<WorkFolder> work_;
};

bool says(const ProcessResult& result, const std::string& what) {
  return (result.output + result.errors).find(what) != std::string::npos;
}

TEST_F(CMakePackage, ConsumerBuildsAndTestsAndFollowsItsModelAndItsEtch) {
  fs::copy(kExamples, path("examples"), fs::copy_options::recursive);
  const ProcessResult configured = configure(path("examples/cmake-consumer"));
  ASSERT_TRUE(configured.succeeded()) << configured.output << configured.errors;
  const ProcessResult built = build();
  ASSERT_TRUE(built.succeeded()) << built.output << built.errors;
  const ProcessResult tested = test();
  EXPECT_TRUE(tested.succeeded()) << tested.output << tested.errors;
  for (const char* name : {"etch_check_digits", "anywhere", "digits"}) {
    EXPECT_TRUE(says(tested, name)) << tested.output;
  }
  EXPECT_TRUE(says(build(), "no work to do"));

  // Another file with the same network: a field that no reader knows is added.
  const std::string header = path("build/etch/digits/digits.h");
  const std::string before = contents(header);
  std::ofstream(path("examples/digits/model.onnx"), std::ios::binary | std::ios::app)
      << "\xc0\x3e\x01";
  const ProcessResult rebuilt = build();
  ASSERT_TRUE(rebuilt.succeeded()) << rebuilt.output << rebuilt.errors;
  EXPECT_TRUE(says(rebuilt, "Etch: ")) << rebuilt.output;
  EXPECT_NE(contents(header), before) << "the header has the hash of the model";
  EXPECT_TRUE(test().succeeded());
  EXPECT_TRUE(says(build(), "no work to do"));

  fs::last_write_time(path("prefix/bin/etch"), fs::file_time_type::clock::now());
  EXPECT_TRUE(says(build(), "Etch: ")) << "another etch generates again";
}

TEST_F(CMakePackage, TakesAModelThatTheBuildMakesAndOptions) {
  const ProcessResult configured = configure_model(
      "MODEL ${CMAKE_CURRENT_BINARY_DIR}/made.onnx TARGET scalar NAME other "
      "OPTIONS --requantize integer");
  ASSERT_TRUE(configured.succeeded()) << configured.output << configured.errors;
  const ProcessResult built = build();
  ASSERT_TRUE(built.succeeded()) << built.output << built.errors;
  EXPECT_NE(contents(path("build/etch/net/other.h")).find("namespace other {"), std::string::npos);
  EXPECT_NE(contents(path("build/etch/net/report.json")).find("\"requantize\": \"integer\""),
            std::string::npos);
  EXPECT_TRUE(fs::exists(path("build/libnet.a")));
}

TEST_F(CMakePackage, GoldenIsATestThatFailsForAnotherModel) {
  const fs::path source = work_->path() / "source";
  const ProcessResult recorded =
      run({path("prefix/bin/etch"), "golden", "record", (kExamples / "digits/model.onnx").string(),
           "--targets", "scalar", "-o", (source / "golden").string()});
  ASSERT_TRUE(recorded.succeeded()) << recorded.output << recorded.errors;
  const ProcessResult configured = configure_model("MODEL model.onnx GOLDEN golden");
  ASSERT_TRUE(configured.succeeded()) << configured.output << configured.errors;
  const ProcessResult tested = test();
  EXPECT_TRUE(tested.succeeded()) << tested.output << tested.errors;
  EXPECT_TRUE(says(tested, "etch_golden_net_scalar")) << tested.output;
  std::ofstream(source / "model.onnx", std::ios::binary | std::ios::app) << "\xc0\x3e\x01";
  EXPECT_FALSE(test().succeeded());
}

TEST_F(CMakePackage, SaysWhatIsWrongWhenConfiguring) {
  const struct {
    const char* arguments;
    const char* message;
  } wrong[] = {
      {"MODEL nowhere.onnx", "there is no file"},
      {"TARGET scalar", "MODEL <file.onnx> is needed"},
      {"MODEL model.onnx TARGET z80", "there is no target 'z80'"},
      {"MODEL model.onnx FROBNICATE", "FROBNICATE"},
  };
  for (const auto& each : wrong) {
    const ProcessResult result = configure_model(each.arguments);
    EXPECT_FALSE(result.succeeded()) << each.arguments;
    // CMake breaks lines where it likes.
    std::string said = result.errors;
    for (std::size_t at = 0; (at = said.find("\n  ", at)) != std::string::npos;) {
      said.replace(at, 3, " ");
    }
    EXPECT_NE(said.find(each.message), std::string::npos) << said;
  }
}

TEST_F(CMakePackage, ServesProjectsForAnotherMachine) {
  if (find_program("arm-none-eabi-g++").empty()) GTEST_SKIP() << "no arm-none-eabi-g++";
  const std::vector<std::string> cross = {
      cat("-DCMAKE_TOOLCHAIN_FILE=", (kExamples / "firmware/toolchain.cmake").string()),
      "-DCPU=cortex-m4"};
  const ProcessResult refused = configure_model("MODEL model.onnx", cross);
  EXPECT_FALSE(refused.succeeded());
  EXPECT_TRUE(says(refused, "TARGET is needed")) << refused.errors;
  const ProcessResult configured = configure_model("MODEL model.onnx TARGET cortex-m4", cross);
  ASSERT_TRUE(configured.succeeded()) << configured.output << configured.errors;
  const ProcessResult built = build();
  EXPECT_TRUE(built.succeeded()) << built.output << built.errors;
  EXPECT_TRUE(fs::exists(path("build/libnet.a")));
}

}  // namespace
}  // namespace etch::cli
