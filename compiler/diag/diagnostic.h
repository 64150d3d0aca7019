// Diagnostics: what a user is told about a model. They are collected (all faults of a model are
// reported, not just the first) and printed one per line as
//   FILE: error[E-CLASS]: node 'NAME' (Op) attribute 'a': what, expected X, got Y
// Text that comes from the model is passed through printable() by the Sink.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace etch {

enum class DiagKind {
#define ETCH_DIAG_KIND(id, code, meaning) id,
#include "compiler/diag/kinds.def"
#undef ETCH_DIAG_KIND
};

// "E-SHAPE" and the like.
std::string_view code_of(DiagKind kind);

enum class Severity { kError, kWarning, kNote };

struct Diagnostic {
  Severity severity = Severity::kError;
  DiagKind kind = DiagKind::kGraph;
  int node_index = -1;   // position in the file, for sorting; -1: about the model as a whole
  std::string location;  // "node 'conv1' (Conv) attribute 'strides'", already printable
  std::string message;   // "must be >= 1, got 0"
  // The input of the model that would have to be a constant, and its number in test data.
  std::string input = {};
  int input_file = -1;  // none
};

// One line without the newline: "FILE: error[E-ATTR]: LOCATION: MESSAGE".
std::string format(const Diagnostic& diagnostic, std::string_view file);

// Collects diagnostics. Not thread-safe.
class Sink {
 public:
  void report(Diagnostic diagnostic);
  void error(DiagKind kind, std::string location, std::string message);
  void warning(DiagKind kind, std::string location, std::string message);
  void note(DiagKind kind, std::string location, std::string message);

  bool has_errors() const { return errors_ > 0; }
  std::size_t error_count() const { return errors_; }
  // In order of node, then of report. At most 100, errors rather than others; the last says how
  // many more there were.
  std::vector<Diagnostic> sorted() const;

 private:
  static constexpr std::size_t kMost = 100;
  std::vector<Diagnostic> diagnostics_;  // the first kMost errors, and as many others
  std::size_t errors_ = 0, others_ = 0;  // all that were reported
};

// Thrown inside compiler/ to leave a stage whose diagnostics are already in the Sink.
// Only compile() catches it.
struct CompileError : std::runtime_error {
  CompileError() : std::runtime_error("model refused") {}
};

}  // namespace etch
