// See checks.h.
#include "fuzz/checks.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "compiler/base/text.h"
#include "fuzz/finding.h"
#include "fuzz/lexer.h"
#include "fuzz/mutator.h"

namespace etch::fuzz {

namespace {

constexpr std::size_t kLongestDiagnostic = 1000;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_code(std::string_view path) {
  return ends_with(path, ".h") || ends_with(path, ".cc") || ends_with(path, ".cpp");
}

// Files of weights alone.
bool has_weights(std::string_view path) {
  return ends_with(path, ".cc") && path.find("_weights_") != std::string_view::npos;
}

// Reports show names of the model, escaped; nothing else may. Weights can be the bytes of a name:
// they are numbers or escaped literals, which the lexer reads.
bool may_name(std::string_view path) {
  return ends_with(path, "report.json") || ends_with(path, "report.html") || has_weights(path);
}

// Files that do not depend on the model (runtime and vocabulary) are the same each time.
bool is_known(const OutputFile& file) {
  static std::unordered_set<std::string> known;
  constexpr std::size_t kMost = 500;
  if (file.path.rfind("etch/", 0) != 0 && file.path.find("/etch/") == std::string::npos)
    return false;
  if (known.size() > kMost) known.clear();
  return !known.insert(file.content).second;
}

void check_file(const OutputFile& file) {
  if (ends_with(file.path, ".bin")) return;
  const bool is_page = ends_with(file.path, ".html");  // its own text is UTF-8
  const bool has_tabs = ends_with(file.path, "Kconfig");
  for (const char c : file.content) {
    if (c != '\n' && (c < 0x20 || c > 0x7e) && !(is_page && c < 0) && !(has_tabs && c == '\t'))
      finding(cat(file.path, " has the character ", static_cast<int>(c)));
  }
  if (!may_name(file.path) && file.content.find(kHostileMark) != std::string::npos)
    finding(cat(file.path, " has a name of the model"));
  if (!is_code(file.path)) return;
  const std::string fault = fault_of_code(file.content);
  if (!fault.empty()) finding(cat(file.path, ": ", fault));
}

}  // namespace

void check_diagnostics(const Sink& sink, bool refused) {
  if (refused != sink.has_errors())
    finding(refused ? "refused without an error" : "accepted with errors");
  const std::vector<Diagnostic> shown = sink.sorted();
  // Only so many are shown: of what is counted an error must be among them.
  const auto is_error = [](const Diagnostic& each) { return each.severity == Severity::kError; };
  if (refused && std::none_of(shown.begin(), shown.end(), is_error))
    finding("refused, but no error is shown");
  for (const Diagnostic& diagnostic : shown) {
    const std::string line = format(diagnostic, "model");
    if (line.size() > kLongestDiagnostic)
      finding(cat("a diagnostic has ", line.size(), " characters: ", line.substr(0, 200)));
    if (!std::all_of(line.begin(), line.end(), [](char c) { return c >= 0x20 && c < 0x7f; }))
      finding("a diagnostic is not one line of printable ASCII: " + line);
  }
}

void check_files(const std::vector<OutputFile>& files) {
  std::set<std::string_view> paths;
  for (const OutputFile& file : files) {
    if (!paths.insert(file.path).second) finding(cat("two files at ", file.path));
    if (!is_known(file)) check_file(file);
  }
}

}  // namespace etch::fuzz
