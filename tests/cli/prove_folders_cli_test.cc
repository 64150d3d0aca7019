// `etch prove` of folders that were made with options, and what it says where nothing, or not
// everything, can be proved.
#include <onnx/onnx_pb.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/host/toolchain.h"
#include "compiler/import/tensor_proto.h"
#include "compiler/targets/targets.h"
#include "tests/support/model_builder.h"
#include "tests/support/prove_folders.h"

namespace etch::cli {
namespace {
using Json = nlohmann::json;

// One convolution 1x1 from `in` channels to 8 with int8 weights.
void add_convolution(ModelBuilder& model, const std::string& x, const std::string& y, int in,
                     const std::map<std::string, Attribute>& attributes = {}) {
  std::vector<std::int8_t> weights(8 * static_cast<std::size_t>(in));
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<std::int8_t>(i * 37 % 251 - 125);
  model.initializer(y + "_w", Tensor::of<std::int8_t>({8, in, 1, 1}, weights));
  model.initializer(y + "_b", Tensor::of<std::int32_t>({8}, {1, -2, 3, -4, 500, 6, -700, 8}));
  model.initializer(y + "_s", Tensor::of<float>({}, {0.5F}));
  model.initializer(y + "_ws", Tensor::of<float>({}, {0.01F}));
  model.initializer(y + "_z", Tensor::of<std::uint8_t>({}, {7}));
  model.initializer(y + "_wz", Tensor::of<std::int8_t>({}, {0}));
  model.node("QLinearConv",
             {x, y + "_s", y + "_z", y + "_w", y + "_ws", y + "_wz", y + "_s", y + "_z", y + "_b"},
             {y}, attributes, attributes.empty() ? "" : "org.etch");
}

// QLinearMatMul of [2, 3, 12] and a constant [12, 8], each column of it with its own zero point and
// scale; then one of the result and its own rows.
std::string two_products() {
  ModelBuilder model;
  model.input("x", DType::kS8, {2, 3, 12});
  std::vector<std::int8_t> weights(96);
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<std::int8_t>(i * 37 % 251 - 125);
  model.initializer("w", Tensor::of<std::int8_t>({12, 8}, weights));
  model.initializer(
      "ws", Tensor::of<float>({8}, {0.01F, 0.02F, 0.01F, 0.03F, 0.01F, 0.01F, 0.02F, 0.01F}));
  model.initializer("wz", Tensor::of<std::int8_t>({8}, {0, 1, -2, 3, 0, 0, 5, 0}));
  model.initializer("s", Tensor::of<float>({}, {0.5F}));
  model.initializer("z", Tensor::of<std::int8_t>({}, {7}));
  model.initializer("turned", Tensor::of<std::int64_t>({3}, {2, 8, 3}));
  model.node("QLinearMatMul", {"x", "s", "z", "w", "ws", "wz", "s", "z"}, {"y"});
  model.node("Reshape", {"y", "turned"}, {"t"});
  model.node("QLinearMatMul", {"y", "s", "z", "t", "s", "z", "s", "z"}, {"square"});
  model.output("square");
  return model.bytes();
}

// ---- what cannot be proved ----

TEST_F(ProveFolders, WhereNothingIsProvedThereIsNoPass) {
  ModelBuilder model;
  model.opset("org.etch", 1);
  model.input("x", DType::kU8, {1, 4, 3, 3});
  add_convolution(model, "x", "y", 4, {{"clamp_low", 7}, {"clamp_high", 16}});
  model.output("y");
  const std::string file = write("narrow.onnx", model.bytes());
  ASSERT_EQ(compile(file, {}).exit_code, 0);
  const ProcessResult result = prove(file);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_SAYS(result.output, "etch prove: NOTHING PROVED on scalar: 0 of 1 layer");
  ASSERT_EQ(compile(kDigits, {}).exit_code, 0);
  const ProcessResult no_layer = prove(kDigits, {"--layer", "n27_maxpool", "--json"});
  EXPECT_EQ(no_layer.exit_code, 2);
  EXPECT_EQ(Json::parse(no_layer.output)["verdict"], "NOTHING PROVED");
}

TEST_F(ProveFolders, ALayerWhoseSumsCannotBeToldApartIsNotProvedAndNotWrong) {
  ModelBuilder model;
  model.opset("org.etch", 1);
  model.input("x", DType::kU8, {1, 4, 3, 3});
  add_convolution(model, "x", "narrow", 4, {{"clamp_low", 7}, {"clamp_high", 16}});
  add_convolution(model, "narrow", "y", 8);
  model.output("y");
  const std::string file = write("narrow.onnx", model.bytes());
  const ProcessResult made = compile(file, {});
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const ProcessResult result = prove(file);
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_SAYS(result.output, "not proved: its results tell 8 sums in a row apart");
  EXPECT_SAYS(result.output, "PASS on scalar: 1 of 2 layers");
  EXPECT_SAYS(result.output, "0 wrong, 1 not proved");
}

// 6 x 12 x 8 and 2 x 3 x 8 x 3 multiplications.
TEST_F(ProveFolders, AProductWithConstantWeightsIsProvedAndTheShareOfTheWorkIsSaid) {
  const std::string file = write("products.onnx", two_products());
  const ProcessResult made = compile(file, {});
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const ProcessResult result = prove(file);
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_SAYS(result.output, "n0_conv: proved (matrix product, 6 x 12 by 12 x 8)");
  EXPECT_SAYS(result.output,
              "n2_matmul: not proved: both operands are one tensor, or parts of one");
  EXPECT_SAYS(result.output, "PASS on scalar: 1 of 2 layers proved completely");
  EXPECT_SAYS(result.output,
              "multiplications of integers: 720, in layers that are proved completely 80.0 %");
}

// All but 8 of 17,296 multiplications: more than 99.95 %.
TEST_F(ProveFolders, AShareThatIsNotAllIsNotRoundedUp) {
  ModelBuilder model;
  model.input("x", DType::kU8, {60, 24});
  model.input("t", DType::kU8, {2, 2});
  model.initializer("w", Tensor::of<std::uint8_t>({24, 12}, std::vector<std::uint8_t>(288, 3)));
  model.initializer("s", Tensor::of<float>({}, {0.5F}));
  model.initializer("z", Tensor::of<std::uint8_t>({}, {7}));
  model.node("QLinearMatMul", {"x", "s", "z", "w", "s", "z", "s", "z"}, {"y"});
  model.initializer("v", Tensor::of<std::uint8_t>({2, 2}, {1, 2, 3, 4}));
  model.node("QLinearMatMul", {"t", "s", "z", "v", "s", "z", "s", "z"}, {"u"});
  model.node("QLinearMatMul", {"u", "s", "z", "u", "s", "z", "s", "z"}, {"square"});
  model.output("y");
  model.output("square");
  const std::string file = write("shares.onnx", model.bytes());
  ASSERT_EQ(compile(file, {}).exit_code, 0);
  const ProcessResult result = prove(file);
  EXPECT_SAYS(result.output, "PASS on scalar: 2 of 3 layers");
  EXPECT_SAYS(result.output, "17,296, in layers that are proved completely 99.9 %");
}

// Weights whose columns have zero points of their own, and a zero point that arrives at run time.
TEST_F(ProveFolders, SumsOfConstantWeightsAreProvedWithWhatTheyStartFrom) {
  std::vector<std::int8_t> weights(200);
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<std::int8_t>(i * 37 % 251 - 125);
  ModelBuilder model;
  model.input("a", DType::kU8, {2, 3, 40}).input("az", DType::kU8, {});
  model.initializer("w", Tensor::of<std::int8_t>({40, 5}, weights));
  model.initializer("wz", Tensor::of<std::int8_t>({5}, {1, 0, 3, -2, 5}));
  model.node("MatMulInteger", {"a", "w", "az", "wz"}, {"sums"});
  model.output("sums");
  const std::string file = write("sums.onnx", model.bytes());
  ASSERT_EQ(compile(file, {}).exit_code, 0);
  const ProcessResult result = prove(file);
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_SAYS(result.output, "  products 1,200, extremes 10, random 16");
  EXPECT_SAYS(result.output, "PASS on scalar: 1 of 1 layer proved completely");
  EXPECT_EQ(result.output.find("its weights are no tensor of the file"), std::string::npos);
  EXPECT_SAYS(prove(file, {"--json"}).output, "\"weights\": \"w\"");
  // On Cortex-M the start is added afterwards, and may be where the input was.
  if (status_of(*find_target("cortex-m55")).runs_here()) {
    const ProcessResult there = etch({"compile", file, "-q", "-f", "-o", path("m55"), "--target",
                                      "cortex-m55", "--name", "net", "--prove"});
    EXPECT_EQ(there.exit_code, 0) << there.output << there.errors;
  }
  const std::string right = contents(folder_ / "out/net_weights_0.cc");
  for (const char* const array : {"n0_conv_weights[", "n0_start_factors["}) {
    const std::size_t line = right.find('\n', right.find(array));
    const std::size_t digit = right.find_first_of("123456789", line);
    ASSERT_NE(right.find(array), std::string::npos) << right;
    std::string wrong = right;
    wrong[digit] = wrong[digit] == '1' ? '2' : '1';
    write("out/net_weights_0.cc", wrong);
    EXPECT_EQ(prove(file).exit_code, 4) << array;
  }
}

enum class ZeroPoint { kConstant, kAtRunTime };

// ConvInteger with padding, and a depthwise one of the same tensor with strides.
std::string sums_of_convolutions(ZeroPoint zero_point) {
  ModelBuilder model;
  model.input("x", DType::kU8, {2, 4, 6, 5});
  if (zero_point == ZeroPoint::kAtRunTime) {
    model.input("z", DType::kU8, {});
  } else {
    model.initializer("z", Tensor::of<std::uint8_t>({}, {77}));
  }
  std::vector<std::int8_t> weights(108);
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<std::int8_t>(i * 37 % 251 - 125);
  model.initializer("w", Tensor::of<std::int8_t>({3, 4, 3, 3}, weights));
  model.initializer("wz", Tensor::of<std::int8_t>({3}, {1, 0, -2}));
  weights.resize(36);
  model.initializer("v", Tensor::of<std::int8_t>({4, 1, 3, 3}, weights));
  const Attribute pads = std::vector<std::int64_t>{1, 2, 1, 0};
  const Attribute strides = std::vector<std::int64_t>{2, 1};
  model.node("ConvInteger", {"x", "w", "z", "wz"}, {"a"}, {{"pads", pads}});
  model.node("ConvInteger", {"x", "v", "z"}, {"b"},
             {{"pads", pads}, {"strides", strides}, {"group", std::int64_t{4}}});
  model.output("a").output("b");
  return model.bytes();
}

TEST_F(ProveFolders, SumsOfConvolutionsAreProvedWithTheirHaloAndStart) {
  const std::string fixed = write("fixed.onnx", sums_of_convolutions(ZeroPoint::kConstant));
  ASSERT_EQ(compile(fixed, {}).exit_code, 0);
  EXPECT_SAYS(prove(fixed).output, "PASS on scalar: 2 of 2 layers proved completely");
  const std::string file = write("late.onnx", sums_of_convolutions(ZeroPoint::kAtRunTime));
  ASSERT_EQ(compile(file, {"-f"}).exit_code, 0);
  const ProcessResult result = prove(file);
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  // 2 images, 3 outputs of 4 inputs, 16 rows and 12 columns of taps on the image.
  EXPECT_SAYS(result.output, "  products 4,608, extremes 360, random 16");
  EXPECT_SAYS(result.output, "  products 768, extremes 240, random 16");
  EXPECT_SAYS(result.output, "PASS on scalar: 2 of 2 layers proved completely");
  EXPECT_SAYS(prove(file, {"--json"}).output, "\"weights\": \"w\"");
  // On Cortex-M the step reads the halo as a part of its input, and the start is added afterwards.
  if (status_of(*find_target("cortex-m55")).runs_here()) {
    const ProcessResult there = etch({"compile", file, "-q", "-f", "-o", path("m55"), "--target",
                                      "cortex-m55", "--name", "net", "--prove"});
    EXPECT_SAYS(there.output, "PASS on cortex-m55: 2 of 2 layers");
  }
}

TEST_F(ProveFolders, FaultsInSumsOfConvolutionsAreFoundByTheirParts) {
  const std::string file = write("late.onnx", sums_of_convolutions(ZeroPoint::kAtRunTime));
  ASSERT_EQ(compile(file, {}).exit_code, 0);
  const std::string steps = contents(folder_ / "out/net_steps_0.cc");
  const std::string weights = contents(folder_ / "out/net_weights_0.cc");
  const auto wrong = [&](const std::string& name, const std::string& whole, const std::string& from,
                         const std::string& to, const std::string& part) {
    std::string text = whole;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from << " in " << text;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    write(name, text);
    const ProcessResult result = prove(file, {"--json"});
    EXPECT_EQ(result.exit_code, 4) << result.output << result.errors;
    const Json proof = Json::parse(result.output);
    int count = 0;
    for (const Json& step : proof["steps"]) {
      if (step.contains(part)) count += step[part]["wrong"].get<int>();
    }
    write(name, whole);
    return count;
  };
  const std::string code = "out/net_steps_0.cc", arrays = "out/net_weights_0.cc";
  const auto digit_of = [&](const std::string& array) {
    return weights.find_first_of("123456789", weights.find('\n', weights.find(array)));
  };
  for (const char* const array : {"n0_conv_weights[", "n0_start_factors["}) {
    const std::size_t digit = digit_of(array);
    const std::string line = weights.substr(weights.find(array), digit + 1 - weights.find(array));
    std::string other = line;
    other.back() = other.back() == '1' ? '2' : '1';
    EXPECT_GT(wrong(arrays, weights, line, other, "products"), 0) << array;
  }
  // The halo after the first rows is left as it was.
  EXPECT_GT(wrong(code, steps, "for (ptrdiff_t i2 = 0;", "for (ptrdiff_t i2 = 3;", "random"), 0);
  // Sums stop at a limit that only the greatest reach.
  const std::string add = "acc_p0_v0 = isa::dot4(acc_p0_v0, x_k0_p0, w_k0_v0);";
  const std::string limited = add + " if (acc_p0_v0.v > 250000) acc_p0_v0.v = 250000;";
  EXPECT_GT(wrong(code, steps, add, limited, "extremes"), 0);
}

TEST_F(ProveFolders, AWrongWeightOfAProductIsFound) {
  const std::string file = write("products.onnx", two_products());
  ASSERT_EQ(compile(file, {}).exit_code, 0);
  std::string weights = contents(folder_ / "out/net_weights_0.cc");
  const std::size_t at = weights.find("131,", weights.find("n0_conv_weights["));
  ASSERT_NE(at, std::string::npos) << weights;
  weights.replace(at, 3, "132");
  write("out/net_weights_0.cc", weights);
  const ProcessResult result = prove(file, {"--json", "--layer", "n0_conv"});
  EXPECT_EQ(result.exit_code, 4) << result.output << result.errors;
  EXPECT_GT(Json::parse(result.output)["steps"][0]["products"]["wrong"], 0);
}

TEST_F(ProveFolders, WhatIsCompleteHasLeftOutNoCall) {
  ASSERT_EQ(compile(kDigits, {}).exit_code, 0);
  const auto products = [&](const std::string& work) {
    const Json proof =
        Json::parse(prove(kDigits, {"--json", "--layer", "n15_conv", "--work", work}).output);
    return proof["steps"][0]["products"];
  };
  const Json all = products("1e12");
  EXPECT_EQ(all["done"], all["possible"]);
  // Two parts of 9 * 16 inputs and none; some weights need another window, and few calls have them.
  EXPECT_GT(all["calls"], 2 * (9 * 16 + 1));
  EXPECT_LT(all["calls"], 3 * (9 * 16 + 1));
  // Enough for one of the two parts.
  const Json some = products("2e7");
  EXPECT_LT(some["calls"], all["calls"]);
  EXPECT_LT(some["done"], some["possible"]);
}

TEST_F(ProveFolders, BandsThatShareTheirCodeAreProved) {
  ModelBuilder model;
  model.input("x", DType::kU8, {1, 4, 12, 12});
  add_convolution(model, "x", "a", 4);
  add_convolution(model, "a", "y", 8);
  model.output("y");
  const std::string file = write("bands.onnx", model.bytes());
  ASSERT_EQ(compile(file, {"--split-rows", "1"}).exit_code, 0);
  ASSERT_NE(contents(folder_ / "out/net.cc").find("n0_conv("), std::string::npos);
  ASSERT_EQ(contents(folder_ / "out/net.cc").find("n0_conv_2("), std::string::npos);
  const ProcessResult result = prove(file);
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_SAYS(result.output, "n0_conv_2: proved");
  EXPECT_SAYS(result.output, "PASS on scalar: 4 of 4 layers");
}

// ---- how the folder was made ----

// So many options that the header has them on several lines; some of them change the code.
TEST_F(ProveFolders, EveryOptionOfTheHeaderIsApplied) {
  ModelBuilder model;
  model.input("the image", DType::kU8, {"N", 4, 3, 3});
  add_convolution(model, "the image", "y", 4);
  add_convolution(model, "y", "unused", 8);
  model.output("unused");
  const std::string file = write("model.onnx", model.bytes());
  const ProcessResult made =
      compile(file, {"--limit", "nodes=999999", "--limit", "elements=10000001", "--input-shape",
                     "the image=2,4,3,3", "--cut", "y", "--unroll", "n0_conv=full",
                     "--weights-section", ".slow.and.large"});
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const std::string header = contents(folder_ / "out/net.h");
  const std::size_t line = header.find("// etch compile");
  ASSERT_LT(header.find('\n', line), header.find("--weights-section"));
  const ProcessResult result = prove(file);
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_SAYS(result.output, "1 of 1 layer");
  EXPECT_SAYS_NOT(result.output, "are not what this Etch generates");
}

TEST_F(ProveFolders, ATuningFileIsAskedForAndApplied) {
  ModelBuilder model;
  model.input("x", DType::kU8, {1, 4, 3, 3});
  add_convolution(model, "x", "y", 4);
  model.output("y");
  const std::string file = write("model.onnx", model.bytes());
  ASSERT_EQ(compile(file, {}).exit_code, 0);
  std::string key;
  const Json report = Json::parse(contents(folder_ / "out/report.json"));
  for (const Json& step : report["steps"]) {
    if (step["kind"] == "conv") key = step["tiles"]["tuning_key"];
  }
  const std::string tuning =
      write("tuning.txt", "scalar " + key + " tile=1x3 channels=2 outer=channels unroll=2\n");
  const ProcessResult both = compile(file, {"--tuning", tuning, "--prove"});
  EXPECT_EQ(both.exit_code, 0) << both.output << both.errors;
  EXPECT_SAYS_NOT(both.output, "are not what this Etch generates");
  const ProcessResult without = prove(file);
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_SAYS(without.errors, "--tuning is needed");
  const ProcessResult with = prove(file, {"--tuning", tuning});
  EXPECT_EQ(with.exit_code, 0) << with.errors;
  EXPECT_SAYS_NOT(with.output, "are not what this Etch generates");
}

TEST_F(ProveFolders, ConstantsAreAskedForAndCompared) {
  ModelBuilder model;
  model.input("x", DType::kU8, {1, 4, 3, 3});
  model.input("shape", DType::kS64, {2});
  add_convolution(model, "x", "y", 4);
  model.node("Reshape", {"y", "shape"}, {"z"});
  model.output("z");
  const std::string file = write("model.onnx", model.bytes());
  const auto constant = [&](const std::string& name, std::int64_t rows) {
    return "shape=" +
           write(name, tensor_file(Tensor::of<std::int64_t>({2}, {rows, 72 / rows}), "shape"));
  };
  const std::string right = constant("right.pb", 8), other = constant("other.pb", 2);
  const ProcessResult both = compile(file, {"--constant", right, "--prove"});
  EXPECT_EQ(both.exit_code, 0) << both.output << both.errors;
  const ProcessResult without = prove(file);
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_SAYS(without.errors, "--constant is needed");
  const ProcessResult wrong = prove(file, {"--constant", other});
  EXPECT_EQ(wrong.exit_code, 3);
  EXPECT_SAYS(wrong.errors, "was made with other options");
  EXPECT_EQ(prove(file, {"--constant", right}).exit_code, 0);
  EXPECT_EQ(compile(file, {"--constant", "shape=8,9", "--force"}).exit_code, 0);
  EXPECT_EQ(prove(file).exit_code, 0) << "numbers are in the folder";
}

// The hash that the folder has is of the file and its data.
TEST_F(ProveFolders, DataInOtherFilesIsAskedFor) {
  ModelBuilder model;
  model.input("x", DType::kU8, {1, 4, 3, 3});
  add_convolution(model, "x", "y", 4);
  model.output("y");
  onnx::TensorProto& weights = *model.graph().mutable_initializer(0);
  const std::string bytes = weights.raw_data();
  weights.clear_raw_data();
  weights.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& place = *weights.add_external_data();
  place.set_key("location");
  place.set_value("weights.bin");
  const std::string file = write("model.onnx", model.bytes());
  const std::string data = path("data");
  std::filesystem::create_directory(data);
  write("data/weights.bin", bytes);
  const ProcessResult both = compile(file, {"--external-data", data, "--prove"});
  EXPECT_EQ(both.exit_code, 0) << both.output << both.errors;
  EXPECT_SAYS(prove(file).errors, "--external-data is needed");
  EXPECT_EQ(prove(file, {"--external-data", data}).exit_code, 0);
  write("data/weights.bin", std::string(bytes.size(), 'w'));
  const ProcessResult other = prove(file, {"--external-data", data});
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_SAYS(other.errors, "is not the model that the folder was made of");
}

TEST_F(ProveFolders, FormsWithoutArraysAreRefused) {
  const std::vector<std::vector<std::string>> forms = {
      {"--weights", "file"}, {"--weights", "binary"}, {"--single-file"}};
  for (const std::vector<std::string>& form : forms) {
    ASSERT_EQ(compile(kDigits, form).exit_code, 0);
    const ProcessResult result = prove(kDigits);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_SAYS(result.errors, "etch prove: generate with");
  }
}

TEST_F(ProveFolders, LargeFilesOfOthersAreNotRead) {
  ASSERT_EQ(compile(kDigits, {}).exit_code, 0);
  write("out/a.h", "");
  std::filesystem::resize_file(folder_ / "out/a.h", std::uintmax_t{1} << 40);
  const ProcessResult result = prove(kDigits, {"--layer", "n33_conv"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

}  // namespace
}  // namespace etch::cli
