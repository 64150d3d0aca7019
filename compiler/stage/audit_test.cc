// What Audit finds and counts.
#include "compiler/stage/audit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/program/constants.h"
#include "compiler/stage/recorder.h"
#include "compiler/stage/staged_step_impl.h"
#include "templates/external/move.h"
#include "templates/isa/avx2/traits.h"
#include "templates/isa/scalar/traits.h"
#include "tests/support/tiny_program.h"

namespace etch {
namespace {

AuditResult audit_step(const Program& program, std::size_t step) {
  return audit(*program.steps[step], program.isa, extents_of(program, *program.steps[step]));
}

testing::MaskStep& mask_of(Program& program) {
  return static_cast<testing::MaskStep&>(*program.steps[0]);
}

TEST(Audit, AcceptsAccessesInsideTheirMemory) {
  for (const IsaTraits& isa : {isa::k_scalar, isa::k_avx2}) {
    const Program program = testing::tiny_program(isa);
    EXPECT_TRUE(audit_step(program, 0).findings.empty());
    EXPECT_TRUE(audit_step(program, 1).findings.empty());
    Sink sink;
    audit_program(program, {}, sink);
  }
}

TEST(Audit, FindsALoopThatRunsOneIterationTooFar) {
  Program program = testing::tiny_program(isa::k_scalar);
  mask_of(program).extra_blocks = 1;
  const AuditResult result = audit_step(program, 0);
  ASSERT_EQ(result.findings.size(), 2U);
  EXPECT_EQ(result.findings[0], "n00_mask: load_bytes: x reads bytes [0, 260) of [0, 256)");
  EXPECT_EQ(result.findings[1], "n00_mask: store_bytes: y writes bytes [0, 260) of [-64, 256)");
}

TEST(Audit, AllowsReadingButNotWritingTheArenasSlack) {
  Program program = testing::tiny_program(isa::k_scalar);
  program.buffers[1].bytes -= kArenaSlack;
  EXPECT_TRUE(audit_step(program, 1).findings.empty()) << "n01 reads it";
  EXPECT_FALSE(audit_step(program, 0).findings.empty()) << "n00 writes it";
  program.buffers[1].bytes -= 1;
  EXPECT_FALSE(audit_step(program, 1).findings.empty());
}

TEST(Audit, FindsReadsBehindAConstant) {
  Program program = testing::tiny_program(isa::k_scalar);
  program.steps[1]->constants[0].bytes.resize(252);
  ASSERT_EQ(audit_step(program, 1).findings.size(), 1U);
}

TEST(Audit, FindsMisalignedVectors) {
  Program program = testing::tiny_program(isa::k_avx2);
  program.isa.alignment = 16;
  const AuditResult result = audit_step(program, 1);
  // All constants are aligned alike: those of weights are found, too.
  ASSERT_EQ(result.findings.size(), 2U);
  EXPECT_EQ(
      std::ranges::count(result.findings, "n01_sum: load_i32: bias needs alignment 32, has 16"), 1);
}

// Loads two vectors of a constant, some elements apart.
class WalkStep : public StagedStep<WalkStep> {
 public:
  template <class S>
  void kernel(S& s) const {
    const auto bias = s.template constant<const std::int32_t>("bias");
    s.loop("i", 2, [&](const typename S::Index& i) { s.load_i32("v", bias + i * elements); });
  }
  int elements = 8;
};

TEST(Audit, FindsVectorsThatTheStepOfALoopMisaligns) {
  Program program = testing::tiny_program(isa::k_avx2);
  for (const int elements : {8, 4}) {
    auto step = std::make_unique<WalkStep>();
    step->elements = elements;
    step->constants = {int32_array("bias", std::vector<std::int32_t>(16), "")};
    program.steps.push_back(std::move(step));
    const AuditResult result = audit_step(program, program.steps.size() - 1);
    EXPECT_EQ(result.findings.empty(), elements == 8);
  }
}

TEST(Audit, FindsWritesToWhatIsDeclaredReadOnly) {
  Program program = testing::tiny_program(isa::k_scalar);
  program.steps[0]->operands[1].access = Access::kRead;
  EXPECT_EQ(audit_step(program, 0).findings.size(), 1U);
}

TEST(Audit, FindsOperandsUsedAsAnotherType) {
  Program program = testing::tiny_program(isa::k_scalar);
  program.steps[1]->operands[1].element = DType::kF32;
  const AuditResult result = audit_step(program, 1);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0], "n01_sum: pointer: y is float32, used as int32");
}

TEST(Audit, CountsStatementsAsTheRecorderPrintsThemAndExecutionsOfAllIterations) {
  const Program program = testing::tiny_program(isa::k_avx2);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    Recorder recorder(*program.steps[i]);
    recorder.set_isa(program.isa);
    program.steps[i]->run(recorder);
    EXPECT_EQ(audit_step(program, i).statements, recorder.statements());
  }
  const AuditResult result = audit_step(program, 1);
  EXPECT_EQ(result.executions.at("dot4"), 64);
  EXPECT_EQ(result.executions.at("load_i32"), 1);
  EXPECT_EQ(audit_step(program, 0).executions.at("store_bytes"), 8);
}

TEST(AuditDeathTest, AWrongAccessInAProgramIsADefectOfTheCompiler) {
  Program program = testing::tiny_program(isa::k_scalar);
  mask_of(program).extra_blocks = 1;
  Sink sink;
  EXPECT_DEATH(audit_program(program, {}, sink), "store_bytes: y writes bytes");
}

// Reads what is at one of the places in a constant of 8 bytes.
class PlacesStep : public StagedStep<PlacesStep> {
 public:
  template <class S>
  void kernel(S& s) const {
    const auto x = s.template operand<const std::uint8_t>(0);
    const auto places = s.template constant<const std::uint8_t>("places");
    s.repeat4_at("x", x, places + typename S::Index(first), reach);
  }
  int first = 0, reach = 8;
};

std::vector<std::string> findings_at(int first, int reach) {
  Program program = testing::tiny_program(isa::k_scalar);
  auto step = std::make_unique<PlacesStep>();
  step->first = first;
  step->reach = reach;
  step->operands = {{"x", 0, 0, DType::kU8, Access::kRead}};
  step->constants.push_back(byte_array("places", std::vector<std::byte>(8), ""));
  program.steps.push_back(std::move(step));
  return audit_step(program, program.steps.size() - 1).findings;
}

TEST(Audit, ChecksThePlaceOfBytesToo) {
  EXPECT_TRUE(findings_at(4, 256).empty());
  ASSERT_EQ(findings_at(5, 8).size(), 1U);
  EXPECT_NE(findings_at(5, 8)[0].find("places reads bytes [5, 9) of [0, 8)"), std::string::npos);
  ASSERT_EQ(findings_at(0, 257).size(), 1U);
  EXPECT_NE(findings_at(0, 257)[0].find("x reads bytes [0, 257)"), std::string::npos);
}

// Functions with nothing but loads.
class LongStep : public StagedStep<LongStep> {
 public:
  template <class S>
  void kernel(S& s) const {
    const auto x = s.template operand<const std::uint8_t>(0);
    for (int f = 0; f < functions; ++f) {
      s.inlined(
          cat("part", f),
          [&](const auto& p) {
            for (int i = 0; i < loads; ++i) s.load_bytes(Name("x").at("i", i), p);
          },
          std::pair{"x", x});
    }
  }
  int functions = 1, loads = 1;
};

std::string limit_on(int functions, int loads, const Limits& limits = {}) {
  Program program = testing::tiny_program(isa::k_scalar);
  auto step = std::make_unique<LongStep>();
  step->functions = functions;
  step->loads = loads;
  step->operands = {{"x", 0, 0, DType::kU8, Access::kRead}};
  program.steps.push_back(std::move(step));
  Sink sink;
  audit_program(program, limits, sink);
  return sink.has_errors() ? sink.sorted().front().message : "";
}

TEST(Audit, BoundsTheLengthOfAFunctionAndOfAllFunctionsOfAStep) {
  EXPECT_EQ(limit_on(1, 2000), "");
  EXPECT_EQ(limit_on(1, 2001),
            "its unrolled code would have 2001 statements in one function, at most "
            "2000; --limit function-statements=N raises this");
  EXPECT_EQ(limit_on(6, 1990), "");
  EXPECT_EQ(limit_on(7, 1990),
            "its unrolled code would have 13937 statements, at most 12000; "
            "--limit step-statements=N raises this");
}

TEST(Audit, TakesTheBoundsThatItIsGiven) {
  Limits limits;
  limits.function_statements = 2001;
  EXPECT_EQ(limit_on(1, 2001, limits), "");
  EXPECT_EQ(limit_on(1, 2002, limits),
            "its unrolled code would have 2002 statements in one function, at most "
            "2001; --limit function-statements=N raises this");
  limits.step_statements = 13937;
  EXPECT_EQ(limit_on(7, 1990, limits), "");
  limits.step_statements = 13936;
  EXPECT_EQ(limit_on(7, 1990, limits),
            "its unrolled code would have 13937 statements, at most 13936; "
            "--limit step-statements=N raises this");
}

// Calls a function that goes backwards from the last byte, so many bytes.
class BackwardStep : public StagedStep<BackwardStep> {
 public:
  template <class S>
  void kernel(S& s) const {
    s.call(external::CopySpread{}, s.template operand<const std::uint8_t>(0) + 255, -1,
           s.template operand<std::uint8_t>(1), 1, 1, bytes);
  }
  int bytes = 256;
};

TEST(Audit, ChecksWhatAnExternalFunctionReadsBeforeItsPointer) {
  Program program = testing::tiny_program(isa::k_scalar);
  for (const int bytes : {256, 257}) {
    auto step = std::make_unique<BackwardStep>();
    step->name = "n02_back";
    step->bytes = bytes;
    step->operands = program.steps[0]->operands;
    program.steps.push_back(std::move(step));
    const AuditResult result = audit_step(program, program.steps.size() - 1);
    EXPECT_EQ(result.findings.empty(), bytes == 256);
    if (bytes == 257) {
      EXPECT_EQ(result.findings[0], "n02_back: copy_spread: x reads bytes [-1, 256) of [0, 256)");
    }
    EXPECT_FALSE(result.uses_floats);
  }
}

TEST(Audit, KnowsVerbsThatGiveFloats) {
  const Program program = testing::tiny_program(isa::k_scalar);
  EXPECT_FALSE(audit_step(program, 0).uses_floats);
  EXPECT_TRUE(audit_step(program, 1).uses_floats);
}

TEST(AuditIndex, SpansNegativeFactorsAndKnowsItsSteps) {
  audited::Index loop;
  loop.last = 3;
  loop.step = 1;
  const audited::Index at = loop * -12 + audited::Index(40) + loop * 8;
  EXPECT_EQ(at.first, 40 - 36);
  EXPECT_EQ(at.last, 40 + 24);
  EXPECT_EQ(at.step, 4);
}

}  // namespace
}  // namespace etch
