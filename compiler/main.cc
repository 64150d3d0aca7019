// The program `etch`: reads the command line, runs one subcommand, returns its exit code. The
// subcommands are in compiler/cli, one file each.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "compiler/base/closest.h"
#include "compiler/cli/options.h"

namespace {

using namespace etch::cli;

constexpr char kFooter[] =
    "Examples:\n"
    "  etch compile examples/digits/model.onnx -o digits   C++ for this CPU in the folder digits\n"
    "  etch check examples/digits/model.onnx               compare with the test data beside it\n"
    "  etch bench examples/digits/model.onnx               time the network and each layer\n"
    "  etch tune model.onnx -o model.tune                  measure which tiles are the fastest\n"
    "  etch fit model.onnx --ram 256k --flash 1M           which targets it fits, and what others "
    "need\n"
    "  etch golden verify goldens/net                      is all as it was recorded?\n"
    "  etch prove digits --model examples/digits/model.onnx   are they exact for all inputs?\n"
    "  etch inspect model.onnx                             what is in it, what is not supported\n"
    "  etch explain E-QUANT                                what a class of errors means\n"
    "  etch help compile                                   more about one command\n"
    "\n"
    "The Python package etch-onnx adds quantize, record and debug (docs/python.md).\n"
    "\n"
    "Exit codes: 0 ok, 1 usage, 2 model refused, 3 input or output failed, 4 outputs differ,\n"
    "5 not as `etch golden` recorded, 70 internal error (please report it).";

// What the Python package adds; its own `etch` runs these and passes on the rest.
bool is_of_package(const std::string& word) {
  return word == "quantize" || word == "record" || word == "debug";
}

// What is wrong where no command has been found after the program's name, unless it is an option.
std::string about_first(const Parser& root, const std::string& what, const std::string& first) {
  if (first.empty()) return "a command is needed";
  if (first.front() == '-') return what;
  if (is_of_package(first)) {
    return "'" + first +
           "' is a command of the Python package: pip install 'etch-onnx[quantize]', then its etch";
  }
  return "there is no command '" + one_line(first) + "'" +
         etch::did_you_mean(first, root.subcommands());
}

// `first` is the first argument.
int report_usage(const Parser& root, const std::vector<Command>& commands, std::string what,
                 const std::string& first) {
  std::string words = root.name();
  for (const Command& command : commands) {
    if (command.parser.parsed()) words += " " + command.parser.name();
  }
  if (words == root.name()) what = about_first(root, what, first);
  Reporter reporter(Verbosity::kNormal);
  reporter.usage_error(what + (what.ends_with("?") ? " Try " : "; try ") + words + " --help");
  return static_cast<int>(reporter.exit_code());
}

// `etch help` is `etch --help`, and `etch help check` is `etch check --help`. A word that is no
// command is left alone, to be refused: CLI11 would answer with the help of the program.
std::vector<std::string> without_help_command(const Parser& root, std::vector<std::string> words) {
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (words.empty() || words.front().starts_with('-')) return words;
  const std::vector<std::string> commands = root.subcommands();
  const bool known = std::find(commands.begin(), commands.end(), words.front()) != commands.end();
  return known ? words : std::vector<std::string>{words.front()};
}

// Under headings of the help, in the order in which a user needs them.
void group_commands(const std::vector<Command>& commands) {
  constexpr const char* kCode = "From a model to code";
  constexpr const char* kAsk = "Find out about a model";
  constexpr const char* kKeep = "Be sure of the code";
  const std::map<std::string, const char*> headings = {
      {"compile", kCode}, {"check", kCode},          {"run", kCode},    {"bench", kCode},
      {"tune", kCode},    {"inspect", kAsk},         {"fit", kAsk},     {"targets", kAsk},
      {"explain", kAsk},  {"quantize-params", kAsk}, {"golden", kKeep}, {"prove", kKeep}};
  for (const Command& command : commands) {
    command.parser.set_group(headings.at(command.parser.name()));
  }
}

int parse_and_run(int argc, char** argv) {
  const Parser root("Etch compiles quantized ONNX networks to C++ that needs no library.", "etch",
                    Parser::Help::kPrinted);
  root.set_version("etch " ETCH_VERSION);
  bool quiet = false;
  root.add_flag("-q,--quiet", quiet, "print only errors and results");
  root.require_subcommand();
  root.footer(kFooter);

  const std::vector<Command> commands = {
      add_compile(root), add_check(root),           add_bench(root),  add_run(root),
      add_tune(root),    add_inspect(root),         add_fit(root),    add_targets(root),
      add_explain(root), add_quantize_params(root), add_golden(root), add_prove(root)};
  group_commands(commands);
  const std::vector<std::string> words =
      without_help_command(root, {argv + std::min(argc, 1), argv + argc});
  std::string what;
  const Parser::Outcome outcome = root.parse(words, what);
  if (outcome == Parser::Outcome::kAnswered) return static_cast<int>(ExitCode::kOk);
  if (outcome == Parser::Outcome::kRefused) {
    return report_usage(root, commands, what, words.empty() ? "" : words.front());
  }
  Reporter reporter(quiet ? Verbosity::kQuiet : Verbosity::kNormal);
  for (const Command& command : commands) {
    if (command.parser.parsed()) return static_cast<int>(command.run(reporter));
  }
  return static_cast<int>(ExitCode::kUsage);
}

// A file that is opened must not become the output that the caller has closed.
void occupy_standard_descriptors() {
  for (const int descriptor : {0, 1, 2}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The wrong way round, so that using it fails. The lowest free number is the one looked at.
    if (open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

// `code`, unless what was printed did not arrive.
int after_printing(int code) {
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!lost || code != static_cast<int>(ExitCode::kOk)) return code;
  Reporter reporter(Verbosity::kNormal);
  reporter.io_error("standard output", "cannot be written");
  return static_cast<int>(reporter.exit_code());
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  try {
    return after_printing(parse_and_run(argc, argv));
  } catch (const std::exception& exception) {  // bad_alloc, or a defect of ours
    std::fprintf(stderr, "etch: internal error: %s\n", exception.what());
    return static_cast<int>(ExitCode::kInternal);
  }
}
