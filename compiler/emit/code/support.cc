// The vocabulary and the runtime that generated code is delivered with; see parts.h.
#include <algorithm>
#include <set>

#include "compiler/base/embedded.h"
#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/stage/recorder.h"

namespace etch {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// "etch_float.h" of the line `#include "etch_float.h"`, or nothing.
std::string_view quoted_include(std::string_view line) {
  constexpr std::string_view kInclude = "#include \"";
  if (!starts_with(line, kInclude)) return {};
  line.remove_prefix(kInclude.size());
  return line.substr(0, line.find('"'));
}

// The header `name` of the runtime, or one that several vocabularies share.
std::string_view header_text(std::string_view name) {
  const std::string shared = cat("templates/isa/shared/", name);
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.path == shared) return file.text;
  }
  return embedded_file(cat("runtime/", name));
}

// Adds the header at `path` after the headers that it needs itself.
void add_header(std::vector<OutputFile>& files, const std::string& path, std::string_view text) {
  for (const std::string_view line : lines_of(text)) {
    const std::string_view name = quoted_include(line);
    if (name.empty()) continue;
    const std::string needed = cat("etch/", name);
    const bool known = std::any_of(files.begin(), files.end(),
                                   [&](const OutputFile& file) { return file.path == needed; });
    if (!known) add_header(files, needed, header_text(name));
  }
  files.push_back({.path = path, .content = std::string(text), .as_is = true});
}

// A header without its guard and its includes of other pieces; a system header is included once.
std::string pasted(std::string_view text, std::set<std::string_view>& included) {
  std::string out;
  int depth = 0;  // of #if: lines inside may not be compiled
  for (const std::string_view line : lines_of(text)) {
    depth += starts_with(line, "#if") ? 1 : 0;
    depth -= starts_with(line, "#endif") ? 1 : 0;
    if (starts_with(line, "#pragma once") || !quoted_include(line).empty()) continue;
    const bool is_include = starts_with(line, "#include <") && depth == 0;
    if (is_include && !included.insert(line).second) continue;
    out += line;
  }
  return out;
}

}  // namespace

std::vector<std::string> runtime_headers(const Program& program) {
  std::set<std::string_view> more;
  for (const auto& step : program.steps) {
    if (step->shares_code()) continue;
    Recorder recorder(*step);
    recorder.set_isa(program.isa);
    step->run(recorder);
    more.insert(recorder.headers().begin(), recorder.headers().end());
  }
  more.erase(kOpsHeader);
  std::vector<std::string> out{std::string(kOpsHeader)};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

std::string_view runtime_header(std::string_view name) {
  return embedded_file(cat("runtime/", name));
}

std::vector<OutputFile> support_files(const EmitContext& context) {
  const Program& program = context.program;
  std::vector<OutputFile> files;
  for (const std::string& name : context.headers) {
    const std::string path = cat("etch/", name);
    const bool known = std::any_of(files.begin(), files.end(),
                                   [&](const OutputFile& file) { return file.path == path; });
    if (!known) add_header(files, path, embedded_file(cat("runtime/", name)));
  }
  const std::string vocab = cat("templates/isa/", program.isa.verbs(), "/vocab.h");
  add_header(files, cat("etch/", context.vocabulary), embedded_file(vocab));
  return files;
}

std::string support_text(const std::string& header) {
  std::set<std::string_view> included;
  return cat("// ==== etch/", header, " ====\n\n", pasted(runtime_header(header), included), "\n");
}

std::vector<OutputFile> thread_files(const Program& program) {
  std::vector<OutputFile> files;
  if (program.shares > 1) {
    add_header(files, "etch/etch_thread_pool.h", embedded_file("runtime/etch_thread_pool.h"));
  }
  return files;
}

std::string support_text(const EmitContext& context) {
  // clang reports inline functions that nobody calls if they are outside a header.
  std::string out =
      "#if defined(__clang__)\n#pragma clang diagnostic push\n"
      "#pragma clang diagnostic ignored \"-Wunused-function\"\n#endif\n\n";
  std::set<std::string_view> included;
  const std::vector<OutputFile> files = support_files(context);
  for (const OutputFile& file : files) {
    out += cat("// ==== ", file.path, " ====\n\n", pasted(file.content, included), "\n");
  }
  return out + "#if defined(__clang__)\n#pragma clang diagnostic pop\n#endif\n\n";
}

}  // namespace etch
