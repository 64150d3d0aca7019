// `etch prove` of products of two tensors, with floats and without, and of layers of 16 bits.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/host/toolchain.h"
#include "compiler/targets/targets.h"
#include "tests/support/model_builder.h"
#include "tests/support/prove_folders.h"

namespace etch::cli {
namespace {
using Json = nlohmann::json;

// Products of two inputs, the second for each of two first ones, with results of 8 bits; with sums
// and a zero point that arrives at run time; and with the same of one row.
std::string products_of_inputs() {
  ModelBuilder model;
  model.input("a", DType::kU8, {2, 3, 40});
  model.input("b", DType::kS8, {40, 5});
  model.input("az", DType::kU8, {});
  model.initializer("as", Tensor::of<float>({}, {0.5F}));
  model.initializer("z", Tensor::of<std::uint8_t>({}, {131}));
  model.initializer("bs", Tensor::of<float>({}, {0.02F}));
  model.initializer("bz", Tensor::of<std::int8_t>({}, {-3}));
  model.node("QLinearMatMul", {"a", "as", "z", "b", "bs", "bz", "as", "z"}, {"bytes"});
  model.node("MatMulInteger", {"a", "b", "az", "bz"}, {"sums"});
  model.output("bytes");
  model.output("sums");
  return model.bytes();
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// A digit of the first number of an array that is not 0, counted from the last one, becomes another
// one.
std::string with_another_number(std::string text, const std::string& array, std::size_t digit = 0) {
  const std::size_t start = text.find(array);
  EXPECT_NE(start, std::string::npos) << array << " in " << text;
  const std::size_t line = text.find('\n', start);
  const std::size_t end = text.find(',', text.find_first_of("123456789", line));
  if (start != std::string::npos) {
    char& changed = text[end - 1 - digit];
    changed = changed == '1' ? '2' : '1';
  }
  return text;
}

class ProveProducts : public ProveFolders {
 protected:
  // How much of a part is wrong with this text in a file.
  int wrong(const std::string& model, const std::string& name, const std::string& text,
            const std::string& part) const {
    const std::string before = contents(folder_ / name);
    write(name, text);
    const ProcessResult result = prove(model, {"--json"});
    write(name, before);
    EXPECT_EQ(result.exit_code, 4) << result.output << result.errors;
    int count = 0;
    const Json proof = Json::parse(result.output);
    for (const Json& step : proof["steps"]) {
      if (step.contains(part)) count += step[part]["wrong"].get<int>();
    }
    return count;
  }
};

TEST_F(ProveProducts, ProductsOfTwoTensorsAreProved) {
  const std::string file = write("tensors.onnx", products_of_inputs());
  const ProcessResult made = compile(file, {});
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const ProcessResult result = prove(file);
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_SAYS(result.output, "n0_matmul: proved (product of two run-time matrices");
  // All pairs of elements; 2 * 3 * 5 outputs at four extremes of the whole and of three parts.
  EXPECT_SAYS(result.output, "  products 1,200, extremes 480, thresholds ");
  EXPECT_SAYS(result.output, "n1_matmul: proved");
  EXPECT_SAYS(result.output, "  products 1,200, extremes 480, random 16");
  EXPECT_SAYS(result.output, "PASS on scalar: 2 of 2 layers proved completely");
  EXPECT_SAYS(result.output, "in layers that are proved completely 100.0 %");
}

TEST_F(ProveProducts, FaultsInProductsOfTwoTensorsAreFoundByTheirParts) {
  const std::string file = write("tensors.onnx", products_of_inputs());
  ASSERT_EQ(compile(file, {}).exit_code, 0);
  const std::string code = "out/net_steps_0.cc", arrays = "out/net_weights_0.cc";
  const std::string steps = contents(folder_ / code);
  // A factor off by 0.1 %.
  const std::string factor = changed(contents(folder_ / arrays), "0x1.47ae14p-6F", "0x1.48p-6F");
  EXPECT_GT(wrong(file, arrays, factor, "thresholds"), 0);
  // One row is that before it.
  const std::string row = changed(steps, "(xt + k * 4 + 40)", "(xt + k * 4)");
  EXPECT_GT(wrong(file, code, row, "products"), 0);
  // Sums stop at a limit that only the greatest reach.
  const std::string add = "acc_p0_v0 = isa::dot4(acc_p0_v0, x_k0_p0, w_k0_v0);";
  const std::string limited = add + " if (acc_p0_v0.v > 400000) acc_p0_v0.v = 400000;";
  EXPECT_GT(wrong(file, code, changed(steps, add, limited), "extremes"), 0);
}

// The same calls as with floats: an element is two away from its zero point, and there is a factor
// for each of the greatest and the least sums.
TEST_F(ProveProducts, OfTwoTensorsWithoutFloatsAreProved) {
  const std::string file = write("tensors.onnx", products_of_inputs());
  ASSERT_EQ(compile(file, {"--requantize", "integer"}).exit_code, 0);
  const ProcessResult result = prove(file);
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_SAYS(result.output, "  products 1,200, extremes 480, thresholds ");
  EXPECT_SAYS(result.output, "PASS on scalar: 2 of 2 layers proved completely");
  if (status_of(*find_target("cortex-m3")).runs_here()) {
    const ProcessResult there = etch({"compile", file, "-q", "-f", "-o", path("m3"), "--target",
                                      "cortex-m3", "--name", "net", "--prove"});
    EXPECT_SAYS(there.output, "PASS on cortex-m3: 2 of 2 layers");
  }
}

TEST_F(ProveProducts, FaultsInProductsWithoutFloatsAreFoundByTheirParts) {
  const std::string file = write("tensors.onnx", products_of_inputs());
  ASSERT_EQ(compile(file, {"--requantize", "integer"}).exit_code, 0);
  const std::string code = "out/net_steps_0.cc", arrays = "out/net_weights_0.cc";
  const std::string steps = contents(folder_ / code);
  const std::string factor =
      with_another_number(contents(folder_ / arrays), "n0_matmul_requantize[", 6);
  EXPECT_GT(wrong(file, arrays, factor, "thresholds"), 0);
  const std::string row = changed(steps, "(xt + k * 4 + 40)", "(xt + k * 4)");
  EXPECT_GT(wrong(file, code, row, "products"), 0);
  const std::string add = "acc_p0_v0 = isa::dot4(acc_p0_v0, x_k0_p0, w_k0_v0);";
  const std::string limited = add + " if (acc_p0_v0.v > 400000) acc_p0_v0.v = 400000;";
  EXPECT_GT(wrong(file, code, changed(steps, add, limited), "extremes"), 0);
}

// ---- 16 bits ----

struct WordCase {
  std::string name, target = "scalar";
  DType type = DType::kS16;
  bool ties = false;
  std::int64_t group = 1;
  std::vector<std::int64_t> pads = {1, 0, 0, 1};
  bool product = false;
  std::int64_t channels = 4;
  float y_scale =
      370;  // the sums of a channel have some thousand results, each of which takes two calls
};

// A convolution of 4 to 6 channels with a bias and what it has beyond integers; or a product.
std::string layer_of_16_bits(const WordCase& c) {
  ModelBuilder model(17);
  model.opset("org.etch", 1);
  const auto number = [&](int value) {
    return c.type == DType::kS16
               ? Tensor::of<std::int16_t>({}, {static_cast<std::int16_t>(value)})
               : Tensor::of<std::uint16_t>({}, {static_cast<std::uint16_t>(value)});
  };
  const std::int64_t taps = c.product ? 1 : 4, out = c.group == 1 ? 6 : 4;
  std::vector<std::int8_t> weights(static_cast<std::size_t>(out * c.channels / c.group * taps));
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<std::int8_t>(i * 37 % 251 - 125);
  model.initializer("w", Tensor::of<std::int8_t>(c.product ? Shape{out, c.channels}
                                                           : Shape{out, c.channels / c.group, 2, 2},
                                                 weights));
  std::vector<float> scales;
  std::vector<std::int32_t> bias, rest;
  for (int m = 0; m < static_cast<int>(out); ++m) {
    scales.push_back(c.ties ? 0.125F : 0.01F * static_cast<float>(m + 1));
    bias.push_back(1000 * m - 2500);
    rest.push_back(100'000'000 * (m - 2));
  }
  model.initializer("xs", Tensor::of<float>({}, {0.5F})).initializer("xz", number(77));
  model.initializer("ws", Tensor::of<float>({out}, scales));
  model.initializer("wz", Tensor(DType::kS8, {}));
  model.initializer("ys", Tensor::of<float>({}, {c.ties ? 512.0F : c.y_scale}));
  model.initializer("yz", number(300));
  model.initializer("b", Tensor::of<std::int32_t>({out}, bias));
  model.initializer("r", Tensor::of<std::int32_t>({out}, rest));
  model.input(
      "x", c.type,
      c.product ? std::vector<Dim>{2, 3, c.channels} : std::vector<Dim>{1, c.channels, 4, 3});
  std::map<std::string, Attribute> attributes;
  if (!c.product) attributes = {{"pads", c.pads}, {"group", c.group}};
  model.node(c.product ? "QLinearMatMul16" : "QLinearConv16",
             {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b", "r"}, {"y"}, attributes,
             "org.etch");
  model.output("y");
  return model.bytes();
}

class WordLayers : public ProveProducts, public testing::WithParamInterface<WordCase> {};

TEST_P(WordLayers, AreProved) {
  const WordCase& c = GetParam();
  if (!status_of(*find_target(c.target)).runs_here()) GTEST_SKIP() << c.target;
  const std::string file = write("words.onnx", layer_of_16_bits(c));
  const ProcessResult made = compile(file, {}, c.target);
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const ProcessResult result = prove(file, {"--work", "1e11"});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_SAYS(result.output, "PASS on " + c.target + ": 1 of 1 layer proved completely");
  // 4 x 3 positions with 7 rows and 5 columns of taps on the image, 4 channels to 6.
  if (c.name == "Convolution") {
    EXPECT_SAYS(result.output, "  products 840, extremes 144, thresholds ");
  }
}

// Targets: portable, vectors, and products of pairs in one instruction.
INSTANTIATE_TEST_SUITE_P(
    ProveProducts, WordLayers,
    testing::Values(WordCase{"Convolution"}, WordCase{"WithTies", "scalar", DType::kU16, true},
                    WordCase{"OfGroups", "scalar", DType::kS16, false, 4},
                    WordCase{"Product", "scalar", DType::kU16, false, 1, {}, true},
                    WordCase{"InVectors", "avx2"}, WordCase{"InPairs", "cortex-m4"}),
    [](const auto& of) { return of.param.name; });

TEST_F(ProveProducts, SumsInPartsAreNotProved) {
  const std::string file = write(
      "words.onnx", layer_of_16_bits({"", "scalar", DType::kS16, false, 1, {}, true, 1200, 0.37F}));
  ASSERT_EQ(compile(file, {}).exit_code, 0);
  const ProcessResult result = prove(file);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_SAYS(result.output, "not proved: its sums are taken in parts");
}

TEST_F(ProveProducts, FaultsInLayersOf16BitsAreFoundByTheirParts) {
  WordCase c;
  c.y_scale = 0.37F;  // where a result has a few sums, a wrong one shows in it
  const std::string file = write("words.onnx", layer_of_16_bits(c));
  ASSERT_EQ(compile(file, {}).exit_code, 0);
  const std::string arrays = "out/net_weights_0.cc";
  const std::string right = contents(folder_ / arrays);
  EXPECT_GT(wrong(file, arrays, with_another_number(right, "_weights["), "products"), 0);
  EXPECT_GT(wrong(file, arrays, with_another_number(right, "_taken_off["), "products"), 0);
  EXPECT_GT(wrong(file, arrays, with_another_number(right, "_bias["), "thresholds"), 0);
  // The high word of a factor.
  EXPECT_GT(wrong(file, arrays, with_another_number(right, "_scale[", 6), "thresholds"), 0);
  // Sums stop at a limit before the bias is added.
  const std::string header = "out/etch/etch_words.h";
  const std::string added =
      changed(contents(folder_ / header), "  begin(tile, starts);\n",
              "  const int32_t none[static_cast<size_t>(lanes * count)] = {};\n"
              "  begin(tile, none);\n");
  const std::string limited = changed(
      added, "  ETCH_MEMCPY(sums, &tile, sizeof tile);\n",
      "  ETCH_MEMCPY(sums, &tile, sizeof tile);\n"
      "  for (int i = 0; i < lanes * count * pixels; ++i)\n"
      "    sums[i] = (sums[i] > 20000000 ? 20000000 : sums[i]) + starts[i % (lanes * count)];\n");
  EXPECT_GT(wrong(file, header, limited, "extremes"), 0);
}

}  // namespace
}  // namespace etch::cli
