// Inputs and outputs of float16, bfloat16 and float64: references, steps and compiled code agree
// bit for bit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ir/onnx_types.h"
#include "tests/support/agreement.h"
#include "tests/support/model_builder.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

// Any bits that are no NaN, whose payload no type promises.
Tensor values_of(DType type, const Shape& shape) {
  Tensor out(type, shape);
  std::uint32_t bits = 7;
  for (std::int64_t i = 0; i < out.size(); ++i) {
    bits = bits * 1664525U + 1013904223U;
    const auto at = static_cast<std::size_t>(i);
    const auto quarter = static_cast<float>(static_cast<std::int32_t>(bits) >> 20) / 4096;
    if (type == DType::kF64) {
      out.as<double>()[at] = double{quarter} / 3;
    } else if (type == DType::kF32) {
      out.as<float>()[at] = quarter / 3;
    } else {
      const std::uint32_t most = type == DType::kF16 ? 0x7C00U : 0x7F80U;
      const std::uint32_t size = (bits >> 8) % (most + 1);
      out.as<std::uint16_t>()[at] = static_cast<std::uint16_t>((bits & 128) << 8 | size);
    }
  }
  return out;
}

std::vector<Case> other_float_cases() {
  std::vector<Case> out;
  for (const DType type : {DType::kF16, DType::kBF16, DType::kF64}) {
    for (const bool arrives : {true, false}) {
      const DType from = arrives ? type : DType::kF32, to = arrives ? DType::kF32 : type;
      ModelBuilder model;
      model.input("x", from, {3, 19});
      model.node("Transpose", {"x"}, {"t"});
      model.node("Cast", {"t"}, {"y"}, {{"to", std::int64_t{onnx_number_of(to)}}});
      model.output("y", to, {19, 3});
      out.push_back(
          {cat(name_of(from), " to ", name_of(to)), model.bytes(), {values_of(from, {3, 19})}});
    }
  }
  return out;
}

// All 16 bits, also of NaN: what is only moved stays as it is.
Tensor all_bits(DType type, const Shape& shape) {
  Tensor out(type, shape);
  std::uint32_t bits = 11;
  for (std::uint16_t& each : out.as<std::uint16_t>()) {
    bits = bits * 1664525U + 1013904223U;
    each = static_cast<std::uint16_t>(bits >> 16 | (bits & 256 ? 0x7F80U : 0U));
  }
  return out;
}

Case moved(DType type) {
  ModelBuilder model(18);
  model.input("x", type, {3, 40}).input("w", DType::kBool, {40}).input("a", type, {1, 40});
  model.initializer("shape", Tensor::of<std::int64_t>({3}, {2, 3, 40}));
  model.initializer("pads", Tensor::of<std::int64_t>({4}, {1, 0, 0, 2}));
  Tensor one(type, {});
  one.as<std::uint16_t>()[0] = type == DType::kF16 ? 0x3C00 : 0x3F80;
  model.initializer("one", one);
  model.node("Transpose", {"x"}, {"t"}).node("Expand", {"x", "shape"}, {"e"});
  model.node("Concat", {"x", "a"}, {"c"}, {{"axis", std::int64_t{0}}});
  model.node("Pad", {"c", "pads", "one"}, {"p"}).node("Where", {"w", "x", "a"}, {"y"});
  model.node("Where", {"w", "x", "one"}, {"z"});
  model.initializer("k", values_of(type, {40, 3}));  // moved by the compiler
  model.node("Transpose", {"k"}, {"l"})
      .node("Concat", {"x", "l"}, {"u"}, {{"axis", std::int64_t{0}}});
  model.input("i", DType::kS64, {2, 1});
  model.initializer("two", Tensor::of<std::int64_t>({2}, {2, 40}));
  model.node("Expand", {"a", "two"}, {"b"}).node("ScatterND", {"x", "i", "b"}, {"s"});
  model.output("s", type, {3, 40});
  model.output("t", type, {40, 3}).output("e", type, {2, 3, 40}).output("p", type, {5, 42});
  model.output("y", type, {3, 40}).output("z", type, {3, 40});
  model.output("l", type, {3, 40}).output("u", type, {6, 40});
  Tensor where(DType::kBool, {40});
  for (std::size_t i = 0; i < 40; i += 3) where.as<std::uint8_t>()[i] = 1;
  return {cat("moved ", name_of(type)),
          model.bytes(),
          {all_bits(type, {3, 40}), where, all_bits(type, {1, 40}),
           Tensor::of<std::int64_t>({2, 1}, {-1, 1})}};
}

std::vector<Case> moved_cases() { return {moved(DType::kF16), moved(DType::kBF16)}; }

TEST(OtherFloatEngines, Natively) { expect_native_agrees(other_float_cases()); }
TEST(OtherFloatEngines, MoveAllBitsNatively) { expect_native_agrees(moved_cases()); }

class CompiledOtherFloats : public testing::TestWithParam<const char*> {};

TEST_P(CompiledOtherFloats, AgreeWithTheReferences) {
  std::vector<Case> all = other_float_cases();
  add_cases(all, moved_cases());
  expect_compiled_agrees(all, GetParam());
}

// Targets: the same C++ on all of x86, but that of AVX2 and AVX-512 has instructions for float16.
INSTANTIATE_TEST_SUITE_P(OtherFloats, CompiledOtherFloats,
                         testing::Values("scalar", "avx2", "avx512_vnni"), name_of_target);

TEST(OtherFloatEngines, CompileWithoutWarnings) {
  expect_clean_code(other_float_cases(), "scalar");
}

}  // namespace
}  // namespace etch
