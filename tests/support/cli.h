// What tests of the program `etch` from outside share: a folder for each test, and calls of it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "compiler/host/process.h"
#include "tests/support/paths.h"

namespace etch::cli {

inline const std::string kDigits = source_dir() + "/examples/digits/model.onnx";

// Every test has a folder of its own, which is also where etch makes temporary files.
class Cli : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "etch-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::filesystem::create_directory(temporary());
    setenv("TMPDIR", temporary().c_str(), 1);
  }
  void TearDown() override {
    EXPECT_TRUE(std::filesystem::is_empty(temporary())) << "temporary files are left behind";
    unsetenv("TMPDIR");
    unsetenv("CXX");
    std::filesystem::remove_all(folder_);
  }

  std::filesystem::path temporary() const { return folder_ / "tmp"; }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return path(name);
  }

  static ProcessResult etch(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), etch_binary());
    return run_process(arguments, std::chrono::minutes(5));
  }

  std::filesystem::path folder_;
};

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::ptrdiff_t lines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

}  // namespace etch::cli
