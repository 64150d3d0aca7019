// The commands on the pages are commands: every line of README.md, of the pages in docs/ and of the
// examples' that calls `etch`, and every such call within a sentence, names a command and options
// that `etch COMMAND --help` has, or the Python package's program.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "compiler/base/text.h"
#include "tests/support/cli.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

using Words = std::vector<std::string>;

// The words of one call, up to what the shell does with it and to the end of the sentence's code.
Words words_of(const std::string& call) {
  std::istringstream text(call.substr(0, call.find_first_of("`#|;&><)")));
  Words words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

// Every call of `etch` on a page: a line that begins with it, or code in a sentence that does.
std::vector<Words> calls_on(std::string page) {
  page = std::regex_replace(page, std::regex("\\\\\n"), " ");  // one line of the shell
  const std::regex begin("(^|\n|`)(\\$ | {4}(\\$ )?)?(etch [^\n]*)");
  std::vector<Words> calls;
  for (std::sregex_iterator at(page.begin(), page.end(), begin), end; at != end; ++at) {
    // Code in a sentence may be on two lines.
    const std::size_t from = static_cast<std::size_t>(at->position(4));
    const bool inside = (*at)[1] == "`";
    calls.push_back(words_of(inside ? page.substr(from, page.find('`', from) - from) : at->str(4)));
  }
  return calls;
}

// Names of options as a help text lists them, or as the source of the Python package's program
// does, which are too many there: it does not say of which command they are.
std::set<std::string> options_in(const std::string& text) {
  const std::regex option("(^|[ ,\"\n])(--?[a-zA-Z][a-z-]*)(?=[ ,=\"\n])");
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), option), end; at != end; ++at) {
    found.insert(at->str(2));
  }
  return found;
}

// Options by command; empty for what is no command.
class Program {
 public:
  const std::set<std::string>& options(const Words& command) {
    const auto [at, is_new] = found_.try_emplace(command);
    if (is_new) at->second = ask(command);
    return at->second;
  }

 private:
  static std::set<std::string> ask(const Words& command) {
    const std::string python = contents(source_dir() + "/python/etch_onnx/cli.py");
    std::set<std::string> options;
    if (!command.empty() && python.find(cat('"', command[0], '"')) != std::string::npos) {
      options = options_in(python);
      options.insert("--help");
    }
    Words arguments{etch_binary()};
    arguments.insert(arguments.end(), command.begin(), command.end());
    arguments.push_back("--help");
    const ProcessResult help = run_process(arguments, std::chrono::minutes(1));
    // For a word that is no command it is the help of what is above.
    std::string usage = "Usage: etch ";
    for (const std::string& word : command) usage += word + " ";
    const bool is_command = help.succeeded() && help.output.find(usage) != std::string::npos;
    // The package takes some commands of the program too, with more arguments.
    if (is_command) options.merge(options_in(help.output));
    return options;
  }

  std::map<Words, std::set<std::string>> found_;
};

// What is wrong with a call; empty if nothing is.
std::string fault(const Words& call, Program& program) {
  const auto is_name = [](const std::string& word) {
    return std::ranges::all_of(word, [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
  };
  Words command;
  std::size_t at = 1;
  if (at < call.size() && is_name(call[at]) && call[at][0] != '-') command.push_back(call[at++]);
  if (command == Words{"golden"} && at < call.size() && is_name(call[at])) {
    command.push_back(call[at++]);
  }
  if (command == Words{"help"}) {
    const bool named = at < call.size() && is_name(call[at]);
    command = named ? Words{call[at]} : Words{};
  }
  const std::set<std::string>& known = program.options(command);
  if (known.empty()) return "no such command";
  for (; at < call.size(); ++at) {
    const std::string option = call[at].substr(0, call[at].find_first_of("=,."));
    const bool is_option =
        option.size() > 1 && option[0] == '-' && (option[1] < '0' || option[1] > '9');
    if (is_option && known.count(option) == 0) return cat("no option ", option);
  }
  return "";
}

std::vector<fs::path> pages() {
  const fs::path root = source_dir();
  std::vector<fs::path> found{root / "README.md"};
  for (const char* folder : {"docs", "examples"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() == ".md") found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

TEST(PageCommands, CallsAreFoundInBlocksAndInSentences) {
  const std::vector<Words> calls = calls_on(
      "etch compile a \\\n  -o b  # why\n$ etch check a && b\nUse `etch run\n--data d` or etch "
      "it.\n    etch fit x\n");
  EXPECT_EQ(calls, (std::vector<Words>{{"etch", "compile", "a", "-o", "b"},
                                       {"etch", "check", "a"},
                                       {"etch", "run", "--data", "d"},
                                       {"etch", "fit", "x"}}));
}

TEST(PageCommands, FaultsAreFound) {
  Program program;
  EXPECT_EQ(fault({"etch", "compile", "a", "-o", "b", "--target=avx2"}, program), "");
  EXPECT_EQ(fault({"etch", "quantize", "a", "--calibration", "b"}, program), "");
  EXPECT_EQ(fault({"etch", "golden", "verify", "b"}, program), "");
  EXPECT_EQ(fault({"etch", "compare", "a"}, program), "no such command");
  EXPECT_EQ(fault({"etch", "check", "a", "--ram", "1k"}, program), "no option --ram");
  EXPECT_EQ(fault({"etch", "quantize", "a", "--ram", "1k"}, program), "no option --ram");
}

TEST(PageCommands, EveryCallOfEtchNamesACommandAndItsOptions) {
  Program program;
  int calls = 0;
  for (const fs::path& page : pages()) {
    for (const Words& call : calls_on(contents(page))) {
      ++calls;
      EXPECT_EQ(fault(call, program), "") << page.string() << ": " << testing::PrintToString(call);
    }
  }
  EXPECT_GT(calls, 100);
}

TEST(PageCommands, EveryOptionInTheTableOfThePageOfCommandsIsOne) {
  std::set<std::string> known;
  for (const char* command : {"compile", "check", "bench", "inspect"}) {
    known.merge(
        options_in(run_process({etch_binary(), "help", command}, std::chrono::minutes(1)).output));
  }
  std::istringstream page(contents(source_dir() + "/docs/cli.md"));
  int options = 0;
  const std::regex option("`(--[a-z-]+)");
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("| `--", 0) != 0) continue;
    const std::string cell = line.substr(0, line.find(" | "));
    for (std::sregex_iterator at(cell.begin(), cell.end(), option), end; at != end;
         ++at, ++options) {
      EXPECT_EQ(known.count(at->str(1)), 1U) << at->str(1);
    }
  }
  EXPECT_GT(options, 15);
}

}  // namespace
}  // namespace etch::cli
