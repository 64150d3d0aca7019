// Each rule of verify.h by a program that breaks it, and programs as compile() makes them.
#include "compiler/program/verify.h"

#include <gtest/gtest.h>

#include "templates/isa/scalar/traits.h"
#include "tests/support/tiny_program.h"

namespace etch {
namespace {

Program sound() { return testing::tiny_program(isa::k_scalar); }

void expect_fault(const Program& program, const std::string& words) {
  const std::vector<std::string> faults = faults_of(program);
  ASSERT_FALSE(faults.empty()) << "no fault, but expected: " << words;
  EXPECT_NE(faults.front().find(words), std::string::npos) << faults.front();
}

AssemblyFunction function(const char* line) {
  AssemblyFunction out;
  out.name = "asm_f";
  out.lines = {line};
  return out;
}

TEST(Verify, ASoundProgramHasNoFaults) {
  EXPECT_EQ(faults_of(sound()), std::vector<std::string>{});
  verify(sound(), "nothing");
}

TEST(Verify, AFaultAborts) {
  Program program = sound();
  program.steps[1]->name = program.steps[0]->name;
  EXPECT_DEATH(verify(program, "naming"), "after naming: n00_mask: two steps have this name");
}

TEST(Verify, NamesOfStepsDiffer) {
  Program program = sound();
  program.steps[1]->name = program.steps[0]->name;
  expect_fault(program, "two steps have this name");
  program.steps[1]->name.clear();
  expect_fault(program, "has no name");
}

TEST(Verify, CodeIsThatOfAnEarlierStepThatHasIt) {
  Program program = sound();
  program.steps[0]->function = "n01_sum";
  expect_fault(program, "no earlier step has the code");
  program = sound();
  program.steps[1]->function = "n00_mask";
  EXPECT_TRUE(faults_of(program).empty());
}

TEST(Verify, OperandsLieInTheirBuffers) {
  for (const std::int64_t offset : {std::int64_t{-1}, 64 + std::int64_t{testing::kBytes}}) {
    Program program = sound();
    program.steps[0]->operands[1].offset = offset;
    expect_fault(program, "operand 'y' is outside of buffer 1");
  }
  Program program = sound();
  program.steps[1]->operands[1].offset = 4 * isa::k_scalar.lanes - 3;
  expect_fault(program, "operand 'y' is outside of buffer 2");
  program.steps[1]->operands[1].buffer = 3;
  expect_fault(program, "operand 'y' has no buffer");
}

TEST(Verify, LiveRangesCoverAllUses) {
  Program program = sound();
  program.buffers[1].last_step = 0;
  expect_fault(program, "n01_sum: operand 'x' uses buffer 1 while it is not live");
  program = sound();
  program.buffers[1].first_step = 1;
  expect_fault(program, "n00_mask: operand 'y' uses buffer 1 while it is not live");
}

TEST(Verify, BuffersOfPortsNameOne) {
  Program program = sound();
  program.buffers[0].port = 1;
  expect_fault(program, "buffer 0 has no port");
}

TEST(Verify, BuffersOfPortsAreAsLargeAsThese) {
  const auto with = [](Home home, std::int64_t more) {
    Program program = sound();
    for (Buffer& buffer : program.buffers) {
      if (buffer.home == home) buffer.bytes += more;
    }
    return program;
  };
  expect_fault(with(Home::kInput, 1), "is not as large as the input that it is");
  expect_fault(with(Home::kInput, -1), "is not as large as the input that it is");
  expect_fault(with(Home::kOutput, 1), "is not as large as the output that it is");
}

TEST(Verify, PlannedBuffersLieInTheArena) {
  Program program = sound();
  program.buffers[1].arena_offset = 0;
  program.arena_bytes = program.buffers[1].bytes + kArenaSlack;
  EXPECT_TRUE(faults_of(program).empty());
  program.arena_bytes -= 1;
  expect_fault(program, "buffer 1 is outside of the arena");
}

TEST(Verify, ArraysOfAStepDifferInName) {
  Program program = sound();
  program.steps[1]->constants[1].suffix = "weights";
  expect_fault(program, "n01_sum: two arrays are called 'weights'");
}

TEST(Verify, OwnersHaveTheArray) {
  Program program = sound();
  ConstantArray& weights = program.steps[1]->constants[0];
  weights.owner = "n07_conv";
  expect_fault(program, "'n07_conv' does not have the array 'weights'");
  weights.owner = "n00_mask";
  expect_fault(program, "'n00_mask' does not have the array 'weights'");
  program.steps[0]->constants.push_back(weights);
  program.steps[0]->constants.back().owner.clear();
  EXPECT_TRUE(faults_of(program).empty());
  program.steps[0]->constants.back().bytes[0] ^= std::byte{1};
  expect_fault(program, "'n00_mask' does not have the array 'weights'");
}

TEST(Verify, OverlapsAreOfAWrittenWithAReadOperand) {
  Program program = sound();
  program.steps[0]->overlaps = {{1, 0, 0}};
  EXPECT_TRUE(faults_of(program).empty());
  program.steps[0]->overlaps = {{0, 0, 0}};
  expect_fault(program, "an overlap of operand 0, which is not written");
  program.steps[0]->overlaps = {{1, 1, 0}};
  expect_fault(program, "an overlap with operand 1, which is not read");
  program.steps[0]->overlaps = {{1, 2, 0}};
  expect_fault(program, "an overlap with operand 2, which is not read");
}

TEST(Verify, FunctionsInAssemblyOfOneNameAreTheSame) {
  Program program = sound();
  program.steps[0]->assembly = {function("bx lr")};
  program.steps[1]->assembly = {function("bx lr")};
  EXPECT_TRUE(faults_of(program).empty());
  program.steps[1]->assembly = {function("nop")};
  expect_fault(program, "n01_sum: another function is called 'asm_f'");
}

TEST(Verify, VariantsAreProgramsToo) {
  Program program;
  program.variants.push_back(sound());
  EXPECT_TRUE(faults_of(program).empty());
  program.variants[0].buffers[0].port = -1;
  expect_fault(program, "buffer 0 has no port");
}

}  // namespace
}  // namespace etch
