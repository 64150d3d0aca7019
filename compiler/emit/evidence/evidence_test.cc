// What evidence says of a tiny program, and how it is written. Whether it is true is for
// tools/check-evidence, and whether that would notice for tests/evidence.
#include "compiler/emit/evidence/evidence.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "compiler/base/observation.h"
#include "compiler/base/sha256.h"
#include "compiler/emit/evidence/json_stream.h"
#include "compiler/emit/evidence/parts.h"
#include "compiler/schedule/memory.h"
#include "compiler/stage/access_log.h"
#include "templates/isa/scalar/traits.h"
#include "tests/support/tiny_program.h"

namespace etch {
namespace {

using Json = nlohmann::json;

Program planned_program() {
  Program program = testing::tiny_program(isa::k_scalar);
  plan_memory(program);
  return program;
}

TEST(JsonStream, EscapesAllButLettersDigitsAndAFewSigns) {
  JsonStream json;
  json.member("text", "a-Z 0'\"\\{}?\n\xE2\x80\xAE/");
  EXPECT_EQ(json.finish(),
            "{\n \"text\": \"a-Z "
            "0\\u0027\\u0022\\u005c\\u007b\\u007d\\u003f\\u000a\\u00e2\\u0080\\u00ae/\"\n}\n");
}

TEST(JsonStream, WritesListsObjectsAndEmptyOnes) {
  JsonStream json;
  json.list("list", std::vector<std::int64_t>{1, -2});
  json.array("none", [] {});
  json.object("inner", [&] { json.flag("flag", false); });
  EXPECT_EQ(Json::parse(json.finish()),
            Json::parse(R"({"list": [1, -2], "none": [], "inner": {"flag": false}})"));
  EXPECT_EQ(bits_of(1.0F), "0x3f800000");
}

TEST(AccessLog, NamesTheLoopsThatStillRun) {
  AccessLog log;
  log.enter(3, 1);
  log.add({"inner", 0, false, 0, 8, 4, 4, {}}, 3);
  log.enter(2, 3);
  log.add({"innermost", 0, false, 0, 8, 4, 4, {}}, 6);
  log.add({"after the inner loop", 0, false, 0, 8, 4, 4, {}}, 3);
  log.enter(5, 1);
  log.add({"in the next loop", 0, false, 0, 8, 4, 4, {}}, 5);
  log.add({"outside", 0, false, 0, 0, 0, 4, {}}, 1);
  log.add({"outside", 0, false, 0, 0, 0, 4, {}}, 1);
  using Loops = std::vector<std::int64_t>;
  ASSERT_EQ(log.records().size(), 5U);
  EXPECT_EQ(log.records()[0].loops, Loops{3});
  EXPECT_EQ(log.records()[1].loops, (Loops{3, 2}));
  EXPECT_EQ(log.records()[2].loops, Loops{3});
  EXPECT_EQ(log.records()[3].loops, Loops{5});
  EXPECT_EQ(log.records()[4].loops, Loops{});
}

TEST(Evidence, HashesWhatItSpeaksOfAndItsOwnParts) {
  const Program program = planned_program();
  const std::vector<OutputFile> files = emit(program, {});
  const std::vector<OutputFile> evidence = evidence_files(program, {}, files, {});
  EXPECT_EQ(evidence.front().path, kEvidenceMark);
  const Json manifest = Json::parse(evidence.front().content);
  ASSERT_EQ(manifest["generated"].size(), files.size());
  ASSERT_EQ(manifest["parts"].size() + 1, evidence.size());
  EXPECT_EQ(manifest["generated"][0]["sha256"], sha256_hex(files[0].content));
  EXPECT_EQ(manifest["parts"][3]["sha256"], sha256_hex(evidence[4].content));
  EXPECT_EQ(evidence_files(program, {}, files, {}).back().content, evidence.back().content);
}

TEST(Evidence, LeadsFromStepsToLines) {
  const Program program = planned_program();
  const std::vector<OutputFile> files = emit(program, {});
  const Json trace = Json::parse(trace_part({program, "model", files, {}}));
  ASSERT_EQ(trace["steps"].size(), 2U);
  EXPECT_EQ(trace["steps"][0]["symbol"], "_ZN5model5steps8n00_maskE");
  const Json code = trace["steps"][0]["code"];
  EXPECT_EQ(code["file"], "model_steps_0.cc");
  EXPECT_LT(code["lines"][0], code["lines"][1]);
}

TEST(Evidence, HasTheLeastAccumulatorOfEachResult) {
  const Program program = planned_program();
  CertificateLog log;
  StepCertificate certificate;
  certificate.out.zero_point = 10;
  certificate.out.low = 9;
  certificate.out.high = 12;
  certificate.channels = {{0.5F, -100, 100}, {0.5F, -1, 1}};
  log.add(*program.steps[0], certificate);
  const Json part = Json::parse(requantization_part({program, "model", {}, log}));
  const Json channels = part["steps"][0]["channels"];
  EXPECT_EQ(channels[0]["first"], 9);
  EXPECT_EQ(channels[0]["thresholds"], Json::parse("[-1, 2, 3]"));  // ties to even: 0.5 to 0
  EXPECT_EQ(channels[1]["first"], 10);
  EXPECT_EQ(channels[1]["thresholds"], Json::array());
}

TEST(Evidence, HasTheExactFactorsOf16Bits) {
  const Program program = planned_program();
  CertificateLog log;
  log.add(*program.steps[0], WordProductCertificate{3, {4, -5, 6}, 12, {{-7, 8, 9, 10, -11}}});
  log.add(*program.steps[1], WordSumCertificate{{{14, 12, 15}}, 13, 16, {17, 18, 19}});
  const Json steps = Json::parse(requantization_part({program, "model", {}, log}))["steps"];
  EXPECT_EQ(steps[0]["clamp"], Json::parse("[-5, 6]"));
  EXPECT_EQ(steps[0]["part"], 12);
  EXPECT_EQ(steps[0]["channels"][0],
            Json::parse(R"({"accumulators": [-7, 8], "factor": 9, "exponent": 10, "rest": -11})"));
  EXPECT_EQ(steps[1]["unit"], 13);
  EXPECT_EQ(steps[1]["terms"], Json::parse(R"([{"zero_point": 14, "part": 12, "factor": 15}])"));
}

TEST(Evidence, HasTheWindowsOfPoolsAndTheEntriesOfTables) {
  const Program program = planned_program();
  CertificateLog log;
  ConvAxis axis;
  axis.in = 9;
  axis.kernel = 2;
  axis.pad_end = 1;
  WindowCertificate windows;
  windows.geometry.axes = {axis};
  log.add(*program.steps[0], windows);
  TableCertificate table{"x", DType::kS8, DType::kU8, {}};
  table.entries[255] = 7;
  log.add(*program.steps[1], table);
  const Json steps = Json::parse(requantization_part({program, "model", {}, log}))["steps"];
  EXPECT_EQ(steps[0]["kind"], "maximum");
  EXPECT_EQ(steps[0]["windows"],
            Json::parse(R"([{"in": 9, "kernel": 2, "stride": 1, "dilation": 1, "pads": [0, 1],
                             "out": 1}])"));
  EXPECT_EQ(steps[1]["from"], "int8");
  EXPECT_EQ(steps[1]["entries"].size(), 256U);
  EXPECT_EQ(steps[1]["entries"][255], 7);
}

TEST(Evidence, HasTheNumbersOfFunctionsOf16Bits) {
  const Program program = planned_program();
  CertificateLog log;
  log.add(*program.steps[0], WordTableCertificate{"x", DType::kS16, 8, 1, 0, {5, 6}, {-7, 8}});
  const Json steps = Json::parse(requantization_part({program, "model", {}, log}))["steps"];
  EXPECT_EQ(steps[0]["kind"], "function of words");
  EXPECT_EQ(steps[0]["type"], "int16");
  EXPECT_EQ(steps[0]["steps"], 1);
  EXPECT_EQ(steps[0]["index"], Json::parse("[5, 6]"));
  EXPECT_EQ(steps[0]["cubics"], Json::parse("[-7, 8]"));
}

}  // namespace
}  // namespace etch
