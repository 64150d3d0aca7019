// The program `etch`: reads the command line, runs one subcommand, returns its exit code. The
// subcommands are in compiler/cli, one file each.
#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "compiler/cli/options.h"

namespace {

using namespace etch::cli;

constexpr char kFooter[] =
    "Examples:\n"
    "  etch compile examples/digits/model.onnx -o digits   C++ for this CPU in the folder digits\n"
    "  etch check examples/digits/model.onnx               compare with the test data beside it\n"
    "  etch bench examples/digits/model.onnx               time the network and each layer\n"
    "  etch tune model.onnx -o model.tune                  measure which tiles are the fastest\n"
    "  etch golden verify goldens/net                      is all as it was recorded?\n"
    "  etch inspect model.onnx                             what is in it, what is not supported\n"
    "  etch compile --help                                 more about one command\n"
    "\n"
    "Exit codes: 0 ok, 1 usage, 2 model refused, 3 input or output failed, 4 outputs differ,\n"
    "5 not as `etch golden` recorded, 70 internal error (please report it).";

// `first` is the first argument.
int report_usage(const CLI::App& root, const std::vector<Command>& commands, std::string what,
                 const std::string& first) {
  std::string words = root.get_name();
  for (const Command& command : commands) {
    if (command.parser->parsed()) words += " " + command.parser->get_name();
  }
  if (words == root.get_name()) {
    what = first.empty() || first.front() == '-' ? "a command is needed"
                                                 : "there is no command '" + one_line(first) + "'";
  }
  Reporter reporter(Verbosity::kNormal);
  reporter.usage_error(what + "; try " + words + " --help");
  return static_cast<int>(reporter.exit_code());
}

int parse_and_run(int argc, char** argv) {
  CLI::App root("Etch compiles quantized ONNX networks to C++ that needs no library.", "etch");
  root.set_help_flag("-h,--help", "print this help");
  root.set_version_flag("--version", "etch " ETCH_VERSION, "print the version");
  bool quiet = false;
  root.add_flag("-q,--quiet", quiet, "print only errors and results");
  root.require_subcommand(1);
  root.fallthrough();  // root options may also follow the subcommand
  root.footer(kFooter);

  const std::vector<Command> commands = {
      add_compile(root), add_check(root),   add_run(root),     add_bench(root),
      add_tune(root),    add_inspect(root), add_targets(root), add_quantize_params(root),
      add_golden(root)};
  try {
    root.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return root.exit(success);
  } catch (const CLI::ParseError& error) {
    return report_usage(root, commands, error.what(), argc > 1 ? argv[1] : "");
  }
  Reporter reporter(quiet ? Verbosity::kQuiet : Verbosity::kNormal);
  for (const Command& command : commands) {
    if (command.parser->parsed()) return static_cast<int>(command.run(reporter));
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
