// Printing to stderr and stdout; see reporter.h.
#include "compiler/cli/reporter.h"

#include <algorithm>
#include <cstdio>

#include "compiler/base/text.h"

namespace etch::cli {

std::string one_line(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out.push_back(c);
    }
  }
  return out;
}

void print_error_line(std::string_view text) {
  const std::string line = cat(text, '\n');
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void print_line(std::string_view text) {
  const std::string line = cat(text, '\n');
  std::fwrite(line.data(), 1, line.size(), stdout);
}

void Reporter::fail(ExitCode code) {
  if (code_ == ExitCode::kOk) code_ = code;
}

void Reporter::diagnostics(const Sink& sink, std::string_view file) {
  const std::vector<Diagnostic> all = sink.sorted();
  for (const Diagnostic& diagnostic : all) {
    if (quiet() && diagnostic.severity != Severity::kError) continue;
    print_error_line(format(diagnostic, one_line(file)));
  }
  if (!sink.has_errors()) return;
  const bool io = std::any_of(all.begin(), all.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::kError && diagnostic.kind == DiagKind::kIo;
  });
  fail(io ? ExitCode::kIo : ExitCode::kRefused);
}

void Reporter::usage_error(std::string_view what) {
  print_error_line(cat("etch: ", one_line(what)));
  fail(ExitCode::kUsage);
}

void Reporter::io_error(std::string_view path, std::string_view what) {
  Diagnostic diagnostic;
  diagnostic.kind = DiagKind::kIo;
  diagnostic.message = one_line(what);
  print_error_line(format(diagnostic, one_line(path)));
  fail(ExitCode::kIo);
}

void Reporter::internal_error(std::string_view what) {
  print_error_line(cat("etch: internal error: ", one_line(what)));
  fail(ExitCode::kInternal);
}

}  // namespace etch::cli
