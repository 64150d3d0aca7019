// Printing to stderr and stdout; see reporter.h.
#include "compiler/cli/reporter.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "compiler/base/text.h"

namespace etch::cli {

namespace {

// The length of the well-formed UTF-8 character that `text` starts with; 0 if there is none, or one
// that a terminal obeys instead of showing it: C0, C1, line and paragraph separators, directions.
std::size_t harmless_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || size > text.size()) return 0;
  std::uint32_t code = first & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
  const bool obeyed = code < 0xa0 || code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
                      (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
                      code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) || code >= 0xe0000;
  return obeyed ? 0 : size;
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
