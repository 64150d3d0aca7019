// The planner against a checker that knows nothing of how it plans.
#include "compiler/schedule/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "compiler/program/arena.h"
#include "compiler/targets/targets.h"
#include "templates/isa/aarch64/traits.h"
#include "templates/isa/avx2/traits.h"
#include "templates/isa/cortex_m4/traits.h"
#include "templates/isa/cortex_m55/traits.h"
#include "templates/isa/scalar/traits.h"
#include "tests/support/idle_step.h"

namespace etch {
namespace {

Buffer arena_buffer(std::int64_t bytes, int first, int last) {
  Buffer buffer;
  buffer.bytes = bytes;
  buffer.first_step = first;
  buffer.last_step = last;
  return buffer;
}

void add_steps(Program& program, int count) {
  for (int i = 0; i < count; ++i) program.steps.push_back(std::make_unique<IdleStep>());
}

int add_operand(Program& program, int step, int buffer, Access access, std::int64_t offset = 0) {
  auto& operands = program.steps[static_cast<std::size_t>(step)]->operands;
  operands.push_back({"p", buffer, offset, DType::kU8, access});
  return static_cast<int>(operands.size()) - 1;
}

// Buffer 0 dies in step 1, which writes buffer 1 with the given distance.
Program in_place(std::int64_t in, std::int64_t out, std::int64_t distance) {
  Program program;
  add_steps(program, 3);
  program.buffers = {arena_buffer(in, 0, 1), arena_buffer(out, 1, 2)};
  const int x = add_operand(program, 1, 0, Access::kRead, 16);
  const int y = add_operand(program, 1, 1, Access::kWrite, 32);
  program.steps[1]->overlaps.push_back({y, x, distance});
  return program;
}

TEST(MemoryPlan, OneBufferStartsAtZeroAndTheArenaEndsWithSlack) {
  Program program;
  add_steps(program, 1);
  program.buffers = {arena_buffer(100, 0, 0)};
  plan_memory(program);
  EXPECT_EQ(program.buffers[0].arena_offset, 0);
  EXPECT_EQ(program.arena_bytes, 100 + kArenaSlack);
  EXPECT_EQ(program.most_live_bytes, 100);
}

TEST(MemoryPlan, NoBuffersNeedOnlyTheSlack) {
  Program program;
  plan_memory(program);
  EXPECT_EQ(program.arena_bytes, kArenaSlack);
  EXPECT_EQ(program.most_live_bytes, 0);
}

TEST(MemoryPlan, InputsAndOutputsTakeNoArena) {
  Program program;
  add_steps(program, 1);
  program.buffers = {arena_buffer(100, 0, 0), arena_buffer(640, 0, 0)};
  program.buffers[1].home = Home::kInput;
  plan_memory(program);
  EXPECT_EQ(program.buffers[1].arena_offset, -1);
  EXPECT_EQ(program.arena_bytes, 100 + kArenaSlack);
}

TEST(MemoryPlan, BuffersThatNeverMeetShareMemory) {
  Program program;
  add_steps(program, 4);
  program.buffers = {arena_buffer(640, 0, 1), arena_buffer(640, 2, 3)};
  plan_memory(program);
  EXPECT_EQ(program.arena_bytes, 640 + kArenaSlack);
}

TEST(MemoryPlan, BuffersOfOneStepAreDisjointWithoutAnOverlap) {
  Program program = in_place(640, 640, 0);
  program.steps[1]->overlaps.clear();
  plan_memory(program);
  EXPECT_EQ(program.arena_bytes, 1280 + kArenaSlack);
  EXPECT_EQ(program.most_live_bytes, 1280);
}

TEST(MemoryPlan, AnOutputRunsOverADyingInput) {
  Program program = in_place(640, 640, 0);
  plan_memory(program);
  EXPECT_EQ(program.arena_bytes, 640 + kArenaSlack);
  EXPECT_EQ(program.most_live_bytes, 1280) << "live at once, overlapping or not";
}

TEST(MemoryPlan, AnOutputKeepsItsDistanceBeforeTheInput) {
  Program program = in_place(640, 640, 128);
  plan_memory(program);
  EXPECT_EQ(program.arena_bytes, 640 + 128 + kArenaSlack);
  EXPECT_LE(program.buffers[1].arena_offset + 128, program.buffers[0].arena_offset);
}

TEST(MemoryPlan, AnOutputThatIsWrittenBackwardsStaysBehindTheInput) {
  Program program = in_place(640, 1280, -128);
  program.steps[1]->overlaps[0].backwards = true;
  plan_memory(program);
  EXPECT_EQ(program.arena_bytes, 1280 + kArenaSlack) << "it may begin 128 bytes before the input";
  EXPECT_LE(program.buffers[0].arena_offset - 128, program.buffers[1].arena_offset);
  program.steps[1]->overlaps[0].distance = 128;
  plan_memory(program);
  EXPECT_EQ(program.arena_bytes, 1280 + 128 + kArenaSlack);
}

TEST(MemoryPlan, EntriesOfTwoDirectionsAllowNothing) {
  Program program = in_place(640, 640, 0);
  const int more = add_operand(program, 1, 0, Access::kRead);
  program.steps[1]->overlaps.push_back({1, more, 0, true});
  plan_memory(program);
  EXPECT_EQ(program.arena_bytes, 1280 + kArenaSlack);
}

TEST(MemoryPlan, AnInputThatLivesOnIsNotOverwritten) {
  Program program = in_place(640, 640, 0);
  program.buffers[0].last_step = 2;
  plan_memory(program);
  EXPECT_EQ(program.arena_bytes, 1280 + kArenaSlack);
}

TEST(MemoryPlan, EveryOperandThatReadsTheInputNeedsAnOverlap) {
  Program program = in_place(640, 640, 0);
  add_operand(program, 1, 0, Access::kRead);  // the same buffer once more, without an entry
  plan_memory(program);
  EXPECT_EQ(program.arena_bytes, 1280 + kArenaSlack);
}

TEST(MemoryPlan, OfSeveralOverlapsTheLargestDistanceIsKept) {
  for (const std::int64_t other : {0, 192}) {
    Program program = in_place(640, 640, 128);
    const int again = add_operand(program, 1, 0, Access::kRead);
    program.steps[1]->overlaps.push_back({1, again, other});
    plan_memory(program);
    EXPECT_EQ(program.arena_bytes, 640 + std::max<std::int64_t>(128, other) + kArenaSlack);
  }
}

// ---- random instances ----

struct Range {
  std::int64_t begin, end;
};
Range range_of(const Buffer& buffer) {
  return {buffer.arena_offset, buffer.arena_offset + buffer.bytes};
}
bool disjoint(const Buffer& a, const Buffer& b) {
  return range_of(a).end <= range_of(b).begin || range_of(b).end <= range_of(a).begin;
}

// Whether some entry of `step` allows `out` over `in`: each such step has one reader and one
// writer here, so one entry decides.
bool allowed_over(const Program& program, int out, int in) {
  const Buffer& y = program.buffers[static_cast<std::size_t>(out)];
  const Buffer& x = program.buffers[static_cast<std::size_t>(in)];
  if (x.last_step != y.first_step || x.first_step == x.last_step) return false;
  const Step& step = *program.steps[static_cast<std::size_t>(y.first_step)];
  for (const Overlap& overlap : step.overlaps) {
    const auto& operands = step.operands;
    if (operands[static_cast<std::size_t>(overlap.output)].buffer == out &&
        operands[static_cast<std::size_t>(overlap.input)].buffer == in) {
      if (overlap.backwards) return x.arena_offset + overlap.distance <= y.arena_offset;
      return y.arena_offset + overlap.distance <= x.arena_offset;
    }
  }
  return false;
}

void expect_valid(const Program& program) {
  const auto size = static_cast<int>(program.buffers.size());
  for (int i = 0; i < size; ++i) {
    const Buffer& a = program.buffers[static_cast<std::size_t>(i)];
    ASSERT_GE(a.arena_offset, 0);
    ASSERT_EQ(a.arena_offset % buffer_alignment(program, a.bytes), 0);
    ASSERT_LE(range_of(a).end + kArenaSlack, program.arena_bytes);
    for (int j = i + 1; j < size; ++j) {
      const Buffer& b = program.buffers[static_cast<std::size_t>(j)];
      if (a.last_step < b.first_step || b.last_step < a.first_step) continue;
      ASSERT_TRUE(disjoint(a, b) || allowed_over(program, i, j) || allowed_over(program, j, i))
          << "buffers " << i << " and " << j;
    }
  }
}

std::int64_t brute_most_live_bytes(const Program& program) {
  std::int64_t most = 0;
  for (int s = 0; s < static_cast<int>(program.steps.size()); ++s) {
    std::int64_t live = 0;
    for (const Buffer& buffer : program.buffers) {
      if (buffer.first_step <= s && s <= buffer.last_step) live += buffer.bytes;
    }
    most = std::max(most, live);
  }
  return most;
}

// Each step writes one buffer and reads one that still lives; half of these pairs may overlap.
Program random_program(std::mt19937& random) {
  const auto below = [&](int limit) {
    return static_cast<int>(random() % static_cast<unsigned>(limit));
  };
  Program program;
  const int steps = 2 + below(14);
  add_steps(program, steps);
  for (int s = 0; s < steps; ++s) {
    program.buffers.push_back(arena_buffer(below(2000), s, std::min(steps - 1, s + below(4))));
    const int y = add_operand(program, s, s, Access::kWrite, below(64));
    const int from = s - 1 - below(3);
    if (from < 0 || program.buffers[static_cast<std::size_t>(from)].last_step < s) continue;
    const int x = add_operand(program, s, from, Access::kRead, below(64));
    if (below(2) == 0)
      program.steps[static_cast<std::size_t>(s)]->overlaps.push_back(
          {y, x, below(900) - 200, below(3) == 0});
  }
  return program;
}

TEST(MemoryPlan, SmallBuffersAreAlignedToWhatTheirElementsNeed) {
  Program program;
  for (const int alignment : {4, 16, 64}) {
    program.isa.alignment = alignment;
    EXPECT_EQ(buffer_alignment(program, 1), 1);
    EXPECT_EQ(buffer_alignment(program, 12), 4);
    EXPECT_EQ(buffer_alignment(program, 40), 8);
    EXPECT_EQ(buffer_alignment(program, kLargeBuffer - 8), 8);
    EXPECT_EQ(buffer_alignment(program, kLargeBuffer), std::max(8, alignment));
    EXPECT_EQ(buffer_alignment(program, kLargeBuffer + 1), std::max(8, alignment));
  }
}

TEST(ArenaAlignment, IsWhatLoadsAndElementsNeed) {
  const auto of = [](const IsaTraits& isa) {
    Program program;
    program.isa = isa;
    return arena_alignment(program);
  };
  EXPECT_EQ(of(isa::k_scalar), 8) << "int64";
  EXPECT_EQ(of(isa::k_cortex_m4), 8);
  EXPECT_EQ(of(isa::k_cortex_m55), 8) << "Helium's loads of words need 4";
  EXPECT_EQ(of(isa::k_aarch64), 16);
  EXPECT_EQ(of(isa::k_avx2), 64);
  for (const IsaTraits* const isa : all_targets()) {
    EXPECT_EQ(of(*isa) % std::max(8, 4 * isa->lanes), 0) << isa->name;
  }
}

TEST(ArenaAlignment, IsACacheLineWithThreadsAndTheMostOfSeveralVariants) {
  Program program;
  program.isa = isa::k_scalar;
  program.shares = 2;
  EXPECT_EQ(arena_alignment(program), 64);
  program.shares = 1;
  program.variants.resize(2);
  program.variants[0].isa = isa::k_scalar;
  program.variants[1].isa = isa::k_aarch64;
  EXPECT_EQ(arena_alignment(program), 16);
}

TEST(MemoryPlan, RandomPlansAreValidDeterministicAndBoundedBelow) {
  int overlapping = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Program program = random_program(random);
    plan_memory(program);
    expect_valid(program);
    if (HasFatalFailure()) return;
    EXPECT_EQ(program.most_live_bytes, brute_most_live_bytes(program));
    overlapping += program.arena_bytes < program.most_live_bytes + kArenaSlack ? 1 : 0;

    std::mt19937 again(seed);
    Program second = random_program(again);
    plan_memory(second);
    for (std::size_t i = 0; i < program.buffers.size(); ++i) {
      EXPECT_EQ(program.buffers[i].arena_offset, second.buffers[i].arena_offset);
    }
  }
  EXPECT_GT(overlapping, 10) << "overlaps must have paid in some plans";
}

// Of buffers with more neighbours than are listed, and rules among them.
TEST(MemoryPlan, PlansOfManyBuffersAtOnceAreValid) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Program program;
    constexpr int kSteps = 160;
    add_steps(program, kSteps);
    for (int s = 0; s < kSteps; ++s) {
      const bool dies = s % 4 == 0;  // and the next one may run over it
      program.buffers.push_back(
          arena_buffer(static_cast<int>(random() % 2000), s, dies ? s + 1 : kSteps - 1));
      const int y = add_operand(program, s, s, Access::kWrite);
      if (s % 4 != 1) continue;
      const int x = add_operand(program, s, s - 1, Access::kRead);
      program.steps[static_cast<std::size_t>(s)]->overlaps.push_back({y, x, 100, s % 8 == 1});
    }
    plan_memory(program);
    expect_valid(program);
    EXPECT_EQ(program.most_live_bytes, brute_most_live_bytes(program));
  }
}

TEST(MemoryPlan, LooksAtAsManyPairsOfALongChainAsLiveTogether) {
  constexpr int kSteps = 20000;
  Program program;
  add_steps(program, kSteps);
  program.buffers.push_back(arena_buffer(64, 0, kSteps - 1));  // lives with all others
  for (int s = 0; s < kSteps; ++s)
    program.buffers.push_back(arena_buffer(64, s, std::min(kSteps - 1, s + 1)));
  EXPECT_LT(plan_memory(program), 5 * 6 * kSteps) << "five orders, four neighbours, and the one";
  EXPECT_EQ(program.arena_bytes, 3 * 64 + kArenaSlack);
}

TEST(MemoryPlan, LooksAtNoPairTwiceInAnOrderWhereAllLiveTogether) {
  constexpr std::int64_t kSize = 2000;
  Program program;
  add_steps(program, kSize);
  for (int s = 0; s < kSize; ++s) program.buffers.push_back(arena_buffer(64, s, kSize - 1));
  EXPECT_LE(plan_memory(program), 5 * kSize * (kSize - 1) / 2);
  EXPECT_EQ(program.arena_bytes, kSize * 64 + kArenaSlack);
}

TEST(MemoryPlan, FindsTheLowerBoundOfAResidualChain) {
  // Sizes in units of 64: first fit by size alone needs more than what lives at once.
  Program program;
  add_steps(program, 8);
  const int sizes[] = {3, 5, 2, 4, 6, 1, 4, 2};
  for (int i = 0; i < 8; ++i) {
    program.buffers.push_back(arena_buffer(64 * sizes[i], i, std::min(7, i + 1 + i % 3)));
  }
  plan_memory(program);
  expect_valid(program);
  EXPECT_EQ(program.arena_bytes - kArenaSlack, program.most_live_bytes);
}

}  // namespace
}  // namespace etch
