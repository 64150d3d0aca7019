// Operators on floats: the reference functions, the steps under the Native stage and compiled code
// give the same bits on every instruction set, also where compilers may fuse products and sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/engines.h"
#include "tests/support/float_cases.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/part.h"

namespace etch {
namespace {

TEST(FloatEngines, NativelyInConvolutions) { expect_native_agrees(float_convolutions(300)); }
TEST(FloatEngines, NativelyInDecoders) { expect_native_agrees(float_decoders(100)); }
TEST(FloatEngines, NativelyAtEdges) { expect_native_agrees(float_edges(100)); }
TEST(FloatEngines, NativelyInFusedConvolutions) {
  expect_native_agrees(fused(float_convolutions(300)));
}
TEST(FloatEngines, NativelyInFusedDecoders) { expect_native_agrees(fused(float_decoders(60))); }
TEST(FloatEngines, NativelyInFusedMatrixProducts) {
  expect_native_agrees(fused(float_matrices(200)));
}
TEST(FloatEngines, NativelyAtFusedEdges) { expect_native_agrees(fused(float_edges(200))); }
// What a weight meets in the padding counts as nothing, not as 0 times infinity.
TEST(FloatEngines, NativelyInConvolutionsWithInfiniteWeights) {
  for (const std::int64_t inputs : {1, 2}) {  // depthwise, and not
    const std::int64_t group = 2 / inputs;
    Tensor x(DType::kF32, {1, 2, 6, 40});
    for (std::size_t i = 0; i < x.as<float>().size(); ++i)
      x.as<float>()[i] = static_cast<float>(1 + i % 7);
    Tensor w(DType::kF32, {2, inputs, 3, 3});
    std::ranges::fill(w.as<float>(), 0.5F);
    w.as<float>().front() = std::numeric_limits<float>::infinity();
    ModelBuilder model(13);
    model.input("x", x.dtype(), {1, 2, 6, 40});
    model.initializer("w", w);
    model.node("Conv", {"x", "w"}, {"y"}, {{"pads", Ints{1, 1, 1, 1}}, {"group", group}});
    model.output("y");
    expect_native_agrees({{"infinite weight", model.bytes(), {x}}});
  }
}

// Scores of attention with a mask of 0 and -infinity, which quantize_static gives infinite scales.
Case attention_with_quantized_mask() {
  Tensor x(DType::kF32, {1, 5, 19}), quarter(DType::kF32, {}), infinite(DType::kF32, {});
  for (std::size_t i = 0; i < x.as<float>().size(); ++i)
    x.as<float>()[i] = static_cast<float>(i % 7) - 3;
  quarter.as<float>()[0] = 0.25F;
  infinite.as<float>()[0] = std::numeric_limits<float>::infinity();
  ModelBuilder model(13);
  model.input("x", x.dtype(), {1, 5, 19});
  model.initializer("s", quarter)
      .initializer("inf", infinite)
      .initializer("z", Tensor(DType::kS8, {}));
  model.initializer("mask", Tensor(DType::kS8, {5, 19}));
  model.node("QuantizeLinear", {"x", "s", "z"}, {"xq"});
  model.node("DequantizeLinear", {"xq", "s", "z"}, {"xd"});
  model.node("DequantizeLinear", {"mask", "inf", "z"}, {"m"});
  model.node("Add", {"xd", "m"}, {"sum"});
  model.node("QuantizeLinear", {"sum", "inf", "z"}, {"sq"});
  model.node("DequantizeLinear", {"sq", "inf", "z"}, {"sd"});
  model.node("Softmax", {"sd"}, {"p"});
  model.node("QuantizeLinear", {"p", "s", "z"}, {"y"});
  model.node("QuantizeLinear", {"x", "inf", "z"}, {"t"});
  model.output("y").output("t");
  return {"quantized mask", model.bytes(), {x}};
}

TEST(FloatEngines, InfiniteScales) {
  const std::vector<Case> cases{attention_with_quantized_mask()};
  expect_native_agrees(cases);
  expect_compiled_agrees(cases, "avx2");
  expect_compiled_agrees(cases, "scalar");
}

// Volumes of one image whose padding makes of it no image, or several: the outer positions read
// nothing of x.
std::vector<Case> padded_depths_of_one() {
  std::vector<Case> all;
  for (const std::int64_t stride : {1, 2}) {
    for (const std::int64_t outputs : {1, 16}) {  // per group: depthwise, and not
      Tensor x(DType::kF32, {1, 8, 1, 5, 6});
      for (std::size_t i = 0; i < x.as<float>().size(); ++i)
        x.as<float>()[i] = static_cast<float>(1 + i % 7);
      const std::int64_t group = outputs == 1 ? 8 : 1;
      Tensor w(DType::kF32, {group * outputs, 8 / group, 1, 3, 3});
      for (std::size_t i = 0; i < w.as<float>().size(); ++i)
        w.as<float>()[i] = 1.0F / static_cast<float>(1 + i % 5);
      ModelBuilder model(13);
      model.input("x", x.dtype(), {1, 8, 1, 5, 6});
      model.initializer("w", w);
      model.node(
          "Conv", {"x", "w"}, {"y"},
          {{"group", group}, {"strides", Ints{stride, 1, 1}}, {"pads", Ints{1, 1, 1, 0, 1, 1}}});
      model.output("y");
      all.push_back({cat("depth_of_one_", stride, "_", outputs), model.bytes(), {x}});
    }
  }
  return all;
}

TEST(FloatEngines, NativelyInPaddedDepthsOfOne) { expect_native_agrees(padded_depths_of_one()); }

TEST(FloatEngines, NativelyInMatrixProducts) { expect_native_agrees(float_matrices(300)); }

Tensor thirds(const Shape& shape, int start) {
  Tensor out(DType::kF32, shape);
  for (std::size_t i = 0; i < out.as<float>().size(); ++i)
    out.as<float>()[i] = static_cast<float>(static_cast<int>((i + 1) * 37 % 101) - start) / 3;
  return out;
}

// Products of one to seven rows, so that tiles have every number of rows: with constants, whose
// panels are of 32 columns where products of matrices have loops of their own, and with matrices of
// run time, whose panels are wide, of few rows of weights and of many.
Case products_of_all_tiles() {
  Case out{"products of all tiles", {}, {}};
  ModelBuilder model(13);
  for (const std::int64_t depth : {5, 140}) {
    for (const std::int64_t cols : {48, 83}) {
      const std::string b = cat("b_", depth, "x", cols);
      model.initializer("w" + b, thirds({depth, cols}, 50));
      model.input(b, DType::kF32, {depth, cols});
      out.inputs.push_back(thirds({depth, cols}, 40));
      for (std::int64_t rows = 1; rows <= 7; ++rows) {
        const std::string name = cat(rows, "x", depth, "x", cols);
        model.input("a_" + name, DType::kF32, {rows, depth});
        out.inputs.push_back(thirds({rows, depth}, static_cast<int>(rows)));
        model.node("MatMul", {"a_" + name, "w" + b}, {"y_" + name}).output("y_" + name);
        if (rows % 2 == 0) continue;
        model.node("MatMul", {"a_" + name, b}, {"z_" + name}).output("z_" + name);
      }
    }
  }
  out.model = model.bytes();
  return out;
}

// Convolutions with one tap whose pads are after the end alone: not all outputs have an input. With
// constants, some of which float16 holds, and with weights of run time.
Case one_tap_beyond_the_end() {
  Case out{"one tap beyond the end", {}, {}};
  ModelBuilder model(17);
  Tensor quarters = thirds({32, 16, 1}, 40);
  for (float& w : quarters.as<float>()) w = std::nearbyint(3 * w) / 4;
  model.initializer("w0", thirds({32, 16, 1}, 50));
  model.input("w2", DType::kF32, {32, 16, 1});
  out.inputs.push_back(thirds({32, 16, 1}, 30));
  model.input("x", DType::kF32, {1, 16, 20});
  out.inputs.push_back(thirds({1, 16, 20}, 45));
  for (const std::int64_t stride : {1, 2}) {
    // Layers that differ would not share weights of 16 bits.
    const std::string own = cat("own", stride);
    model.initializer(own, quarters);
    for (const std::string& w : {std::string("w0"), own, std::string("w2")}) {
      const std::string y = cat("y", stride, w);
      model.node("Conv", {"x", w}, {y}, {{"pads", Ints{0, 3}}, {"strides", Ints{stride}}});
      model.output(y);
    }
  }
  out.model = model.bytes();
  return out;
}

TEST(FloatEngines, NativelyWithOneTapBeyondTheEnd) {
  expect_native_agrees({one_tap_beyond_the_end()});
}
TEST(FloatEngines, AsCodeOfAvx2WithOneTapBeyondTheEnd) {
  expect_compiled_agrees({one_tap_beyond_the_end()}, "avx2");
}

TEST(FloatEngines, NativelyInProductsOfAllTiles) {
  expect_native_agrees({products_of_all_tiles()});
}
TEST(FloatEngines, AsCodeOfAvx2InProductsOfAllTiles) {
  expect_compiled_agrees({products_of_all_tiles()}, "avx2");
}

TEST(FloatEngines, NativelyInRows) { expect_native_agrees(float_rows(400)); }
// Rows apart from each other that begin with the first of 16 partial sums, or do not.
std::vector<Case> sums_of_several_rows() {
  std::vector<Case> all;
  for (const std::int64_t width : {8, 15, 16, 32, 40}) {
    for (const char* op : {"ReduceMean", "ReduceSumSquare", "ReduceMax"}) {
      Tensor x(DType::kF32, {2, 3, 4, width});
      for (std::size_t i = 0; i < x.as<float>().size(); ++i)
        x.as<float>()[i] = 1.0F / static_cast<float>(1 + i * 7 % 101);
      ModelBuilder model(13);
      model.input("x", x.dtype(), {2, 3, 4, width});
      model.node(op, {"x"}, {"y"}, {{"axes", Ints{1, 3}}});
      model.output("y");
      all.push_back({cat(op, " of ", width), model.bytes(), {x}});
    }
  }
  return all;
}
TEST(FloatEngines, NativelyInSumsOfSeveralRows) { expect_native_agrees(sums_of_several_rows()); }
TEST(FloatEngines, NativelyInNormalizedRows) { expect_native_agrees(normalized_rows(200)); }
TEST(FloatEngines, NativelyInRowsBeforeConvolutions) {
  expect_native_agrees(rows_before_convolutions(60));
}
TEST(FloatEngines, NativelyInIntegerProducts) {
  expect_native_agrees(integer_to_float_products(100));
}

// Pools of planes that a network reads and writes as files have them, in vectors of positions.
std::vector<Case> pools_of_lines() {
  std::vector<Case> all;
  for (const std::int64_t width : {8, 19, 36, 75}) {
    for (const std::int64_t stride : {1, 2}) {
      for (const std::int64_t counted : {-1, 0, 1}) {  // maximum; mean without and with padding
        Tensor x(DType::kF32, {2, 11, 6, width});
        for (std::size_t i = 0; i < x.as<float>().size(); ++i)
          x.as<float>()[i] = i % 13 == 0 ? -0.0F : 1.0F / (static_cast<float>(i * 7 % 101) - 50.5F);
        std::map<std::string, Attribute> how = {{"kernel_shape", Ints{3, 4}},
                                                {"strides", Ints{2, stride}},
                                                {"pads", Ints{1, width % 3, 1, 2}},
                                                {"ceil_mode", stride - 1}};
        if (counted >= 0) how["count_include_pad"] = counted;
        if (width == 36) how["dilations"] = Ints{1, 2};
        ModelBuilder model(19);
        model.input("x", x.dtype(), {2, 11, 6, width});
        model.node(counted < 0 ? "MaxPool" : "AveragePool", {"x"}, {"y"}, how);
        model.output("y");
        all.push_back({cat("pool ", counted, " of ", width, " by ", stride), model.bytes(), {x}});
      }
    }
  }
  return all;
}
TEST(FloatEngines, NativelyInPoolsOfLines) { expect_native_agrees(pools_of_lines()); }

// What fits no int32, and what is not 0, in vectors and after them.
std::vector<Case> conversions() {
  const float huge = 2147483648.0F, infinite = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {0.0F,
                                     -0.0F,
                                     1e-45F,
                                     -0.9F,
                                     1.9F,
                                     -3.5F,
                                     255.5F,
                                     300.0F,
                                     -huge,
                                     huge,
                                     infinite,
                                     1e20F,
                                     -1e20F,
                                     -infinite,
                                     2147483520.0F,
                                     -2147483904.0F,
                                     std::numeric_limits<float>::quiet_NaN()};
  std::vector<Case> all;
  for (const std::int64_t to : {2, 3, 6, 9}) {  // uint8, int8, int32, bool
    for (const DType from : {DType::kF32, DType::kS32}) {
      for (const std::size_t n : {61U, 40U}) {
        Tensor x(from, {static_cast<std::int64_t>(n)});
        for (std::size_t i = 0; i < n; ++i) {
          if (from == DType::kF32) x.as<float>()[i] = values[i % values.size()];
          if (from == DType::kS32) x.as<std::int32_t>()[i] = static_cast<std::int32_t>(i % 5) * 128;
        }
        ModelBuilder model(13);
        model.input("x", from, {static_cast<std::int64_t>(n)});
        model.node("Cast", {"x"}, {"y"}, {{"to", to}}).output("y");
        all.push_back(
            {cat(n, from == DType::kF32 ? " floats to " : " int32 to ", to), model.bytes(), {x}});
      }
    }
  }
  return all;
}
TEST(FloatEngines, NativelyInConversions) { expect_native_agrees(conversions()); }

std::vector<Case> sample() {
  const int times = std::getenv("ETCH_SWEEP") != nullptr ? 8 : 1;
  std::vector<Case> all = float_convolutions(20 * times);
  add_cases(all, float_decoders(6 * times));
  add_cases(all, float_matrices(15 * times));
  add_cases(all, fused(float_convolutions(12 * times)));
  add_cases(all, fused(float_decoders(4 * times)));
  add_cases(all, fused(float_matrices(8 * times)));
  add_cases(all, fused(float_edges(20 * times)));
  add_cases(all, float_rows(40 * times));
  add_cases(all, sums_of_several_rows());
  add_cases(all, pools_of_lines());
  add_cases(all, conversions());
  add_cases(all, normalized_rows(8 * times));
  add_cases(all, rows_before_convolutions(4 * times));
  add_cases(all, integer_to_float_products(8 * times));
  return all;
}

struct Programs {
  Programs(std::vector<Case> all, const IsaTraits& isa) : cases(std::move(all)) {
    for (const Case& each : cases) {
      programs.push_back(compiled(each, isa.name));
      if (programs.back() != nullptr) entries.push_back({programs.back().get(), &each.inputs});
    }
  }
  const std::vector<Case> cases;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
};

class FloatCode : public testing::TestWithParam<const IsaTraits*> {};

TEST_P(FloatCode, ComputesWhatTheReferencesDoWhateverTheFlags) {
  const IsaTraits& isa = *GetParam();
  const std::string obstacle = why_not_here(isa);
  if (!obstacle.empty()) GTEST_SKIP() << isa.name << ": " << obstacle;
  // Each case for two widths of vectors (the Native stage has them all), as compilers may fuse
  // products and sums; with ETCH_SWEEP also as they must not.
  const Programs all(part_of(half_of(sample(), isa.lanes == 8 || isa.lanes == 1 ? 1 : 0)), isa);
  ASSERT_EQ(all.entries.size(), all.cases.size());
  const char* const highest = std::getenv("ETCH_SWEEP") != nullptr ? "-O3" : "-O2";
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"-O1"}, {highest, "-march=native", "-ffp-contract=fast"}}) {
    if (flags.size() == 1 && std::getenv("ETCH_SWEEP") == nullptr) continue;
    BatchOptions options;
    options.flags = flags;
    options.clean = true;
    const auto outputs = run_generated(all.entries, isa, options);
    ASSERT_TRUE(outputs);
    for (std::size_t i = 0; i < all.cases.size(); ++i) {
      EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(all.cases[i])), "")
          << all.cases[i].name << " " << flags.front();
    }
  }
}

TEST_P(FloatCode, CompilesWithoutWarningsAndNeedsOnlyMemcpyAndMemset) {
  if (GetParam()->name == "avx_vnni") GTEST_SKIP() << "the floats of avx2";
  std::vector<Case> cases = float_convolutions(6);
  add_cases(cases, float_decoders(3));
  add_cases(cases, float_matrices(6));
  add_cases(cases, fused(float_convolutions(6)));
  add_cases(cases, float_rows(30));
  add_cases(cases, normalized_rows(4));
  const Programs all(thinned(std::move(cases), *GetParam()), *GetParam());
  ASSERT_EQ(all.entries.size(), all.cases.size());
  expect_clean_code(all.entries, *GetParam());
}

// Windows of three that end where the rows do.
Case windows_that_fit() {
  Tensor x(DType::kF32, {1, 16, 1, 39});
  for (std::size_t i = 0; i < x.as<float>().size(); ++i)
    x.as<float>()[i] = static_cast<float>(i % 11) - 5;
  ModelBuilder model(13);
  model.input("x", x.dtype(), {1, 16, 1, 39});
  model.node("MaxPool", {"x"}, {"y"}, {{"kernel_shape", Ints{1, 3}}, {"strides", Ints{1, 2}}});
  model.output("y");
  return {"windows that fit", model.bytes(), {x}};
}

// g++ 12 saw an overflow on a path of the unrolled loops that is never taken.
TEST_P(FloatCode, OfWindowsCompilesWithoutWarningsWhereLoopsAreUnrolled) {
  std::vector<Case> cases;
  cases.push_back(windows_that_fit());
  const Programs all(std::move(cases), *GetParam());
  ASSERT_EQ(all.entries.size(), 1U);
  EXPECT_TRUE(compile_generated(all.entries, *GetParam(), "g++",
                                {"-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror"}));
}

INSTANTIATE_TEST_SUITE_P(Targets, FloatCode,
                         testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         [](const auto& each) { return std::string(each.param->name); });

}  // namespace
}  // namespace etch
