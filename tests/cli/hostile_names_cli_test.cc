// What the program prints and records of models with hostile texts, and what it makes of hostile
// arguments; see hostile_names_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/process.h"
#include "compiler/host/work_folder.h"
#include "tests/support/hostile_names.h"
#include "tests/support/paths.h"

namespace etch {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class HostileNamesCli : public testing::Test {
 protected:
  void SetUp() override {
    cli::Reporter reporter(cli::Verbosity::kQuiet);
    folder_ = cli::WorkFolder::make({}, reporter);
    ASSERT_NE(folder_, nullptr);
    clean_ = write("clean.onnx", small_network());
    hostile_ = write("hostile.onnx", hostile(small_network()));
  }

  std::string write(const std::string& name, const std::string& bytes) const {
    const fs::path path = folder_->path() / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  static cli::ProcessResult etch(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), etch_binary());
    return cli::run_process(arguments, std::chrono::minutes(2));
  }
  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      out.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return out;
  }
  static void expect_harmless(std::string printed) {
    std::replace(printed.begin(), printed.end(), '\t', ' ');  // between the columns of a table
    for (const std::string& line : lines_of(printed)) {
      EXPECT_TRUE(is_printable(line)) << line;
      EXPECT_LT(line.size(), 1000U) << line;
    }
  }

  std::unique_ptr<cli::WorkFolder> folder_;
  std::string clean_, hostile_;
};

TEST_F(HostileNamesCli, ArePrintedOnAsManyLinesAsOthers) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"inspect"}, {"inspect", "--json"}}) {
    std::vector<cli::ProcessResult> results;
    for (const std::string& model : {clean_, hostile_}) {
      std::vector<std::string> arguments = options;
      arguments.insert(arguments.end(), {model, "--target", "scalar"});
      results.push_back(etch(arguments));
      EXPECT_EQ(results.back().exit_code, 0) << results.back().errors;
    }
    expect_harmless(results[1].output + results[1].errors);
    EXPECT_EQ(lines_of(results[0].output).size(), lines_of(results[1].output).size());
    EXPECT_EQ(lines_of(results[0].errors).size(), lines_of(results[1].errors).size());
    EXPECT_EQ(options.size() == 2, Json::accept(results[1].output));
  }
}

TEST_F(HostileNamesCli, AreHarmlessInRecordings) {
  const std::string folder = (folder_->path() / "golden").string();
  const auto result =
      etch({"golden", "record", hostile_, "--targets", "scalar", "--generate-only", "-o", folder});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  expect_harmless(result.output + result.errors);
  const std::string golden = contents(folder + "/golden.json");
  EXPECT_TRUE(Json::accept(golden));
  expect_harmless(golden);
}

// What becomes part of code or of a file's name is refused unless it is harmless; what is compared
// with names of the model is said back as one line.
TEST_F(HostileNamesCli, OnTheCommandLineAreRefused) {
  const std::string out = (folder_->path() / "out").string();
  for (const HostileFamily& family : hostile_families()) {
    const std::string text = cat(family.before, 1, family.after);
    if (text.find('\0') != std::string::npos || text.size() > 1000) continue;  // cannot be given
    for (const std::vector<std::string>& options :
         std::vector<std::vector<std::string>>{{"--name", text},
                                               {"--weights-section", text},
                                               {"--target", text},
                                               {"--package", text},
                                               {"--cut", text},
                                               {"--unroll", text + "=x"},
                                               {"--input-shape", text + "=1,2"},
                                               {"--" + text}}) {
      std::vector<std::string> arguments = {"-q", "compile", clean_, "-o", out};
      arguments.insert(arguments.end(), options.begin(), options.end());
      const bool may_warn = options[0] == "--input-shape";
      if (may_warn) arguments.erase(arguments.begin());
      const cli::ProcessResult result = etch(arguments);
      SCOPED_TRACE(cat(options[0], ", ", family.what));
      EXPECT_TRUE(result.exit_code == 1 || result.exit_code == 2 ||
                  (may_warn && result.exit_code == 0))
          << result.exit_code;
      EXPECT_EQ(fs::exists(out), result.exit_code == 0);
      EXPECT_LE(lines_of(result.errors).size(), may_warn ? 2U : 1U) << result.errors;
      if (may_warn) expect_harmless(result.errors);
      for (const char c : result.errors) {
        EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
      }
      fs::remove_all(out);
    }
  }
}

}  // namespace
}  // namespace etch
