// QuantizeV2 and Dequantize in whole models: the reference functions, the steps under the Native
// stage for every instruction set, and the compiled code give the same bits, whether ranges are
// constants (the vector kernel) or come at run time, per tensor and per axis.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ops/quantize_v2/range.h"
#include "compiler/stage/recorder.h"
#include "compiler/targets/targets.h"
#include "tests/support/dealt.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/part.h"
#include "tests/support/results.h"

namespace etch {
namespace {

constexpr DType kTypes[] = {DType::kS8, DType::kU8, DType::kS16, DType::kU16, DType::kS32};

struct Rule {
  const char* mode;
  const char* round_mode;
};
constexpr Rule kRules[] = {{"MIN_COMBINED", "HALF_AWAY_FROM_ZERO"},
                           {"MIN_FIRST", "HALF_AWAY_FROM_ZERO"},
                           {"SCALED", "HALF_AWAY_FROM_ZERO"},
                           {"SCALED", "HALF_TO_EVEN"}};

struct Setup {
  DType type = DType::kU8;
  Rule rule = kRules[0];
  bool narrow = false;
  bool constant_range = true;
  int axis = -1;
  Shape shape{3, 37};
  const char* then = "";        // what follows: "", "Dequantize" or "Conv"
  float minimum_range = 0.01F;  // above that, and with a range of no width

  std::string name() const {
    return cat(tensorflow_name(type), " ", rule.mode, " ", rule.round_mode, narrow ? " narrow" : "",
               constant_range ? " constant" : " run-time", " axis ", axis, " ", to_string(shape),
               " ", then, minimum_range > 0.01F ? " least range" : "");
  }

  // The rows of docs/conformance.md.
  std::vector<std::string> features() const {
    const bool is_scaled = std::string(rule.mode) == "SCALED";
    const std::string rounding = is_scaled ? cat(" ", rule.round_mode) : std::string();
    std::vector<std::string> out{
        cat("QuantizeV2/", rule.mode, rounding, " to ", tensorflow_name(type))};
    if (narrow && is_scaled) out.emplace_back("QuantizeV2/narrow_range");
    if (axis >= 0) out.emplace_back("QuantizeV2/axis");
    if (minimum_range > 0.01F) out.emplace_back("QuantizeV2/ensure_minimum_range");
    if (!constant_range) out.emplace_back("QuantizeV2/ranges known at run time");
    const std::string next = then;
    if (next != "Conv") out.emplace_back("QuantizeV2/output_min and output_max");
    if (next == "Conv") out.emplace_back("QuantizeV2/in front of QLinearConv");
    if (next == "Dequantize") {
      out.push_back(cat("Dequantize/", rule.mode, " from ", tensorflow_name(type)));
      if (axis >= 0) out.emplace_back("Dequantize/axis");
      if (!constant_range) out.emplace_back("Dequantize/ranges known at run time");
    }
    return out;
  }
};

struct FeaturedCase {
  Case each;
  std::vector<std::string> features;
};

// Mostly within and around [-2, 3], many on ties of the usual grids, and what is no number.
Tensor elements(Dice& dice, const Shape& shape) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kOdd[] = {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                            1e-40F,    -3e38F,     -0.0F};
  Tensor out(DType::kF32, shape);
  for (float& x : out.as<float>()) {
    x = static_cast<float>(dice.between(-5000, 5000)) / 1024.0F;
    if (dice.one_in(3)) x = static_cast<float>(dice.between(-600, 600)) / 255.0F;
    if (dice.one_in(4)) x = static_cast<float>(dice.between(-640, 640)) / 256.0F;
    if (dice.one_in(20)) x = kOdd[dice.between(0, 5)];
  }
  return out;
}

void add_range(ModelBuilder& model, Case& out, const Setup& setup, const char* name,
               const std::vector<float>& values) {
  const bool is_vector = setup.axis >= 0;
  const Shape shape = is_vector ? Shape{static_cast<std::int64_t>(values.size())} : Shape{};
  const Tensor tensor = Tensor::of<float>(shape, values);
  if (setup.constant_range) {
    model.initializer(name, tensor);
    return;
  }
  model.input(name, DType::kF32, declared_dims(shape));
  out.inputs.push_back(tensor);
}

void add_conv(ModelBuilder& model, const Setup& setup) {
  const std::int64_t channels = setup.shape[1];
  std::vector<std::int8_t> weights;
  weights.reserve(static_cast<std::size_t>(2 * channels * 9));
  for (std::int64_t i = 0; i < 2 * channels * 9; ++i) {
    weights.push_back(static_cast<std::int8_t>(i * 37 % 100 - 50));
  }
  const auto zero = [&](const char* name, DType type) {
    model.initializer(name, Tensor(type, {}));
  };
  model.initializer("w", Tensor::of<std::int8_t>({2, channels, 3, 3}, weights));
  model.initializer("one", Tensor::of<float>({}, {0.02F}));
  zero("x_zero", setup.type);
  zero("w_zero", DType::kS8);
  zero("y_zero", DType::kS8);
  model.node("QLinearConv", {"q", "one", "x_zero", "w", "one", "w_zero", "one", "y_zero"}, {"z"},
             {{"pads", Ints{1, 1, 1, 1}}});
  model.output("z");
}

Case case_of(const Setup& setup, Dice& dice) {
  ModelBuilder model(13);
  model.opset("org.tensorflow", 1);
  Case out;
  out.name = setup.name();
  model.input("x", DType::kF32, declared_dims(setup.shape));
  out.inputs.push_back(elements(dice, setup.shape));
  const std::int64_t slices =
      setup.axis < 0 ? 1 : setup.shape[static_cast<std::size_t>(setup.axis)];
  std::vector<float> min, max;
  for (std::int64_t s = 0; s < slices; ++s) {
    min.push_back(static_cast<float>(dice.between(-80, 10)) / 32.0F);
    max.push_back(static_cast<float>(dice.between(10, 100)) / 32.0F);
    if (setup.minimum_range > 0.01F) max.back() = min.back();
  }
  add_range(model, out, setup, "min", min);
  add_range(model, out, setup, "max", max);
  const std::map<std::string, Attribute> common{{"mode", std::string(setup.rule.mode)},
                                                {"narrow_range", std::int64_t{setup.narrow}},
                                                {"axis", std::int64_t{setup.axis}}};
  std::map<std::string, Attribute> attributes = common;
  attributes["T"] = std::string(tensorflow_name(setup.type));
  attributes["round_mode"] = std::string(setup.rule.round_mode);
  attributes["ensure_minimum_range"] = setup.minimum_range;
  model.node("QuantizeV2", {"x", "min", "max"}, {"q", "low", "high"}, attributes, "org.tensorflow");
  const std::string then = setup.then;
  if (then == "Conv") {
    add_conv(model, setup);
  } else {
    model.output("q").output("low").output("high");
  }
  if (then == "Dequantize") {
    model.node("Dequantize", {"q", "low", "high"}, {"back"}, common, "org.tensorflow");
    model.output("back");
  }
  out.model = model.bytes();
  return out;
}

// MIN_FIRST has no slices.
bool is_defined(const Setup& setup) {
  return setup.axis < 0 || std::string(setup.rule.mode) != "MIN_FIRST";
}

std::vector<FeaturedCase> all_cases() {
  Dice dice(7);
  std::vector<FeaturedCase> out;
  const auto add = [&](const Setup& setup) {
    if (is_defined(setup)) out.push_back({case_of(setup, dice), setup.features()});
  };
  for (const bool constant : {true, false}) {
    for (const Rule& rule : kRules) {
      for (const DType type : kTypes) {
        for (const bool narrow : {false, true}) {
          add({type, rule, narrow, constant, -1, {3, 37}, "Dequantize"});
        }
        for (const int axis : {0, 1, 2}) add({type, rule, false, constant, axis, {2, 19, 5}, ""});
      }
      for (const DType type : {DType::kS8, DType::kU8}) {
        add({type, rule, false, constant, -1, {1, 5, 6, 7}, "Conv"});
        add({type, rule, false, constant, 1, {1, 5, 6, 7}, "Conv"});
        add({type, rule, true, constant, 2, {3, 4, 35}, "Dequantize"});
        add({type, rule, false, constant, 0, {4, 5, 19}, "Dequantize"});
        add({type, rule, false, constant, -1, {2, 40}, "Dequantize", 0.25F});
      }
    }
  }
  return out;
}

constexpr const char* kRefused = "QuantizeV2/error conditions (refused)";

TEST(QuantizeV2, TheConformanceDocumentListsEveryFeature) {
  std::map<std::string, int> expected{{kRefused, 10}};
  for (const FeaturedCase& each : all_cases()) {
    for (const std::string& feature : each.features) ++expected[feature];
  }
  std::map<std::string, int> documented = documented_rows("QuantizeV2");
  documented.merge(documented_rows("Dequantize"));
  EXPECT_EQ(documented, expected) << "run tools/conformance-table";
}

void count(Tally& tally, const FeaturedCase& featured, bool passed) {
  for (const std::string& feature : featured.features) tally.count(feature, passed);
}

class QuantizeV2Engines : public testing::TestWithParam<const IsaTraits*> {};

TEST_P(QuantizeV2Engines, NativeEqualsTheReference) {
  Tally tally(cat(GetParam()->name, " native"));
  for (const FeaturedCase& featured : all_cases()) {
    const Case& each = featured.each;
    const auto program = compiled(each, GetParam()->name);
    ASSERT_NE(program, nullptr);
    const std::string difference =
        difference_of(native_outputs(*program, each.inputs), reference_outputs(each));
    EXPECT_EQ(difference, "") << each.name;
    count(tally, featured, difference.empty());
  }
}

TEST(QuantizeV2, ConstantByteRangesNeedNoRuntimeFunction) {
  Dice dice(1);
  for (const Rule& rule : kRules) {
    const auto program =
        compiled(case_of({DType::kS8, rule, false, true, -1, {3, 37}, "Dequantize"}, dice), "avx2");
    ASSERT_NE(program, nullptr);
    for (const auto& step : program->steps) {
      Recorder recorder(*step);
      recorder.set_isa(program->isa);
      step->run(recorder);
      EXPECT_TRUE(recorder.headers().empty()) << step->summary;
    }
  }
}

TEST_P(QuantizeV2Engines, CompiledCodeEqualsTheReference) {
  const IsaTraits& isa = *GetParam();
  if (const std::string why = why_not_here(isa); !why.empty())
    GTEST_SKIP() << isa.name << ": " << why;
  // A quarter of them, for compiling takes its time; all with tools/conformance-table.
  const std::size_t every = std::getenv("ETCH_SWEEP") != nullptr ? 1 : 4;
  const std::vector<FeaturedCase> all = all_cases();
  std::vector<const FeaturedCase*> taken;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all.size(); i += every) names.push_back(all[i].each.name);
  for (const std::size_t i : numbers_in_part(names)) {
    const FeaturedCase& each = all[i * every];
    taken.push_back(&each);
    programs.push_back(compiled(each.each, isa.name));
    ASSERT_NE(programs.back(), nullptr);
    entries.push_back({programs.back().get(), &each.each.inputs});
  }
  const auto outputs = run_generated(entries, isa);
  ASSERT_TRUE(outputs);
  Tally tally(cat(isa.name, " compiled"));
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const Case& each = taken[i]->each;
    const std::string difference = difference_of((*outputs)[i], reference_outputs(each));
    EXPECT_EQ(difference, "") << each.name;
    count(tally, *taken[i], difference.empty());
  }
}

// docs/spec/quantize_v2.md section 7.5.
TEST_P(QuantizeV2Engines, WrongAttributesAreRefused) {
  const std::map<std::string, Attribute> wrong[] = {
      {{"mode", std::string("MAX")}},
      {{"round_mode", std::string("DOWN")}, {"mode", std::string("SCALED")}},
      {{"round_mode", std::string("HALF_TO_EVEN")}, {"mode", std::string("MIN_FIRST")}},
      {{"round_mode", std::string("HALF_TO_EVEN")}, {"mode", std::string("MIN_COMBINED")}},
      {{"axis", std::int64_t{2}}},
      {{"axis", std::int64_t{-2}}},
      {{"axis", std::int64_t{1}}},  // ranges of one element
      {{"axis", std::int64_t{1}}, {"mode", std::string("MIN_FIRST")}},
      {{"T", std::string("qint4")}}};
  const auto refused = [&](std::map<std::string, Attribute> attributes, float max) {
    attributes.emplace("T", std::string("qint8"));
    ModelBuilder model;
    model.opset("org.tensorflow", 1).input("x", DType::kF32, {2, 3});
    model.initializer("min", Tensor::of<float>({}, {0}));
    model.initializer("max", Tensor::of<float>({}, {max}));
    model.node("QuantizeV2", {"x", "min", "max"}, {"y", "low", "high"}, attributes,
               "org.tensorflow");
    model.output("y");
    CompileOptions options;
    options.target = std::string(GetParam()->name);
    Sink sink;
    return compile(model.bytes(), options, sink) == nullptr && sink.has_errors();
  };
  EXPECT_FALSE(refused({}, 1));
  Tally tally(cat(GetParam()->name, " native"));
  const auto expect_refused = [&](const std::map<std::string, Attribute>& attributes, float max) {
    const bool is_refused = refused(attributes, max);
    EXPECT_TRUE(is_refused) << attributes.size() << " attributes";
    tally.count(kRefused, is_refused);
  };
  for (const auto& attributes : wrong) expect_refused(attributes, 1);
  expect_refused({}, -1);  // max < min
}

INSTANTIATE_TEST_SUITE_P(OnEveryTarget, QuantizeV2Engines,
                         testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         [](const auto& each) { return std::string(each.param->name); });

}  // namespace
}  // namespace etch
