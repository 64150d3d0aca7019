// Collecting and printing of diagnostics; see diagnostic.h.
#include "compiler/diag/diagnostic.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/text.h"

namespace etch {

std::string_view code_of(DiagKind kind) {
  switch (kind) {
#define ETCH_DIAG_KIND(id, code, meaning) \
  case DiagKind::id:                      \
    return code;
#include "compiler/diag/kinds.def"
#undef ETCH_DIAG_KIND
  }
  ETCH_CHECK(false);
}

namespace {
std::string_view word_of(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  ETCH_CHECK(false);
}
}  // namespace

std::string format(const Diagnostic& diagnostic, std::string_view file) {
  const std::string where = diagnostic.location.empty() ? "" : cat(diagnostic.location, ": ");
  return cat(file, ": ", word_of(diagnostic.severity), "[", code_of(diagnostic.kind), "]: ", where,
             diagnostic.message);
}

void Sink::report(Diagnostic diagnostic) {
  // A hostile file can have a million faults.
  std::size_t& count = diagnostic.severity == Severity::kError ? errors_ : others_;
  if (++count <= kMost) diagnostics_.push_back(std::move(diagnostic));
}

void Sink::error(DiagKind kind, std::string location, std::string message) {
  report({Severity::kError, kind, -1, std::move(location), std::move(message)});
}

void Sink::warning(DiagKind kind, std::string location, std::string message) {
  report({Severity::kWarning, kind, -1, std::move(location), std::move(message)});
}

void Sink::note(DiagKind kind, std::string location, std::string message) {
  report({Severity::kNote, kind, -1, std::move(location), std::move(message)});
}

std::vector<Diagnostic> Sink::sorted() const {
  std::size_t places = kMost - std::min(errors_, kMost);  // that errors leave to others
  std::vector<Diagnostic> out;
  for (const Diagnostic& each : diagnostics_) {
    const bool is_error = each.severity == Severity::kError;
    if (!is_error && places == 0) continue;
    if (!is_error) --places;
    out.push_back(each);
  }
  std::stable_sort(out.begin(), out.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.node_index < b.node_index;
  });
  const std::size_t more = errors_ + others_ - out.size();
  if (more > 0) out.back().message += cat(" (and ", more, " more diagnostics)");
  return out;
}

}  // namespace etch
