// Compilers and emulators that cannot be run, crash or refuse: exit code 3 with their name and
// words where they are at fault, 70 where the generated code is. Scripts play their parts; the one
// of an emulator needs the cross compiler of a Cortex-M and is skipped without it.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/process.h"
#include "tests/support/paths.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

const std::string kDigits = source_dir() + "/examples/digits/model.onnx";

class ToolchainCli : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "etch-toolchain-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = getenv("PATH");
  }
  void TearDown() override {
    unsetenv("CXX");
    setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }

  std::string program(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name) << content;
    fs::permissions(folder_ / name, fs::perms::owner_all);
    return (folder_ / name).string();
  }
  std::string script(const std::string& name, const std::string& lines) const {
    return program(name, cat("#!/bin/sh\n", lines));
  }

  ProcessResult etch(std::vector<std::string> arguments, const std::string& compiler) const {
    setenv("CXX", compiler.c_str(), 1);
    arguments.insert(arguments.begin(), etch_binary());
    return run_process(arguments, std::chrono::minutes(5));
  }
  ProcessResult check(const std::string& compiler) const {
    return etch({"check", kDigits, "--target", "scalar"}, compiler);
  }

  fs::path folder_;
  std::string path_;
};

void expect_at_fault(const ProcessResult& result, const std::string& name,
                     const std::string& words) {
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.errors.find("internal error"), std::string::npos) << result.errors;
  EXPECT_NE(result.errors.find(cat(name, ": error[E-IO]: ")), std::string::npos) << result.errors;
  EXPECT_NE(result.errors.find(words), std::string::npos) << result.errors;
}

TEST_F(ToolchainCli, ACompilerThatIsNotThereIsNamed) {
  expect_at_fault(check("/no/such/c++"), "target scalar",
                  "a C++ compiler is needed ($CXX is '/no/such/c++', which is no program here)");
}

TEST_F(ToolchainCli, ACompilerThatCannotBeStartedSaysWhy) {
  const std::string text = program("text", "no program");
  expect_at_fault(check(text), text, "cannot be started: Exec format error");
  const std::string lost = program("lost", "#!/no/such/interpreter\n");
  expect_at_fault(check(lost), lost, "cannot be started: No such file or directory");
}

TEST_F(ToolchainCli, ACompilerThatFailsByItselfIsNotAnInternalError) {
  const std::string silent = script("silent", "exit 1\n");
  expect_at_fault(check(silent), silent, "compiling network.cc: exit code 1");
  const std::string partial = script(
      "partial", "echo \"c++: fatal error: cannot execute 'cc1plus': No such file\" >&2\nexit 1\n");
  expect_at_fault(check(partial), partial, "cannot execute 'cc1plus': No such file");
  const std::string old =
      script("old", "echo 'c++: error: unknown option -std=c++17' >&2\nexit 1\n");
  expect_at_fault(check(old), old, "unknown option -std=c++17");
}

TEST_F(ToolchainCli, ACompilerThatCrashesIsNotAnInternalError) {
  const std::string killed = script("killed", "kill -SEGV $$\n");
  expect_at_fault(check(killed), killed, "signal 11 (Segmentation fault)");
  const std::string crashing =
      script("crashing",
             "for a in \"$@\"; do case $a in *.cc) f=$a;; esac; done\n"
             "echo \"$f:1:1: internal compiler error: in expand\" >&2\nexit 1\n");
  expect_at_fault(check(crashing), crashing, "internal compiler error: in expand");
}

TEST_F(ToolchainCli, EveryCommandThatBuildsSaysSo) {
  const std::string silent = script("silent", "exit 1\n");
  const std::string record = (folder_ / "golden").string();
  const std::string tuned = (folder_ / "tune").string();
  const std::vector<std::vector<std::string>> commands = {
      {"bench", kDigits, "--target", "scalar"},
      {"tune", kDigits, "--target", "scalar", "-o", tuned},
      {"golden", "record", kDigits, "-o", record, "--targets", "scalar"}};
  for (const auto& command : commands) {
    SCOPED_TRACE(command.front());
    expect_at_fault(etch(command, silent), silent, "exit code 1");
  }
}

TEST_F(ToolchainCli, CodeThatACompilerRefusesIsAnInternalError) {
  const ProcessResult result =
      check(script("strict",
                   "for a in \"$@\"; do case $a in *.cc) f=$a;; esac; done\n"
                   "echo \"$f:1:1: error: expected unqualified-id\" >&2\nexit 1\n"));
  EXPECT_EQ(result.exit_code, 70);
  EXPECT_NE(result.errors.find("internal error"), std::string::npos) << result.errors;
  EXPECT_NE(result.errors.find("expected unqualified-id"), std::string::npos) << result.errors;
}

// What gcc says of `line` of the generated file that it compiles.
std::string without_header(const std::string& header, const std::string& line) {
  return cat(
      "for a in \"$@\"; do case $a in *.cc) f=$a;; esac; done\n"
      "echo \"$f:3:10: fatal error: ",
      header, ": No such file or directory\" >&2\necho '    3 | #include ", line,
      "' >&2\nexit 1\n");
}

TEST_F(ToolchainCli, AHeaderOfOursThatIsMissingIsAnInternalError) {
  const ProcessResult result =
      check(script("ours", without_header("etch/etch_ops.h", "\"etch/etch_ops.h\"")));
  EXPECT_EQ(result.exit_code, 70);
  EXPECT_NE(result.errors.find("internal error"), std::string::npos) << result.errors;
  EXPECT_NE(result.errors.find("etch/etch_ops.h: No such file"), std::string::npos)
      << result.errors;
}

TEST_F(ToolchainCli, AHeaderOfTheCompilerThatIsMissingIsTheCompilersFault) {
  const std::string bare = script("bare", without_header("stdint.h", "<stdint.h>"));
  expect_at_fault(check(bare), bare, "stdint.h: No such file or directory");
}

TEST_F(ToolchainCli, ALinkerIsToldFromSymbolsThatAreMissing) {
  const auto linking = [&](const std::string& name, const std::string& words) {
    return script(name, cat("for a in \"$@\"; do case $a in -c) compile=yes;; -o) next=yes;; *) "
                            "if [ \"$next\" ]; then out=$a; next=; fi;; esac; done\n"
                            "if [ \"$compile\" ]; then : > \"$out\"; exit 0; fi\n"
                            "echo \"",
                            words, "\" >&2\nexit 1\n"));
  };
  const std::string none = linking("none", "collect2: fatal error: no ld here");
  expect_at_fault(check(none), none, "linking: exit code 1: collect2: fatal error: no ld here");
  EXPECT_EQ(check(linking("undefined", "undefined reference to etch_missing")).exit_code, 70);
}

TEST_F(ToolchainCli, AnEmulatorThatCannotRunIsNotAnInternalError) {
  if (find_program("arm-none-eabi-g++").empty()) GTEST_SKIP() << "no cross compiler";
  setenv("PATH", cat(folder_.string(), ":", path_).c_str(), 1);
  const auto emulator = [&](const std::string& lines) {
    script("qemu-system-arm", lines);
    return etch({"check", kDigits, "--target", "cortex-m4"}, "");
  };
  expect_at_fault(emulator("echo 'libglib.so: cannot open' >&2\nexit 127\n"), "qemu-system-arm",
                  "exit code 127: libglib.so: cannot open");
  expect_at_fault(emulator("kill -ABRT $$\n"), "qemu-system-arm", "signal 6 (Aborted)");
  program("qemu-system-arm", "no program");
  expect_at_fault(etch({"check", kDigits, "--target", "cortex-m4"}, ""), "qemu-system-arm",
                  "cannot be started: Exec format error");
}

}  // namespace
}  // namespace etch::cli
