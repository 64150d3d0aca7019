// What is kept of very many diagnostics: the errors, in order of nodes.
#include "compiler/diag/diagnostic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace etch {
namespace {

void report(Sink& sink, Severity severity, int node, const std::string& message) {
  sink.report({severity, DiagKind::kGraph, node, "", message});
}

TEST(Sink, SortsByNodeAndThenByReport) {
  Sink sink;
  report(sink, Severity::kError, 2, "c");
  report(sink, Severity::kWarning, 1, "a");
  report(sink, Severity::kError, 1, "b");
  std::string said;
  for (const Diagnostic& each : sink.sorted()) said += each.message;
  EXPECT_EQ(said, "abc");
}

TEST(Sink, KeepsAnErrorBehindManyWarnings) {
  Sink sink;
  for (int i = 0; i < 150; ++i) report(sink, Severity::kWarning, i, "stale");
  report(sink, Severity::kError, 150, "wrong");
  const auto kept = sink.sorted();
  ASSERT_EQ(kept.size(), 100U);
  EXPECT_EQ(kept.back().severity, Severity::kError);
  EXPECT_EQ(kept.back().message, "wrong (and 51 more diagnostics)");
}

TEST(Sink, KeepsErrorsRatherThanOthersAndCountsTheRest) {
  Sink sink;
  for (int i = 0; i < 1'000; ++i) {
    report(sink, Severity::kNote, i, "note");
    report(sink, Severity::kError, i, "error");
  }
  const auto kept = sink.sorted();
  ASSERT_EQ(kept.size(), 100U);
  EXPECT_TRUE(std::all_of(kept.begin(), kept.end(), [](const Diagnostic& each) {
    return each.severity == Severity::kError;
  }));
  EXPECT_EQ(kept.back().message, "error (and 1900 more diagnostics)");
  EXPECT_EQ(sink.error_count(), 1'000U);
}

TEST(Sink, SaysNothingOfMoreWhereThereIsNone) {
  Sink sink;
  for (int i = 0; i < 100; ++i) report(sink, Severity::kError, i, "error");
  EXPECT_EQ(sink.sorted().back().message, "error");
}

}  // namespace
}  // namespace etch
