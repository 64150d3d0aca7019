// What people see at a terminal: help texts that fit, and colours there and nowhere else. The
// terminal is a pseudo terminal.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "compiler/host/process.h"
#include "tests/support/cli.h"

namespace etch::cli {
namespace {

class CliTerminal : public Cli {
 protected:
  using Variables = std::vector<std::pair<const char*, const char*>>;  // null: not set

  // What the program shows on a terminal, with these variables.
  static std::string shown(std::vector<std::string> arguments, const Variables& variables) {
    arguments.insert(arguments.begin(), etch_binary());
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) return "no pseudo terminal";
    const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    const pid_t child = fork();
    if (child == 0) become(arguments, variables, terminal);
    close(terminal);
    std::string text;
    char part[4096];
    for (ssize_t size = 0; (size = read(master, part, sizeof part)) > 0;) {
      text.append(part, static_cast<std::size_t>(size));
    }
    close(master);
    int status = 0;
    waitpid(child, &status, 0);
    return text;
  }

 private:
  [[noreturn]] static void become(const std::vector<std::string>& arguments,
                                  const Variables& variables, int terminal) {
    for (const auto& [name, value] : variables) {
      value == nullptr ? unsetenv(name) : setenv(name, value, 1);
    }
    for (const int descriptor : {0, 1, 2}) dup2(terminal, descriptor);
    std::vector<char*> words;
    words.reserve(arguments.size() + 1);
    for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(CliTerminal, ShowsDiagnosticsInColour) {
  const std::string model = path("none.onnx");
  const std::string text = shown({"inspect", model}, {{"TERM", "xterm"}, {"NO_COLOR", nullptr}});
  EXPECT_EQ(text.rfind(model + ": \033[1;31merror[E-IO]\033[0m: ", 0), 0U) << text;
}

TEST_F(CliTerminal, ShowsVerdictsInColour) {
  const std::string folder = path("golden");
  ASSERT_EQ(
      etch({"golden", "record", kDigits, "--targets", "scalar", "--generate-only", "-o", folder})
          .exit_code,
      0);
  const std::string text =
      shown({"golden", "verify", folder}, {{"TERM", "xterm"}, {"NO_COLOR", ""}});
  EXPECT_TRUE(has(text, "etch golden verify: \033[1;32mPASS\033[0m: ")) << text;
}

TEST_F(CliTerminal, ShowsNoColourWhereItIsNotWanted) {
  const std::vector<std::string> call = {"inspect", path("none.onnx")};
  const std::vector<Variables> all = {{{"TERM", "xterm"}, {"NO_COLOR", "1"}},
                                      {{"TERM", "dumb"}, {"NO_COLOR", nullptr}},
                                      {{"TERM", nullptr}, {"NO_COLOR", nullptr}}};
  for (const Variables& variables : all) {
    const std::string text = shown(call, variables);
    EXPECT_TRUE(has(text, ": error[E-IO]: ")) << text;
    EXPECT_FALSE(has(text, "\033")) << text;
  }
}

TEST_F(CliTerminal, PipesHaveNoColour) {
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  const ProcessResult result = etch({"inspect", path("none.onnx")});
  EXPECT_TRUE(has(result.errors, ": error[E-IO]: ")) << result.errors;
  EXPECT_FALSE(has(result.errors, "\033"));
}

TEST_F(CliTerminal, HelpFitsIn100Columns) {
  const std::vector<std::vector<std::string>> calls = {{},
                                                       {"compile"},
                                                       {"check"},
                                                       {"bench"},
                                                       {"run"},
                                                       {"tune"},
                                                       {"fit"},
                                                       {"inspect"},
                                                       {"targets"},
                                                       {"explain"},
                                                       {"quantize-params"},
                                                       {"prove"},
                                                       {"golden"},
                                                       {"golden", "record"},
                                                       {"golden", "verify"}};
  for (std::vector<std::string> call : calls) {
    call.emplace_back("--help");
    std::istringstream text(etch(call).output);
    for (std::string line; std::getline(text, line);) {
      EXPECT_LE(line.size(), 100U) << testing::PrintToString(call) << line;
    }
  }
}

TEST_F(CliTerminal, HelpBeginsWithWhatMostCallsNeed) {
  const std::string help = etch({"compile", "--help"}).output;
  const std::size_t rest = help.find("\nThe model:");
  ASSERT_NE(rest, std::string::npos) << help;
  EXPECT_LT(help.find("--output"), help.find("--target"));
  EXPECT_LT(help.find("--target"), rest);
  EXPECT_GT(help.find("--quantize-input"), rest);
  const std::string root = etch({"--help"}).output;
  EXPECT_LT(root.find("  compile "), root.find("--version")) << root;
}

}  // namespace
}  // namespace etch::cli
