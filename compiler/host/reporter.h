// Everything a command tells its user that is not its result: diagnostics of a model, failures of
// files and programs, defects of ours. All of it goes to stderr, one line each. The reporter also
// remembers what went wrong first, so that functions only return "no result" and the command
// returns exit_code().
#pragma once

#include <string>
#include <string_view>

#include "compiler/diag/diagnostic.h"
#include "compiler/host/exit_code.h"

namespace etch::cli {

enum class Verbosity { kNormal, kQuiet };  // quiet: errors and results only

class Reporter {
 public:
  explicit Reporter(Verbosity verbosity) : verbosity_(verbosity) {}

  bool quiet() const { return verbosity_ == Verbosity::kQuiet; }
  bool failed() const { return code_ != ExitCode::kOk; }
  // What the first failure stands for; kOk without one.
  ExitCode exit_code() const { return code_; }

  // Prints all diagnostics of the model in `file` (quiet: only errors).
  void diagnostics(const Sink& sink, std::string_view file);
  // "etch: WHAT"
  void usage_error(std::string_view what);
  // "PATH: error[E-IO]: WHAT"
  void io_error(std::string_view path, std::string_view what);
  // "etch: internal error: WHAT"
  void internal_error(std::string_view what);

 private:
  void fail(ExitCode code);

  Verbosity verbosity_;
  ExitCode code_ = ExitCode::kOk;
};

// `text` on one line: control characters, those that turn the direction of text, and what is no
// UTF-8 become \xNN. Unlike printable(), for text that the user gave (paths), so nothing is cut and
// other UTF-8 stays.
std::string one_line(std::string_view text);

// Prints `text` and a newline, as one write.
void print_error_line(std::string_view text);
void print_line(std::string_view text = {});

}  // namespace etch::cli
