// Steps of the model of cycles that need no other program.
#include "compiler/host/cycle_model.h"

#include <gtest/gtest.h>

namespace etch::cli {
namespace {

TEST(CycleModel, JumpsHaveALabelForTheirAddress) {
  EXPECT_EQ(assembly_of("\tb.ne\t0x40053c <main+0x10>", "//"), "b.ne .Lelsewhere");
  EXPECT_EQ(assembly_of("\tcbz\tw0, 0x40053c <main+0x10>", "//"), "cbz w0, .Lelsewhere");
  EXPECT_EQ(assembly_of("\tle\tlr, 0x1e <f+0x1e>      @ imm = #-0xe", "@"), "le lr, .Lelsewhere");
  EXPECT_EQ(assembly_of("\tbnez\ta0, 0x1e <f+0x1e>", "#"), "bnez a0, .Lelsewhere");
}

TEST(CycleModel, CallsAreJumps) {
  EXPECT_EQ(assembly_of("\tbl\t0x456640 <getauxval>", "//"), "b .Lelsewhere");
  EXPECT_EQ(assembly_of("\tblr\tx3", "//"), "br x3");
  EXPECT_EQ(assembly_of("\tblx\tr3", "@"), "bx r3");
  EXPECT_EQ(assembly_of("\tjalr\ta5", "#"), "jr a5");
}

TEST(CycleModel, OtherInstructionsLoseTheirCommentsOnly) {
  EXPECT_EQ(assembly_of("\tmov\tw0, #0x12       // =18", "//"), "mov w0, #0x12");
  EXPECT_EQ(assembly_of("\tldr\tr1, [pc, #0x10]  @ 0x20 <g>", "@"), "ldr r1, [pc, #0x10]");
  EXPECT_EQ(assembly_of("\tret", "//"), "ret");
  EXPECT_EQ(assembly_of("", "@"), "");
}

TEST(CycleModel, BlocksEndBeforeConditionsThatReachBeyondThem) {
  const auto ended = [](std::vector<std::string> lines) {
    end_before_half_conditions(lines);
    return lines.size();
  };
  EXPECT_EQ(ended({"cmp r0, #1", "itt le", "movle r1, #1"}), 1U);
  EXPECT_EQ(ended({"cmp r0, #1", "itt le", "movle r1, #1", "movle r2, #1"}), 4U);
  EXPECT_EQ(ended({"cmp r0, #1", "it ne"}), 1U);
  EXPECT_EQ(ended({"vpste", "vaddt.i32 q0, q1, q2"}), 0U);
  EXPECT_EQ(ended({"vpt.s8 eq, q0, q1", "vaddt.i32 q0, q1, q2"}), 2U);
  EXPECT_EQ(ended({"add r0, r1", "bx lr"}), 2U);
}

TEST(CycleModel, BlocksAreReadPieceByPiece) {
  const auto pieces = parse_blocks("256 3 10 9\n264 2 1 0\nmark\nmark\n512 1 4 4\nmark\n");
  ASSERT_TRUE(pieces.has_value());
  ASSERT_EQ(pieces->size(), 3U);
  ASSERT_EQ((*pieces)[0].size(), 2U);
  EXPECT_EQ((*pieces)[0][0].address, 256U);
  EXPECT_EQ((*pieces)[0][0].instructions, 3);
  EXPECT_EQ((*pieces)[0][0].executions, 10);
  EXPECT_EQ((*pieces)[0][0].jumps, 9);
  EXPECT_TRUE((*pieces)[1].empty());
  EXPECT_EQ((*pieces)[2][0].jumps, 4);
}

TEST(CycleModel, OtherTextsAreNoBlocks) {
  EXPECT_FALSE(parse_blocks("256 3 10\nmark\n").has_value());
  EXPECT_FALSE(parse_blocks("words\nmark\n").has_value());
  EXPECT_FALSE(parse_blocks("256 3 10 9\n").has_value());  // cut before its mark
}

TEST(CycleModel, CoresWithoutPredictionPayForJumps) {
  ASSERT_NE(pipeline_model("cortex-m4"), nullptr);
  EXPECT_EQ(pipeline_model("cortex-m4")->jump_cycles, 2);
  EXPECT_EQ(pipeline_model("aarch64-dotprod")->jump_cycles, 0);
  EXPECT_EQ(pipeline_model("cortex-m0"), nullptr);
  EXPECT_NE(modelled_targets().find("cortex-m55, aarch64"), std::string::npos);
}

}  // namespace
}  // namespace etch::cli
