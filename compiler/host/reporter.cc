// Printing to stderr and stdout; see reporter.h.
#include "compiler/host/reporter.h"

#include <algorithm>
#include <cstdio>

#include "compiler/base/text.h"
#include "compiler/host/colour.h"

namespace etch::cli {

namespace {

// The length of the character that `text` starts with; 0 if there is none, or one that a terminal
// obeys instead of showing it: C0, C1, line and paragraph separators, directions.
std::size_t harmless_character(std::string_view text) {
  const auto [size, code] = first_character(text);
  const bool obeyed = code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
                      (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
                      (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
                      (code >= 0xfff9 && code <= 0xfffb) || code >= 0xe0000;
  return obeyed ? 0 : size;
}

// As format() has it, with the severity and the class in the colour of the severity.
void print_diagnostic(const Diagnostic& diagnostic, std::string_view file) {
  constexpr Colour kColours[] = {Colour::kRed, Colour::kYellow, Colour::kCyan};
  const std::string text = format(diagnostic, file);
  const std::size_t from = file.size() + 2;  // "FILE: "
  const std::size_t to = text.find(':', from);
  print_error_line(cat(text.substr(0, from),
                       in_colour(text.substr(from, to - from),
                                 kColours[static_cast<int>(diagnostic.severity)], stderr),
                       text.substr(to)));
}

}  // namespace

std::string one_line(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  while (!text.empty()) {
    const std::size_t size = harmless_character(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (size > 0) out += text.substr(0, size);
    if (size == 0) out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    text.remove_prefix(std::max<std::size_t>(size, 1));
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
    print_diagnostic(diagnostic, one_line(file));
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
  print_diagnostic(diagnostic, one_line(path));
  fail(ExitCode::kIo);
}

void Reporter::internal_error(std::string_view what) {
  print_error_line(cat("etch: internal error: ", one_line(what)));
  fail(ExitCode::kInternal);
}

}  // namespace etch::cli
