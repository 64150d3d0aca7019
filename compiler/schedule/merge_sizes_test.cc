#include "compiler/schedule/merge_sizes.h"

#include <gtest/gtest.h>

#include <functional>

#include "templates/isa/scalar/traits.h"
#include "tests/support/idle_step.h"

namespace etch {
namespace {

// x, of `size` bytes, to a tensor in the arena that the second step overwrites.
std::unique_ptr<Program> program_of(std::int64_t size) {
  auto program = std::make_unique<Program>();
  program->isa = isa::k_scalar;
  program->inputs = {{"x", "input0", 0, DType::kU8, {size}, false, 1, 0}};
  program->buffers.resize(3);
  program->buffers[0] = {Home::kInput, 0, size, 1, -1, 0, 0, "input"};
  program->buffers[1] = {Home::kArena, -1, 8 * size, 1, -1, 0, 1, "a"};
  program->buffers[2] = {Home::kArena, -1, 8 * size, 1, -1, 1, 1, "b"};
  for (const char* const name : {"n00_a", "n01_b"}) {
    auto step = std::make_unique<IdleStep>();
    step->name = name;
    const int at = static_cast<int>(program->steps.size());
    step->operands = {{"x", at, 0, DType::kU8, Access::kRead},
                      {"y", at + 1, 0, DType::kU8, Access::kWrite}};
    program->steps.push_back(std::move(step));
  }
  return program;
}

using Change = std::function<void(std::int64_t size, Program& program)>;

std::unique_ptr<Program> merged(std::int64_t most, Sink& sink, const Change& change) {
  SizeMerger merger({"n", 1, most}, Limits());
  for (std::int64_t size = most; size > 0; --size) {
    auto program = program_of(size);
    change(size, *program);
    merger.add(size, std::move(program), sink);
  }
  return merger.finish(sink);
}

std::unique_ptr<Program> merged(std::int64_t most, const Change& change) {
  Sink sink;
  auto program = merged(most, sink, change);
  EXPECT_NE(program, nullptr);
  return program;
}

TEST(SizeMerger, MakesOneStepOfThoseThatDifferInNumbersOnly) {
  const auto program =
      merged(5, [](auto size, Program& each) { each.steps[1]->operands[0].offset = 2 * size; });
  ASSERT_EQ(program->steps.size(), 2U);
  const SizedStep* const step = program->steps[1]->sized();
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->sizes, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(step->offsets[0].text(), "size * 2");
  EXPECT_EQ(bound_of(*program)->input_shape(0, 3), Shape{3});
  EXPECT_EQ(program->inputs[0].shape, Shape{5});
}

TEST(SizeMerger, HasMemoryForTheLargestTensorOfAnySize) {
  const auto program = merged(3, [](auto size, Program& each) {
    if (size == 2) each.buffers[1].bytes = 1000;
  });
  EXPECT_EQ(program->buffers[1].bytes, 1000);
  EXPECT_GE(program->arena_bytes, 1000);
}

TEST(SizeMerger, LetsOutputsRunOverInputsAsFarAsAllSizesAllow) {
  const auto program = merged(3, [](auto size, Program& each) {
    each.steps[1]->overlaps = {{1, 0, size == 2 ? 7 : 0, false}};
  });
  ASSERT_EQ(program->steps[1]->overlaps.size(), 1U);
  EXPECT_EQ(program->steps[1]->overlaps[0].distance, 7);
  const auto without = merged(3, [](auto size, Program& each) {
    if (size != 2) each.steps[1]->overlaps = {{1, 0, 0, false}};
  });
  EXPECT_TRUE(without->steps[1]->overlaps.empty());
}

TEST(SizeMerger, KeepsStepsWithOtherConstantsApartAndSharesBeginnings) {
  const auto program = merged(4, [](auto size, Program& each) {
    const auto bytes = [](std::size_t count, int first) {
      std::vector<std::byte> out(count, std::byte{9});
      out[0] = std::byte(first);
      return out;
    };
    each.steps[0]->constants = {
        {"table", DType::kU8, bytes(static_cast<std::size_t>(size) + 1, 5), ""}};
    // The first byte is the same.
    std::vector<std::byte> odd = bytes(2, 9);
    odd[1] = std::byte(size % 2);
    each.steps[1]->constants = {{"odd", DType::kU8, odd, ""}};
  });
  ASSERT_EQ(program->steps.size(), 3U);
  EXPECT_EQ(program->steps[0]->constants[0].bytes.size(), 5U);
  EXPECT_EQ(program->steps[1]->sized()->sizes, (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(program->steps[2]->sized()->sizes, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(program->steps[2]->name, "n01_b_at_3");
  EXPECT_EQ(program->buffers[2].last_step, 2);
}

TEST(SizeMerger, PutsProgramsWithOtherStepsBesideEachOther) {
  const auto program = merged(4, [](auto size, Program& each) {
    if (size == 1) each.steps[1]->kind = "other";
  });
  ASSERT_EQ(program->steps.size(), 4U);
  EXPECT_EQ(program->steps[2]->sized()->group_sizes, std::vector<std::int64_t>{1});
  EXPECT_EQ(program->steps[2]->operands[1].buffer, 4);
  EXPECT_EQ(program->buffers[4].first_step, 2);
}

TEST(SizeMerger, RefusesASizeThatNoInputHas) {
  Sink sink;
  EXPECT_EQ(merged(3, sink, [](auto, Program& each) { each.inputs[0].shape = {4}; }), nullptr);
  ASSERT_TRUE(sink.has_errors());
  EXPECT_EQ(sink.sorted()[0].message, "--dim n<=3: no input's size depends on it");
}

TEST(SizeMerger, RefusesMoreStatementsThanTheLimit) {
  Sink sink;
  Limits limits;
  limits.statements = -1;
  SizeMerger merger({"n", 1, 2}, limits);
  for (const std::int64_t size : {2, 1}) {
    auto program = program_of(size);
    for (auto& step : program->steps) step->origin = "Conv 'c'";
    Sink ignored;
    merger.add(size, std::move(program), ignored);
  }
  EXPECT_EQ(merger.finish(sink), nullptr);
  ASSERT_TRUE(sink.has_errors());
  EXPECT_TRUE(sink.sorted()[0].message.starts_with("--dim n<=2: needs 1 function for 2 sizes"))
      << sink.sorted()[0].message;
}

// As where the input of what counts rows has no elements.
TEST(SizeMerger, RefusesSizesWithOtherInputsOrOutputs) {
  const auto said_of = [](const std::function<void(Program&)>& change) {
    SizeMerger merger({"n", 1, 2}, Limits());
    Sink sink;
    merger.add(2, program_of(2), sink);
    EXPECT_FALSE(sink.has_errors());
    auto other = program_of(1);
    change(*other);
    merger.add(1, std::move(other), sink);
    return sink.has_errors() ? sink.sorted().front().message : std::string();
  };
  EXPECT_EQ(said_of([](Program&) {}), "");
  EXPECT_EQ(said_of([](Program& one) { one.outputs.push_back(one.inputs[0]); }),
            "output 0: expected none as with the greatest size, found 'x' (uint8 of rank 1)");
  EXPECT_EQ(
      said_of([](Program& one) {
        one.inputs[0].shape = {1, 1};
      }),
      "input 0: expected 'x' (uint8 of rank 1) as with the greatest size, found 'x' (uint8 of "
      "rank 2)");
  EXPECT_EQ(said_of([](Program& one) { one.inputs[0].dtype = DType::kS8; }),
            "input 0: expected 'x' (uint8 of rank 1) as with the greatest size, found 'x' (int8 of "
            "rank 1)");
}

}  // namespace
}  // namespace etch
