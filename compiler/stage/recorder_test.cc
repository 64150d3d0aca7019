// The text that kernels become.
#include "compiler/stage/recorder.h"

#include <gtest/gtest.h>

#include "templates/external/move.h"
#include "templates/external/ops.h"
#include "templates/isa/aarch64/traits.h"
#include "templates/isa/avx2/traits.h"
#include "templates/isa/scalar/traits.h"
#include "tests/support/tiny_program.h"

namespace etch {
namespace {

std::string recorded_text(const Step& step) {
  Recorder recorder(step);
  recorder.set_isa(isa::k_scalar);
  step.run(recorder);
  return recorder.text();
}

TEST(Recorder, WritesTileFunctionsFirstAndCallsThem) {
  EXPECT_EQ(
      recorded_text(*testing::mask_step(isa::k_scalar)),
      R"([[gnu::always_inline]] static inline void n00_mask_tile(const uint8_t* x, const uint8_t* mask, uint8_t* y) {
  const uint8_t* const xt = isa::base(x);
  const isa::Bytes bytes = isa::load_bytes(xt);
  const isa::Bytes bits = isa::load_bytes(mask);
  const isa::Bytes masked = isa::xor_bytes(bytes, bits);
  isa::store_bytes(y, masked);
}

// masks 256 bytes
// nothing to prove .
void n00_mask(const uint8_t* x, uint8_t* y) noexcept {
  for (ptrdiff_t block = 0; block < 64; ++block) {
    n00_mask_tile(x + block * 4, n00_mask_mask, y + block * 4);
  }
}
)");
}

TEST(Recorder, LeavesOnlyUpdatedValuesWithoutConst) {
  EXPECT_EQ(recorded_text(*testing::sum_step(isa::k_scalar)), R"(// weighted sum, one per lane
void n01_sum(const uint8_t* x, int32_t* y) noexcept {
  isa::I32 acc = isa::load_i32(n01_sum_bias);
  // four bytes at a time
  for (ptrdiff_t k = 0; k < 64; ++k) {
    const isa::X4 pixel = isa::broadcast4(x + k * 4);
    const isa::W4 w = isa::load_w4(n01_sum_weights + k * 4);
    acc = isa::dot4(acc, pixel, w);
  }
  const isa::F32 scale = isa::load_f32(n01_sum_scale);
  const isa::I32 q = isa::scale_round(acc, scale);
  isa::store_i32_n(y, q, 1);
}
)");
}

TEST(Recorder, CountsATileFunctionOnceHoweverOftenItIsCalled) {
  const auto step = testing::mask_step(isa::k_scalar);
  Recorder recorder(*step);
  recorder.set_isa(isa::k_scalar);
  step->run(recorder);
  EXPECT_EQ(recorder.statements(), 5 + 2);
  step->run(recorder);
  EXPECT_EQ(recorder.statements(), 5 + 4);
}

// A tile function of one statement for its base and two for every repetition.
class TileStep : public StagedStep<TileStep> {
 public:
  template <class S>
  void kernel(S& s) const {
    const auto copies = [&](const auto& y) {
      const auto base = s.base("yt", y);
      for (int i = 0; i < repetitions; ++i)
        s.store_bytes(base, s.load_bytes(Name("b").at("", i), base));
    };
    s.inlined("tile", copies, std::pair{"y", s.template operand<std::uint8_t>(0)});
  }
  int repetitions = 1;
};

std::string tile_text(int repetitions, const IsaTraits& isa) {
  TileStep step;
  step.name = "n0";
  step.repetitions = repetitions;
  step.operands = {{"y", 0, 0, DType::kU8, Access::kReadWrite}};
  Recorder recorder(step);
  recorder.set_isa(isa);
  step.run(recorder);
  return recorder.text();
}

TEST(Recorder, CallsLongTilesWhereCallsKeepNoVectors) {
  constexpr char kCalled[] = "[[gnu::noinline]] static void n0_tile(uint8_t* y) {";
  constexpr char kInlined[] = "[[gnu::always_inline]] static inline void n0_tile(uint8_t* y) {";
  EXPECT_TRUE(tile_text(75, isa::k_avx2).starts_with(kCalled));
  EXPECT_TRUE(tile_text(74, isa::k_avx2).starts_with(kInlined));
  EXPECT_TRUE(tile_text(75, isa::k_aarch64).starts_with(kInlined));
  EXPECT_TRUE(tile_text(75, isa::k_scalar).starts_with(kInlined));
}

TEST(Recorder, PrintsIndicesAsSums) {
  using recorded::Index;
  Index row;
  row.terms = {{"row", 1}};
  const Index at = row * 3584 + Index(64);
  EXPECT_EQ(recorded::to_string("x", at), "x + row * 3584 + 64");
  EXPECT_EQ(recorded::to_string("x", row + Index(-3)), "x + row - 3");
  EXPECT_EQ(recorded::to_string("x", row * -2), "x - row * 2");
  EXPECT_EQ(recorded::to_string("x", at + row * -3584), "x + 64");
  EXPECT_EQ(recorded::to_string("x", Index(0)), "x");
}

TEST(Recorder, PrintsNumbersThatReadBackExactly) {
  EXPECT_EQ(recorded::text_of(0.1F), "0x1.99999ap-4F /* 0.1 */");
  EXPECT_EQ(recorded::text_of(-2147483647 - 1), "(-2147483647 - 1)");
  EXPECT_EQ(recorded::text_of(-5), "-5");
}

class CallingStep : public StagedStep<CallingStep> {
 public:
  template <class S>
  void kernel(S& s) const {
    const auto y = s.template operand<std::uint8_t>(0);
    s.call(external::LookupSpread{}, y + 2, 3, y, -1, y, 7);
    s.call(external::Fill{}, y, 1, 2);
  }
};

TEST(Recorder, PrintsCallsAndCollectsTheirHeaders) {
  CallingStep step;
  step.name = "n00_calls";
  step.operands = {{"y", 0, 0, DType::kU8, Access::kReadWrite}};
  Recorder recorder(step);
  step.run(recorder);
  EXPECT_NE(recorder.text().find("  rt::lookup_spread(y + 2, 3, y, -1, y, 7);\n"
                                 "  rt::fill(y, 1, 2);\n"),
            std::string::npos)
      << recorder.text();
  const std::set<std::string_view> headers = {"etch_move.h", "etch_ops.h"};
  EXPECT_EQ(recorder.headers(), headers);
}

class ContradictoryStep : public StagedStep<ContradictoryStep> {
 public:
  template <class S>
  void kernel(S& s) const {
    for (const int value : {1, 2}) {
      s.inlined(
          "tile", [&](const auto& y) { s.store_bytes(y, s.splat_bytes("v", value)); },
          std::pair{"y", s.template operand<std::uint8_t>(0)});
    }
  }
};

TEST(RecorderDeathTest, RefusesTwoTileFunctionsOfOneName) {
  ContradictoryStep step;
  step.name = "n00_bad";
  step.operands = {{"y", 0, 0, DType::kU8, Access::kWrite}};
  EXPECT_DEATH(recorded_text(step), "internal error");
}

}  // namespace
}  // namespace etch
