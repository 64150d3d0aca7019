// Differences between recordings, in words.
#include "compiler/golden/compare.h"

#include <gtest/gtest.h>

#include "compiler/base/text.h"

namespace etch::cli {
namespace {

std::string hash(char digit) { return std::string(64, digit); }

GoldenTarget example() {
  GoldenTarget target;
  target.arena_bytes = 1000;
  target.weight_bytes = 5000;
  target.code_bytes = 2000;
  target.stack_bytes = 100;
  target.compiler = "g++ 12";
  target.files = {{"net.cc", {10, hash('1')}}, {"report.html", {20, hash('2')}}};
  target.steps = {{"n1_conv", "a convolution", hash('3'), {64, hash('4')}, 400},
                  {"n2_pool", "a pooling", hash('5'), {0, hash('6')}, 100}};
  return target;
}

using Lines = std::vector<std::string>;

TEST(GoldenCompare, SaysNothingOfEqualTargets) {
  const TargetChange change = explain(example(), example());
  EXPECT_EQ(change.lines, Lines());
  EXPECT_FALSE(change.code);
  EXPECT_EQ(change.growth, 0);
}

TEST(GoldenCompare, NamesFilesStepsAndSizes) {
  GoldenTarget now = example();
  now.files = {{"net.cc", {12, hash('9')}}, {"report.html", {21, hash('9')}}, {"new.h", {1, ""}}};
  now.steps[0].code_sha256 = hash('9');
  now.steps[0].code_bytes = 390;
  now.steps[0].constants = {70, hash('9')};
  now.steps[1].name = "n3_pool";
  now.arena_bytes = 1100;
  now.code_bytes = 1500;
  const TargetChange change = explain(example(), now);
  EXPECT_EQ(change.lines,
            (Lines{"files that changed: net.cc (10 -> 12 bytes)", "files that are new: new.h",
                   "reports that changed: report.html (20 -> 21 bytes)",
                   "step n1_conv (a convolution): code 400 -> 390 bytes, constants 64 -> 70 bytes",
                   "steps that are new: n3_pool (a pooling)", "steps that are gone: n2_pool",
                   "arena 1,000 -> 1,100 bytes (+10.0 %)", "code 2,000 -> 1,500 bytes (-25.0 %)"}));
  EXPECT_TRUE(change.code);
  EXPECT_NEAR(change.growth, 10, 1e-9);
}

TEST(GoldenCompare, AReportAloneIsNoChangeOfCode) {
  GoldenTarget now = example();
  now.files["report.html"].sha256 = hash('9');
  const TargetChange change = explain(example(), now);
  EXPECT_EQ(change.lines.size(), 1U);
  EXPECT_FALSE(change.code);
}

TEST(GoldenCompare, AFileThatIsGoneIsAChangeOfCode) {
  GoldenTarget now = example();
  now.files.erase("net.cc");
  const TargetChange change = explain(example(), now);
  EXPECT_EQ(change.lines, Lines{"files that are gone: net.cc"});
  EXPECT_TRUE(change.code);
}

TEST(GoldenCompare, SizesOfCodeAreOfOneCompilerOrNotCompared) {
  GoldenTarget now = example();
  now.compiler = "g++ 13";
  now.code_bytes = 9999;
  now.stack_bytes = 9999;
  now.steps[0].code_bytes = 9999;
  const TargetChange change = explain(example(), now);
  EXPECT_EQ(change.lines,
            Lines{"code and stack cannot be compared: recorded with g++ 12, here is g++ 13"});
  EXPECT_FALSE(change.code);
  EXPECT_EQ(change.growth, 0);
}

TEST(GoldenCompare, SizesThatWereNotBuiltAreNotCompared) {
  GoldenTarget now = example();
  now.compiler.clear();
  now.code_bytes.reset();
  now.stack_bytes.reset();
  EXPECT_EQ(explain(example(), now).lines, Lines());
}

TEST(GoldenCompare, AStackThatGrowsCounts) {
  GoldenTarget now = example();
  now.stack_bytes = 150;
  const TargetChange change = explain(example(), now);
  EXPECT_EQ(change.lines, Lines{"stack 100 -> 150 bytes (+50.0 %)"});
  EXPECT_NEAR(change.growth, 50, 1e-9);
}

TEST(GoldenCompare, ListsAreCut) {
  GoldenTarget now = example();
  for (int i = 10; i < 22; ++i) now.files[cat("file_", i)] = {1, hash('1')};
  const TargetChange change = explain(example(), now);
  ASSERT_EQ(change.lines.size(), 1U);
  EXPECT_NE(change.lines[0].find("file_17 and 4 more"), std::string::npos) << change.lines[0];
}

TEST(GoldenCompare, NamesOutputsThatDiffer) {
  const std::vector<GoldenSample> then = {
      {std::nullopt, {{"a", "int8[2]", hash('1')}, {"b", "int8[2]", hash('2')}}},
      {std::nullopt, {{"a", "int8[2]", hash('3')}, {"b", "int8[2]", hash('4')}}}};
  EXPECT_EQ(explain_outputs(then, then), Lines());
  std::vector<GoldenSample> now = then;
  now[0].outputs[1].sha256 = hash('9');
  now[1].outputs[0].type = "int8[3]";
  EXPECT_EQ(explain_outputs(then, now),
            (Lines{"sample 0, output 1 'b': other values",
                   "sample 1, output 0 'a': is int8[3] instead of int8[2]"}));
  now[0].outputs.pop_back();
  EXPECT_EQ(explain_outputs(then, now)[0], "sample 0: 1 outputs instead of 2");
  now = then;
  for (GoldenSample& sample : now) sample.outputs.clear();  // not run
  EXPECT_EQ(explain_outputs(then, now), Lines());
}

}  // namespace
}  // namespace etch::cli
