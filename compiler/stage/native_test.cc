// A plan run by the Native engine: where operands, constants and buffers are found.

#include "compiler/stage/native.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/stage/staged_step_impl.h"
#include "templates/isa/scalar/traits.h"

namespace etch {
namespace {

// y[i] = x[i] xor the byte in its constant "mask", 4 bytes at a time.
class XorStep : public StagedStep<XorStep> {
 public:
  explicit XorStep(int chunks, int mask) : chunks_(chunks) {
    name = "xor";
    add_constant("other", {std::byte{1}});
    add_constant("mask", std::vector(4, static_cast<std::byte>(mask)));
  }

  template <class S>
  void kernel(S& s) const {
    const auto x = s.template operand<const std::uint8_t>(0);
    const auto y = s.template operand<std::uint8_t>(1);
    const auto mask = s.load_bytes("mask", s.template constant<const std::uint8_t>("mask"));
    s.loop("chunk", chunks_, [&](const typename S::Index& chunk) {
      const auto bytes = s.load_bytes("bytes", s.base("xt", x + chunk * 4));
      s.store_bytes(y + chunk * 4, s.xor_bytes("flipped", bytes, mask));
    });
  }

 private:
  void add_constant(const char* suffix, std::vector<std::byte> bytes) {
    constants.emplace_back();
    constants.back().suffix = suffix;
    constants.back().bytes = std::move(bytes);
  }

  int chunks_;
};

Buffer buffer(Home home, int port, std::int64_t arena_offset) {
  Buffer out;
  out.home = home;
  out.port = port;
  out.arena_offset = arena_offset;
  return out;
}

Operand operand(int buffer, std::int64_t offset, Access access) {
  Operand out;
  out.buffer = buffer;
  out.offset = offset;
  out.access = access;
  return out;
}

std::unique_ptr<Step> xor_step(int chunks, int mask, Operand x, Operand y) {
  auto step = std::make_unique<XorStep>(chunks, mask);
  step->operands = {std::move(x), std::move(y)};
  return step;
}

TEST(RunNative, PassesDataFromInputThroughTheArenaToTheOutput) {
  Program program;
  program.isa = isa::k_scalar;
  program.inputs.resize(1);
  program.outputs.resize(1);
  program.buffers = {buffer(Home::kInput, 0, -1), buffer(Home::kArena, -1, 64),
                     buffer(Home::kOutput, 0, -1)};
  program.arena_bytes = 64 + 16 + kArenaSlack;
  program.steps.push_back(
      xor_step(2, 0x0F, operand(0, 0, Access::kRead), operand(1, 3, Access::kWrite)));
  program.steps.push_back(
      xor_step(2, 0x30, operand(1, 3, Access::kRead), operand(2, 0, Access::kWrite)));

  const std::uint8_t in[8] = {0, 1, 2, 3, 252, 253, 254, 255};
  std::uint8_t out[8] = {};
  const std::byte* const inputs[] = {reinterpret_cast<const std::byte*>(in)};
  std::byte* const outputs[] = {reinterpret_cast<std::byte*>(out)};
  run_native(program, inputs, outputs);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[i], in[i] ^ 0x3F) << i;
}

TEST(RunNativeDeathTest, CatchesAStepThatWritesAnInput) {
  Program program;
  program.isa = isa::k_scalar;
  program.inputs.resize(1);
  program.buffers = {buffer(Home::kInput, 0, -1)};
  program.steps.push_back(
      xor_step(1, 1, operand(0, 0, Access::kRead), operand(0, 0, Access::kWrite)));
  const std::byte in[4] = {};
  const std::byte* const inputs[] = {in};
  EXPECT_DEATH(run_native(program, inputs, {}), "kRead");
}

TEST(NativeStageDeathTest, CatchesAConstantThatTheStepDoesNotHave) {
  const XorStep step(1, 1);
  NativeStage stage(step, isa::k_scalar, {});
  EXPECT_DEATH(stage.constant<const float>("none"), "");
}

TEST(NativeStage, AlignsConstantsTo64Bytes) {
  XorStep step(1, 1);
  NativeStage stage(step, isa::k_scalar, {});
  const auto* const mask = stage.constant<const std::uint8_t>("mask");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mask) % 64, 0U);
  EXPECT_EQ(mask[3], 1);
}

}  // namespace
}  // namespace etch
