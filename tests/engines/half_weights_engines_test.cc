// Networks whose constant weights are float16 or bfloat16 keep them so (compiler/lower/halves.h):
// the reference, the steps under the Native stage and compiled code give the same bits on every
// instruction set, and those bits are what the same weights give as float32.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/lower/halves.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/dealt.h"
#include "tests/support/model_builder.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

using Attributes = std::map<std::string, Attribute>;

Tensor any_floats(Dice& dice, const Shape& shape) {
  Tensor out(DType::kF32, shape);
  for (float& each : out.as<float>())
    each = static_cast<float>(dice.between(-99999, 99999)) * 1e-5F;
  return out;
}

// Numbers around 1, and now and then zeros of both signs and one without a leading one.
Tensor halves(Dice& dice, DType type, const Shape& shape) {
  Tensor out(type, shape);
  const bool half = type == DType::kF16;
  for (std::uint16_t& each : out.as<std::uint16_t>()) {
    const std::int64_t size = dice.between(half ? 0x2000 : 0x3E00, 0x4000);
    const std::int64_t rare = dice.pick<std::int64_t>({0, 0, 1, half ? 0x03FF : 0x007F});
    const std::int64_t sign = dice.one_in(2) ? 0x8000 : 0;
    each = static_cast<std::uint16_t>(sign | (dice.one_in(12) ? rare : size));
  }
  return out;
}

struct Layer {
  ModelBuilder model{17};
  std::vector<Tensor> inputs;
  std::string what;
};

void add_input(Layer& layer, const Tensor& x) {
  const std::vector<Dim> dims(x.shape().begin(), x.shape().end());
  layer.model.input("x", x.dtype(), dims);
  layer.inputs.push_back(x);
}

// Few rows, whose weights are widened where they are multiplied, or many.
Layer matrices(int index, Dice& dice, DType type) {
  Layer out;
  const bool gemm = index % 2 == 0, transposed = gemm && dice.one_in(2);
  const std::int64_t rows = dice.pick<std::int64_t>({1, 2, 3, 5, 8, 16, 21, 40});
  const std::int64_t depth = dice.between(17, 60), cols = dice.pick<std::int64_t>({16, 31, 66, 90});
  add_input(out, any_floats(dice, {rows, depth}));
  out.model.initializer("w",
                        halves(dice, type, transposed ? Shape{cols, depth} : Shape{depth, cols}));
  if (gemm) {
    out.model.initializer("c", any_floats(dice, {dice.one_in(2) ? 1 : rows, cols}));
    Attributes attributes{{"transB", std::int64_t{transposed}}};
    if (dice.one_in(2)) attributes["alpha"] = 0.75F;
    out.model.node("Gemm", {"x", "w", "c"}, {"y"}, attributes);
  } else {
    out.model.node("MatMul", {"x", "w"}, {"y"});
  }
  out.what = cat(gemm ? "gemm_" : "matmul_", rows, "x", depth, "x", cols);
  return out;
}

// A matrix for each of a batch.
Layer batches(int, Dice& dice, DType type) {
  Layer out;
  const std::int64_t rows = dice.pick<std::int64_t>({1, 4, 17});
  add_input(out, any_floats(dice, {2, rows, 20}));
  out.model.initializer("w", halves(dice, type, {2, 20, 23}));
  out.model.node("MatMul", {"x", "w"}, {"y"});
  out.what = cat("batches_of_", rows);
  return out;
}

Layer convolutions(int index, Dice& dice, DType type) {
  Layer out;
  const std::int64_t group = index % 5 == 4 ? 2 : 1, kernel = dice.pick<std::int64_t>({1, 3});
  const std::int64_t in = dice.between(6, 20), each = dice.pick<std::int64_t>({9, 24, 70});
  const std::int64_t size = dice.between(3, 9), pad = dice.between(0, kernel / 2);
  const bool transposed = index % 5 == 3;
  add_input(out, any_floats(dice, {dice.between(1, 2), in * group, size, size + 1}));
  out.model.initializer("w", halves(dice, type,
                                    transposed ? Shape{in * group, each, kernel, kernel}
                                               : Shape{each * group, in, kernel, kernel}));
  out.model.initializer("b", any_floats(dice, {each * group}));
  // A depthwise layer before it, so that channels are neighbours, or nothing.
  out.model.node(transposed ? "ConvTranspose" : "Conv", {"x", "w", "b"}, {"t"},
                 {{"group", group},
                  {"pads", Ints{pad, pad, pad, pad}},
                  {"strides", Ints{dice.between(1, 2), dice.between(1, 2)}}});
  out.model.node("Relu", {"t"}, {"y"});
  out.what = cat(transposed ? "transposed_" : "conv_", in, "_", each, "_", size, "_k", kernel);
  return out;
}

Layer lines(int, Dice& dice, DType type) {
  Layer out;
  const std::int64_t in = dice.between(8, 20), each = dice.pick<std::int64_t>({16, 33});
  add_input(out, any_floats(dice, {1, in, dice.between(5, 40)}));
  out.model.initializer("w", halves(dice, type, {each, in, 3}));
  out.model.node("Conv", {"x", "w"}, {"y"}, {{"pads", Ints{4, 0}}, {"dilations", Ints{2}}});
  out.what = cat("line_", in, "_", each);
  return out;
}

Layer tables(int index, Dice& dice, DType type) {
  Layer out;
  const std::int64_t size = dice.between(9, 20), inner = dice.pick<std::int64_t>({32, 37});
  const std::int64_t axis = index % 2;
  Tensor at(index % 3 == 0 ? DType::kS32 : DType::kS64, {2, 3});
  for (std::int64_t i = 0; i < 6; ++i) {
    const std::int64_t place = dice.between(-size, size - 1);
    if (at.dtype() == DType::kS64) {
      at.as<std::int64_t>()[static_cast<std::size_t>(i)] = place;
    } else {
      at.as<std::int32_t>()[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(place);
    }
  }
  add_input(out, at);
  Tensor table = halves(dice, type, axis == 0 ? Shape{size, inner} : Shape{3, size, inner});
  table.as<std::uint16_t>()[5] = type == DType::kF16 ? 0xFC00 : 0xFF80;  // -infinity
  out.model.initializer("w", table);
  out.model.node("Gather", {"w", "x"}, {"y"}, {{"axis", axis}});
  out.what = cat("table_", size, "_", inner, "_axis", axis);
  return out;
}

Layer loops(int index, Dice& dice, DType type) {
  Layer out;
  const char* const op = index % 3 == 0 ? "LSTM" : index % 3 == 1 ? "GRU" : "RNN";
  const std::int64_t gates = index % 3 == 0 ? 4 : index % 3 == 1 ? 3 : 1;
  const std::int64_t hidden = dice.pick<std::int64_t>({17, 24}), in = 16;
  add_input(out, any_floats(dice, {dice.between(1, 4), dice.between(1, 3), in}));
  out.model.initializer("w", halves(dice, type, {2, gates * hidden, in}));
  out.model.initializer("r", halves(dice, type, {2, gates * hidden, hidden}));
  Attributes attributes{{"hidden_size", hidden}, {"direction", std::string("bidirectional")}};
  if (gates == 3 && dice.one_in(2)) attributes["linear_before_reset"] = std::int64_t{1};
  out.model.node(op, {"x", "w", "r"}, {"y"}, attributes);
  out.what = cat(op, "_", hidden);
  return out;
}

Case half_case(int index) {
  using Make = Layer (*)(int, Dice&, DType);
  static constexpr Make kMakers[] = {matrices, convolutions, tables,       matrices, lines,
                                     loops,    matrices,     convolutions, batches};
  Dice dice(static_cast<std::uint64_t>(index) + 34);
  const DType type = index / 9 % 2 == 0 ? DType::kF16 : DType::kBF16;
  const Layer layer = [&] {
    Layer made = kMakers[index % 9](index / 9, dice, type);
    made.model.output("y");
    return made;
  }();
  return {cat("half_", index, "_", name_of(type), "_", layer.what), layer.model.bytes(),
          layer.inputs};
}

std::vector<Case> half_cases(int n) {
  std::vector<Case> out;
  out.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) out.push_back(half_case(i));
  return out;
}

TEST(HalfWeightsEngines, Natively) { expect_native_agrees(half_cases(90)); }

TEST(HalfWeightsEngines, NativelyInFusedProducts) { expect_native_agrees(fused(half_cases(54))); }

class HalfWeightsCode : public testing::TestWithParam<const char*> {};

TEST_P(HalfWeightsCode, AgreesWithTheReference) {
  std::vector<Case> cases = thinned(half_cases(54), GetParam());
  add_cases(cases, thinned(fused(half_cases(18)), GetParam()));
  expect_compiled_agrees(cases, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Targets, HalfWeightsCode, testing::ValuesIn(all_targets_but({})),
                         name_of_target);

TEST(HalfWeightsEngines, GiveCleanCode) {
  expect_clean_code(half_cases(18), "scalar");
  expect_clean_code(half_cases(18), "avx2");
}

// ---- which constants ----

std::unique_ptr<Program> compiled_as(const Case& each, const char* target, Objective objective) {
  Sink sink;
  CompileOptions options;
  options.target = target;
  options.objective = objective;
  auto program = compile(each.model, options, sink);
  EXPECT_NE(program, nullptr) << each.name;
  return program;
}

bool keeps_halves(const Program& program) {
  for (const auto& step : program.steps) {
    for (const ConstantArray& constant : step->constants) {
      if (constant.element == DType::kU16) return true;
    }
  }
  return false;
}

Case product_of(const Tensor& weights, std::int64_t rows) {
  const std::int64_t depth = weights.shape()[0];
  ModelBuilder model(17);
  model.input("x", DType::kF32, {rows, depth});
  model.initializer("w", weights);
  model.node("MatMul", {"x", "w"}, {"y"});
  model.output("y");
  return {"product", model.bytes(), {Tensor(DType::kF32, {rows, depth})}};
}

// A target that takes many instructions to widen a number does it where many rows share the work.
TEST(HalfWeights, AreKeptWhereWideningIsCheap) {
  Dice dice(1);
  const Tensor w = halves(dice, DType::kF16, {40, 40});
  const auto kept = [&](std::int64_t rows, const char* target, Objective objective) {
    return keeps_halves(*compiled_as(product_of(w, rows), target, objective));
  };
  // Targets: those that convert float16, and one of each other way to compute floats.
  for (const char* target : {"avx2", "avx512_vnni", "aarch64"})
    EXPECT_TRUE(kept(1, target, Objective::kBalanced)) << target;
  // Targets: as above.
  for (const char* target : {"scalar", "sse41", "cortex-m4", "cortex-m0"}) {
    EXPECT_FALSE(kept(1, target, Objective::kBalanced)) << target;
    EXPECT_TRUE(kept(1, target, Objective::kSize)) << target;
    EXPECT_TRUE(kept(16, target, Objective::kBalanced)) << target;
    EXPECT_FALSE(kept(16, target, Objective::kRam)) << target;
  }
}

// Layers of other shapes might want another form, and a constant is in flash once.
TEST(HalfWeights, AreFloatsWhereLayersOfOtherShapesReadThemToo) {
  Dice dice(3);
  const auto bytes_of_weights = [&](std::int64_t rows, const char* target) {
    ModelBuilder model(17);
    model.initializer("w", halves(dice, DType::kF16, {40, 64}));
    for (const auto& [name, count] : {std::pair<std::string, std::int64_t>{"a", 20}, {"b", rows}}) {
      model.input(name, DType::kF32, {count, 40});
      model.node("MatMul", {name, "w"}, {name + "_out"});
      model.output(name + "_out");
    }
    const auto program = compiled_as({"shared", model.bytes(), {}}, target, Objective::kBalanced);
    std::size_t out = 0;
    for (const auto& step : program->steps) {
      for (const ConstantArray& constant : step->constants)
        out += constant.suffix == "weights" && constant.owner.empty() ? constant.bytes.size() : 0;
    }
    return out;
  };
  // Targets: one that widens with an instruction, and one that does not.
  for (const char* target : {"avx2", "cortex-m4"}) {
    EXPECT_EQ(bytes_of_weights(20, target), std::size_t{40} * 64 * 2) << target;
    EXPECT_EQ(bytes_of_weights(1, target), std::size_t{40} * 64 * 4) << target;
  }
}

// Deep convolutions would need more scratch memory than small cores have.
TEST(HalfWeights, AreFloatsWhereWideningTakesTooMuchMemory) {
  Dice dice(4);
  const auto kept = [&](std::int64_t depth, const char* target, Objective objective) {
    return keeps_halves(
        *compiled_as(product_of(halves(dice, DType::kF16, {depth, 8}), 16), target, objective));
  };
  // Targets: four columns at once, and eight.
  for (const auto& [target, most] : {std::pair("cortex-m4", 2048), std::pair("scalar", 1024)}) {
    EXPECT_TRUE(kept(most, target, Objective::kBalanced)) << target;
    EXPECT_FALSE(kept(most + 1, target, Objective::kBalanced)) << target;
    EXPECT_TRUE(kept(most + 1, target, Objective::kSize)) << target;
  }
  EXPECT_TRUE(kept(4000, "avx2", Objective::kBalanced));
}

// One element more than 16 bits hold, or a NaN whose bits widening would change.
TEST(HalfWeights, AreFloatsWhereOneElementIsNone) {
  Dice dice(2);
  Tensor w(DType::kF32, {40, 40});
  for (float& each : w.as<float>()) each = static_cast<float>(dice.between(-2000, 2000)) / 1024;
  EXPECT_EQ(half_type_of(w), DType::kF16);
  EXPECT_TRUE(keeps_halves(*compiled_as(product_of(w, 20), "avx2", Objective::kBalanced)));
  w.as<float>()[1599] = 0x1.002p0F;
  EXPECT_EQ(half_type_of(w), std::nullopt);
  EXPECT_FALSE(keeps_halves(*compiled_as(product_of(w, 20), "avx2", Objective::kBalanced)));
}

TEST(HalfWeights, KeepAllBits) {
  const auto of = [](std::vector<std::uint32_t> bits) {
    Tensor out(DType::kF32, {std::ssize(bits)});
    for (std::size_t i = 0; i < bits.size(); ++i)
      out.as<float>()[i] = std::bit_cast<float>(bits[i]);
    return half_type_of(out);
  };
  EXPECT_EQ(of({0x33800000, 0x80000000, 0x7F800000}), DType::kF16);  // 2^-24, -0, infinity
  EXPECT_EQ(of({0x33000000}), DType::kBF16);                         // 2^-25
  EXPECT_EQ(of({0x47800000}), DType::kBF16);                         // 65,536
  EXPECT_EQ(of({0x00010000}), DType::kBF16);                         // without a leading one
  EXPECT_EQ(of({0x3F802000, 0x47800000}), std::nullopt);             // one of each
  EXPECT_EQ(of({0x7FC00000}), DType::kF16);
  EXPECT_EQ(of({0x7FC20000}), DType::kBF16);  // a NaN with bits that float16 loses
  EXPECT_EQ(of({0x7F800001}), std::nullopt);  // one with a signal
}

}  // namespace
}  // namespace etch
