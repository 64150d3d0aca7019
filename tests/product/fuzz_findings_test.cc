// Every file that fuzzing has kept gets a diagnostic or compiles: tests/data/fuzz has the smallest
// form of each finding, with the options that it needs (fuzz/options.h). Also tests what the
// fuzzing programs look for in generated text.
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include "compiler/compile.h"
#include "compiler/import/file.h"
#include "fuzz/checks.h"
#include "fuzz/finding.h"
#include "fuzz/lexer.h"
#include "fuzz/options.h"
#include "tests/support/paths.h"

namespace etch {

// The tests' own: the fuzzing programs' ends the process.
void fuzz::finding(std::string_view what) { throw std::runtime_error(std::string(what)); }

namespace {

std::string bytes_of(const std::filesystem::path& file) {
  Sink sink;
  return read_file(file.string(), Limits{}.file_bytes, "", sink).value_or("");
}

// A diagnostic or code, and in time: several findings took minutes. Each takes milliseconds now;
// CPU time, as other work on the machine is not the model's fault, and as much as corpus_test.cc
// allows, for builds with sanitizers.
void run(const std::string& model, const fuzz::Request& request) {
  const std::clock_t start = std::clock();
  Sink sink;
  const std::unique_ptr<Program> program = compile(model, request.compile, sink);
  EXPECT_NO_THROW(fuzz::check_diagnostics(sink, program == nullptr));
  if (program != nullptr) {
    EXPECT_NO_THROW(fuzz::check_files(fuzz::files_of(*program, request)));
  }
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 5.0) << "took too long";
}

TEST(FuzzFindings, EveryFileKeptFromFuzzingGetsADiagnosticOrCompiles) {
  const auto folder = std::filesystem::path(source_dir()) / "tests/data/fuzz";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().filename().string());
    const std::string model = bytes_of(entry.path());
    ASSERT_FALSE(model.empty());
    fuzz::Request request = fuzz::request_of(model);
    run(model, request);  // within the limits of fuzzing, where it was found
    request.compile.import.limits = Limits{};
    SCOPED_TRACE("within the usual limits");
    run(model, request);
    ++files;
  }
  EXPECT_GT(files, 0);
}

TEST(FuzzFindings, TextThatGotOutOfACommentOrAStringIsSeen) {
  EXPECT_EQ(fuzz::fault_of_code("// a (b\nint f() { return '\"'; } /* [ */\n"), "");
  EXPECT_EQ(fuzz::fault_of_code("asm(R\"x( { )\" )x\");  // 1'000\nint n = 1'000;\n"), "");
  EXPECT_EQ(fuzz::fault_of_code("/* a */ b */\n"), "ends a comment that is not open at line 1");
  EXPECT_EQ(fuzz::fault_of_code("int a;\n/* b\n"), "has an open comment at line 2");
  EXPECT_EQ(fuzz::fault_of_code("// a\\\nint b;\n"),
            "has a comment that continues on the next line at line 1");
  EXPECT_EQ(fuzz::fault_of_code("const char* a = \"b\n\";\n"), "has an open string at line 1");
  EXPECT_EQ(fuzz::fault_of_code("int f() { (; }\n"), "closes a bracket that is not open at line 1");
  EXPECT_EQ(fuzz::fault_of_code("int f() {\n"), "ends within brackets at line 2");
  EXPECT_EQ(fuzz::fault_of_code("// a?\?/\n"), "may hold a trigraph");
}

TEST(FuzzFindings, GeneratedTextWithANameOfTheModelIsAFinding) {
  EXPECT_NO_THROW(fuzz::check_files({{"a.cc", "int a;\n", {}}, {"report.json", "Qz9x", {}}}));
  EXPECT_THROW(fuzz::check_files({{"a.cc", "// Qz9x\n", {}}}), std::runtime_error);
  EXPECT_THROW(fuzz::check_files({{"a.cc", "int a;\xE2\n", {}}}), std::runtime_error);
  EXPECT_THROW(fuzz::check_files({{"a.cc", "", {}}, {"a.cc", "", {}}}), std::runtime_error);
}

}  // namespace
}  // namespace etch
