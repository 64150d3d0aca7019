// What `etch` says of networks that compute with floats, wholly or in part: never that they are
// integers; and what it says of arenas in which outputs overlap dying inputs.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/emit/report/report.h"
#include "compiler/host/process.h"
#include "compiler/schedule/memory.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

namespace etch {
namespace {

using Json = nlohmann::json;

enum class Kind { kFloat, kInteger, kMixed };

void add_float_product(ModelBuilder& model, const std::string& x, const std::string& y) {
  model.initializer("b", Tensor::of<float>({8, 4}, std::vector<float>(32, 0.5F)));
  model.node("MatMul", {x, "b"}, {y});
}

void add_quantization(ModelBuilder& model) {
  model.initializer("scale", Tensor::of<float>({}, {0.05F}));
  model.initializer("zero", Tensor::of<std::uint8_t>({}, {128}));
  model.initializer("w", Tensor::of<std::int8_t>({8, 8}, std::vector<std::int8_t>(64, 3)));
  model.initializer("w_zero", Tensor::of<std::int8_t>({}, {0}));
}

// x [1,8] is float; an integer product 8 x 8, a float product 8 x 4, or one after the other.
std::string network(Kind kind) {
  ModelBuilder model(13);
  model.input("x", DType::kF32, {1, 8});
  std::string last = "x";
  if (kind != Kind::kFloat) {
    add_quantization(model);
    model.node("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
    model.node("QLinearMatMul", {"q", "scale", "zero", "w", "scale", "w_zero", "scale", "zero"},
               {"p"});
    model.node("DequantizeLinear", {"p", "scale", "zero"}, {"d"});
    last = "d";
  }
  if (kind != Kind::kInteger) {
    add_float_product(model, last, "y");
    last = "y";
  }
  model.output(last);
  return model.bytes();
}

ReportData report_of(Kind kind, const std::string& target) {
  CompileOptions options;
  options.target = target;
  Sink sink;
  const auto program = compile(network(kind), options, sink);
  EXPECT_NE(program, nullptr) << errors_of(sink);
  return program == nullptr ? ReportData{} : gather_report(*program, {}, {});
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(FloatReport, MultiplicationsOfFloatsAreCountedByThemselves) {
  const Json floats = Json::parse(report_json(report_of(Kind::kFloat, "scalar")));
  EXPECT_EQ(floats["macs"], 32);
  EXPECT_EQ(floats["float_macs"], 32);
  const Json mixed = Json::parse(report_json(report_of(Kind::kMixed, "scalar")));
  EXPECT_EQ(mixed["macs"], 96);
  EXPECT_EQ(mixed["float_macs"], 32);
  EXPECT_EQ(Json::parse(report_json(report_of(Kind::kInteger, "scalar")))["float_macs"], 0);
}

TEST(FloatReport, APageSaysWhichWorkIsFloat) {
  EXPECT_TRUE(says(report_html(report_of(Kind::kFloat, "scalar")), "step, all in float"));
  EXPECT_TRUE(says(report_html(report_of(Kind::kMixed, "scalar")), "steps, 32 of them in float"));
  EXPECT_FALSE(says(report_html(report_of(Kind::kInteger, "scalar")), "in float<"));
}

TEST(FloatReport, AFloatNetworkHasNoRequantizationOnAnyTarget) {
  // Targets: with an FPU and without.
  for (const std::string target : {"scalar", "cortex-m0"}) {
    SCOPED_TRACE(target);
    const std::string page = report_html(report_of(Kind::kFloat, target));
    EXPECT_TRUE(says(page, "no result is rounded to a scale that is known at compile time"));
    EXPECT_TRUE(says(page, "The network has no quantized tensors that an operator could join."));
    for (const char* words : {"float product per result", "proved equal", "Requantization without",
                              "integers", "int32 cannot overflow", "is left in float"}) {
      EXPECT_FALSE(says(page, words)) << words;
    }
  }
}

// The same integer product between activations of 16 bits.
ReportData report_of_words() {
  ModelBuilder model(21);
  add_quantization(model);
  model.opset("org.etch", 1);
  model.initializer("middle", Tensor::of<std::int16_t>({}, {5}));
  model.input("x", DType::kS16, {1, 8});
  model.node("QLinearMatMul16", {"x", "scale", "middle", "w", "scale", "w_zero", "scale", "middle"},
             {"y"}, {}, "org.etch");
  model.output("y");
  Sink sink;
  const auto program = compile(model.bytes(), {}, sink);
  EXPECT_NE(program, nullptr) << errors_of(sink);
  return program == nullptr ? ReportData{} : gather_report(*program, {}, {});
}

TEST(FloatReport, ResultsOf16BitsAreNotCalledRoundedByFloats) {
  const std::string page = report_html(report_of_words());
  EXPECT_TRUE(says(page, "results of 16 bits are rounded with integers alone"));
  EXPECT_FALSE(says(page, "float product per result"));
  EXPECT_TRUE(
      says(report_html(report_of(Kind::kInteger, "scalar")), "one float product per result"));
}

TEST(FloatReport, ADepthwiseConvolutionOf16BitsIsCalledSo) {
  // Channels of each group: one is depthwise.
  for (const std::int64_t each : {1, 2}) {
    ModelBuilder model(21);
    model.opset("org.etch", 1);
    model.initializer("scale", Tensor::of<float>({}, {0.5F}));
    model.initializer("middle", Tensor::of<std::int16_t>({}, {5}));
    model.initializer("w", Tensor(DType::kS8, {4, each, 3, 3}));
    model.initializer("w_zero", Tensor::of<std::int8_t>({}, {0}));
    model.input("x", DType::kS16, {1, 4, 6, 6});
    model.node("QLinearConv16", {"x", "scale", "middle", "w", "scale", "w_zero", "scale", "middle"},
               {"y"}, {{"group", 4 / each}, {"pads", Ints{1, 1, 1, 1}}}, "org.etch");
    model.output("y");
    Sink sink;
    const auto program = compile(model.bytes(), {}, sink);
    ASSERT_NE(program, nullptr) << errors_of(sink);
    const std::string page = report_html(gather_report(*program, {}, {}));
    EXPECT_TRUE(says(page, each == 1 ? "3x3 depthwise convolution of 16 bits, 4 -&gt; 4 channels, "
                                       "6x6 -&gt; 6x6 pixels"
                                     : "3x3 convolution of 16 bits, 4 -&gt; 4 channels, 6x6 -&gt; "
                                       "6x6 pixels, 2 groups"));
  }
}

// n rows of a table of 4 bits by weights of 8: MatMulNBits, n x 16 by 16 x 4.
std::string packed_network() {
  const auto bytes = [](const Shape& shape) {
    return Tensor::of<std::uint8_t>(
        shape, std::vector<std::uint8_t>(static_cast<std::size_t>(element_count(shape)), 9));
  };
  ModelBuilder model(17);
  model.opset("com.microsoft", 1);
  model.input("i", DType::kS64, {Dim("n")});
  model.initializer("table", bytes({3, 8}));
  model.initializer("table_scales", Tensor::of<float>({3, 1}, {1, 1, 1}));
  model.node("GatherBlockQuantized", {"table", "i", "table_scales"}, {"a"},
             {{"block_size", std::int64_t{16}}}, "com.microsoft");
  model.initializer("w", bytes({4, 1, 16}));
  model.initializer("w_scales", Tensor::of<float>({4, 1}, {1, 1, 1, 1}));
  model.node("MatMulNBits", {"a", "w", "w_scales"}, {"y"},
             {{"K", std::int64_t{16}},
              {"N", std::int64_t{4}},
              {"bits", std::int64_t{8}},
              {"block_size", std::int64_t{16}}},
             "com.microsoft");
  model.output("y");
  return model.bytes();
}

TEST(FloatReport, PackedWeightsAreSaidToBeSo) {
  // Once with the size known, once with a size that run() takes, whose steps are wrapped.
  for (const bool sized : {false, true}) {
    CompileOptions options;
    options.target = "scalar";
    if (sized) options.bounds = {{"n", 1, 3}};
    if (!sized) options.import.dims["n"] = 2;
    Sink sink;
    const auto program = compile(packed_network(), options, sink);
    ASSERT_NE(program, nullptr) << errors_of(sink);
    const Json report = Json::parse(report_json(gather_report(*program, {}, {})));
    EXPECT_EQ(report["verdict"][sized ? 1 : 0],
              "weights of 4 or 8 bits, products of floats: all multiplications read packed "
              "weights");
    EXPECT_EQ(report["steps"][0]["weight_bits"], 4);
    EXPECT_EQ(report["steps"][1]["weight_bits"], 8);
  }
  EXPECT_FALSE(report_of(Kind::kFloat, "scalar").layers[0].weight_bits);
}

TEST(FloatReport, ChannelsThatAreRequantizedInIntegersAreCounted) {
  for (const Kind kind : {Kind::kInteger, Kind::kMixed}) {
    const std::string page = report_html(report_of(kind, "cortex-m0"));
    EXPECT_TRUE(says(page, "8 channels, each proved equal to the float rule"));
    EXPECT_TRUE(says(report_html(report_of(kind, "scalar")),
                     "one float product per result of an integer layer"));
  }
}

TEST(FloatReport, TheCommandLineSaysSoToo) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "etch-float-report-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string model = folder + "/model.onnx";
  std::ofstream(model, std::ios::binary) << network(Kind::kFloat);
  const auto etch = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {etch_binary()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return cli::run_process(command, std::chrono::minutes(1)).output;
  };
  EXPECT_TRUE(says(etch({"compile", model, "-o", folder + "/out"}), "step, all in float\n"));
  EXPECT_TRUE(says(etch({"inspect", model}), "32 MACs, all in float\n"));
  fs::remove_all(folder);
}

// Live at once: 1,000 bytes; the arena has 600 and the slack.
TEST(ArenaReport, NamesWhatOutputsOverDyingInputsSave) {
  Program program;
  program.most_live_bytes = 1000;
  program.arena_bytes = 600 + kArenaSlack;
  EXPECT_EQ(saved_in_place(program), 400);
  ReportData data;
  data.arena_bytes = program.arena_bytes;
  data.most_live_bytes = 1000;
  data.saved_in_place = 400;
  const std::string page = report_html(data);
  EXPECT_TRUE(
      says(page, "results that overwrite their inputs save 400 of the 1,000 that live at once"));
  EXPECT_FALSE(says(page, "lower bound"));
  const Json arena = Json::parse(report_json(data))["arena"];
  EXPECT_EQ(arena["most_live_bytes"], 1000);
  EXPECT_EQ(arena["saved_in_place"], 400);
  EXPECT_FALSE(arena.contains("lower_bound"));
}

TEST(ArenaReport, NothingIsSavedInAnArenaThatIsNotSmaller) {
  Program program;
  program.most_live_bytes = 1000;
  program.arena_bytes = 1000 + kArenaSlack;
  EXPECT_EQ(saved_in_place(program), 0);
  program.arena_bytes = 1300 + kArenaSlack;
  EXPECT_EQ(saved_in_place(program), 0);
  EXPECT_EQ(saved_in_place(Program{}), 0);
}

}  // namespace
}  // namespace etch
