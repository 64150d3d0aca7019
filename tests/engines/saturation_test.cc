// Weights and images built so that sums of two products leave 16 bits, where pmaddubsw would
// saturate: every target adds the products exactly, natively and compiled, and report.json states
// what the packed weights prove. Where a few such weights are between others: sums16_test.cc.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/base/embedded.h"
#include "compiler/base/text.h"
#include "compiler/emit/emit.h"
#include "compiler/targets/targets.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/part.h"
#include "tests/support/targets.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

struct Weights {
  const char* name;
  int even, odd;   // the values of neighbours, in turn
  int zero_point;  // int8; minus it they may need 9 bits
};
constexpr Weights kWeights[] = {{"greatest", 127, 127, 0},
                                {"least", -128, -128, 0},
                                {"both", 127, -128, 0},
                                {"9 bits", 127, 127, -128},
                                {"-9 bits", -128, -128, 127}};

struct Layer {
  const char* op;
  Shape x, w;
  std::int64_t group;
};
const Layer kLayers[] = {{"ConvInteger", {1, 8, 4, 5}, {9, 8, 1, 1}, 1},
                         {"ConvInteger", {1, 3, 6, 5}, {17, 3, 3, 3}, 1},
                         {"ConvInteger", {1, 35, 7, 6}, {35, 1, 3, 3}, 35},
                         {"QLinearConv", {1, 16, 5, 5}, {33, 16, 2, 2}, 1},
                         {"QLinearConv", {1, 64, 6, 6}, {64, 1, 5, 5}, 64}};

Tensor weights_of(const Weights& weights, const Shape& shape) {
  std::vector<std::int8_t> values;
  values.reserve(static_cast<std::size_t>(element_count(shape)));
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    values.push_back(static_cast<std::int8_t>(i % 2 == 0 ? weights.even : weights.odd));
  }
  return Tensor::of<std::int8_t>(shape, values);
}

Case case_of(const Layer& layer, const Weights& weights) {
  ModelBuilder model;
  model.input("x", DType::kU8, {layer.x.begin(), layer.x.end()});
  model.initializer("w", weights_of(weights, layer.w));
  model.initializer("x_zero", u8({}, {0}));
  model.initializer("w_zero", s8({}, {static_cast<std::int8_t>(weights.zero_point)}));
  std::vector<std::string> inputs{"x", "w", "x_zero", "w_zero"};
  if (layer.op == std::string("QLinearConv")) {
    const std::int64_t products = element_count(layer.w) / layer.w[0];
    model.initializer("one", f32({}, {1}));
    model.initializer("y_scale",
                      f32({}, {static_cast<float>(products * 600)}));  // 255 * 255 becomes 108
    model.initializer("y_zero", u8({}, {128}));
    inputs = {"x", "one", "x_zero", "w", "one", "w_zero", "y_scale", "y_zero"};
  }
  model.node(layer.op, inputs, {"y"}, {{"group", layer.group}}).output("y");
  const auto size = static_cast<std::size_t>(element_count(layer.x));
  return {cat(layer.op, " ", to_string(layer.w), ", ", weights.name),
          model.bytes(),
          {u8(layer.x, std::vector<std::uint8_t>(size, 255))}};
}

std::vector<Case> all_cases() {
  std::vector<Case> out;
  for (const Layer& layer : kLayers) {
    for (const Weights& weights : kWeights) out.push_back(case_of(layer, weights));
  }
  return out;
}

class SaturatingPairs : public testing::TestWithParam<const IsaTraits*> {};

TEST_P(SaturatingPairs, AreAddedExactlyByTheNativeStage) {
  for (const Case& each : all_cases()) {
    const auto program = compiled(each, GetParam()->name);
    ASSERT_NE(program, nullptr);
    EXPECT_EQ(difference_of(native_outputs(*program, each.inputs), reference_outputs(each)), "")
        << each.name;
  }
}

TEST_P(SaturatingPairs, AreAddedExactlyByCompiledCode) {
  if (const std::string why = why_not_here(*GetParam()); !why.empty()) GTEST_SKIP() << why;
  const std::vector<Case> cases = part_of(all_cases());
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  for (const Case& each : cases) {
    programs.push_back(compiled(each, GetParam()->name));
    ASSERT_NE(programs.back(), nullptr);
    entries.push_back({programs.back().get(), &each.inputs});
  }
  const auto outputs = run_generated(entries, *GetParam());
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(cases[i])), "") << cases[i].name;
}

INSTANTIATE_TEST_SUITE_P(OnEveryTarget, SaturatingPairs,
                         testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         [](const auto& each) { return std::string(each.param->name); });

// "products" of the one layer in report.json.
nlohmann::json products_of(const Case& each, const char* target) {
  const auto program = compiled(each, target);
  if (program == nullptr) return {};
  for (const OutputFile& file : emit(*program, {})) {
    if (std::filesystem::path(file.path).filename() != "report.json") continue;
    const auto report = nlohmann::json::parse(file.content);
    for (const auto& step : report.at("steps"))
      if (step.contains("products")) return step.at("products");
  }
  return {};
}

bool adds_two(const IsaTraits& isa) { return isa.weight_form == WeightForm::kS16EvenOdd; }
bool adds_four(const IsaTraits& isa) { return isa.vectorized && !adds_two(isa); }

TEST(ProductSums, AreProvedFromThePackedWeights) {
  const Layer& pointwise = kLayers[0];
  for (const char* target : targets_where(adds_two)) {
    const auto greatest = products_of(case_of(pointwise, kWeights[0]), target);
    EXPECT_EQ(greatest, (nlohmann::json{{"added_at_once", 2}, {"least", 0}, {"most", 64770}}));
    const auto least = products_of(case_of(pointwise, kWeights[1]), target);
    EXPECT_EQ(least, (nlohmann::json{{"added_at_once", 2}, {"least", -65280}, {"most", 0}}));
    const auto wide = products_of(case_of(pointwise, kWeights[3]), target);
    EXPECT_EQ(wide.at("most"), 2 * 255 * 255);
  }
  for (const char* target : targets_where(adds_four)) {
    const auto four = products_of(case_of(pointwise, kWeights[0]), target);
    EXPECT_EQ(four, (nlohmann::json{{"added_at_once", 4}, {"least", 0}, {"most", 4 * 255 * 127}}));
  }
}

TEST(ProductSums, TellWhetherSixteenBitsWouldSaturate) {
  const auto facts = [](const Weights& weights) {
    const auto program = compiled(case_of(kLayers[0], weights), "avx2");
    std::string out;
    if (program == nullptr) return out;
    for (const auto& step : program->steps) {
      for (const std::string& fact : step->facts) out += fact + "\n";
    }
    return out;
  };
  EXPECT_NE(facts({"", 64, 64, 0}).find("add up to [0, 32640]: exact in int16\n"),
            std::string::npos);
  EXPECT_NE(facts({"", 64, 65, 0}).find("exact in int32, where 16 bits would saturate\n"),
            std::string::npos);
}

// The instruction that saturates is where nothing can: in dot_sums16, whose weights are proved to
// fit (prove_products), and in products of halves of bytes: two of at most 15 * 127 are within 16
// bits (packed_integer_bytes.mutant).
TEST(ProductSums, SaturatingProductsAreWhereNoneSaturates) {
  for (const EmbeddedFile& file : embedded_files()) {
    const bool fits = file.path == "runtime/etch_packed_integers.h" ||
                      file.path == "templates/isa/shared/etch_ymm.h" ||
                      file.path == "templates/isa/sse41/vocab.h";
    EXPECT_EQ(file.text.find("_maddubs_") != std::string_view::npos, fits) << file.path;
    EXPECT_EQ(file.text.find("_dpbusds_"), std::string_view::npos) << file.path;
  }
}

}  // namespace
}  // namespace etch
