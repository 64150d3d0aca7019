// Compiles the corpus of hostile and odd model files, when it is beside this repository
// (../shared/corpus): what must be refused is refused with the right class, what must compile gets
// through, and nothing crashes or hangs. manifest.tsv says which is which. tools/corpus-check does
// the same with the program, measures it, and runs what compiles.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/import/file.h"
#include "tests/support/paths.h"

namespace etch {
namespace {

const std::filesystem::path kCorpus =
    std::filesystem::path(source_dir()) / ".." / "shared" / "corpus";

struct Row {
  std::string file;
  std::string expect;  // "reject", "compile", "reject-or-compile", "compile-or-E-LIMIT" ...
  std::set<std::string> classes;
};

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> out(1);
  for (const char c : line) {
    if (c == separator) {
      out.emplace_back();
    } else {
      out.back().push_back(c);
    }
  }
  return out;
}

std::vector<Row> read_manifest() {
  std::vector<Row> rows;
  std::ifstream file(kCorpus / "manifest.tsv");
  std::string line;
  std::getline(file, line);  // the header
  while (std::getline(file, line)) {
    const auto fields = split(line, '\t');
    Row row{fields.at(0), fields.at(1), {fields.at(2)}};
    for (const auto& allowed : split(fields.at(3), ' ')) row.classes.insert(allowed);
    rows.push_back(row);
  }
  return rows;
}

struct Outcome {
  std::set<std::string> classes;  // of the errors
  std::string report;
};

Outcome run(const std::string& file) {
  Sink sink;
  CompileOptions options;
  options.target = "scalar";
  options.import.external_data = (kCorpus / "bad").string();
  const auto bytes = read_model_file((kCorpus / file).string(), options.import.limits, sink);
  std::unique_ptr<Program> program;
  if (bytes) program = compile(*bytes, options, sink);
  EXPECT_NE(program != nullptr, sink.has_errors()) << file << " was refused without a reason";
  Outcome out;
  for (const Diagnostic& diagnostic : sink.sorted()) {
    const std::string line = format(diagnostic, file);
    EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) { return c >= 32 && c < 127; }))
        << "a diagnostic of " << file << " is not printable";
    if (diagnostic.severity != Severity::kError) continue;
    out.classes.insert(std::string(code_of(diagnostic.kind)));
    if (out.report.size() < 2000) out.report += line + "\n";
  }
  // Only so many diagnostics are shown: an error must be among them.
  EXPECT_NE(program != nullptr, !out.classes.empty()) << "no error is shown of " << file;
  return out;
}

bool intersects(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& item) { return b.count(item) != 0; });
}

std::string joined(const std::set<std::string>& items) {
  std::string out;
  for (const auto& item : items) out += " " + item;
  return out;
}

// Files that were written when there was no code for what they hold, and there is now.
bool is_compiled_now(const std::string& file) {
  return file == "bad/041_if_subgraph.onnx";  // an If at run time
}

void check(const Row& row) {
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = run(row.file);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 5.0) << row.file << " took too long";
  const bool refused = !outcome.classes.empty();
  if (is_compiled_now(row.file)) {
    EXPECT_FALSE(refused) << outcome.report;
  } else if (row.expect == "reject") {
    EXPECT_TRUE(refused) << row.file << " is not refused";
  } else if (row.expect == "compile") {
    EXPECT_FALSE(refused) << outcome.report;
  } else if (refused && row.expect.rfind("compile-or-", 0) == 0) {
    const std::string allowed = row.expect.substr(std::string("compile-or-").size());
    EXPECT_TRUE(outcome.classes.count(allowed) != 0) << outcome.report;
  }
  if (refused && row.expect.rfind("reject", 0) == 0 && !is_compiled_now(row.file)) {
    EXPECT_TRUE(intersects(outcome.classes, row.classes))
        << "expected one of" << joined(row.classes) << ", got\n"
        << outcome.report;
  }
}

TEST(Corpus, EveryFileIsRefusedWithTheRightClassOrGetsThrough) {
  if (!std::filesystem::exists(kCorpus / "manifest.tsv")) {
    GTEST_SKIP() << "no corpus at " << kCorpus.string();
  }
  const std::vector<Row> rows = read_manifest();
  ASSERT_GT(rows.size(), 100U);
  for (const Row& row : rows) check(row);
}

}  // namespace
}  // namespace etch
