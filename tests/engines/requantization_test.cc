// Integer requantization from the model to the steps' results: networks and layers give the same
// bytes as with floats on every instruction set, whatever mixture of formulas a layer needs.
#include "compiler/program/requantization.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/import/file.h"
#include "compiler/import/tensor_proto.h"
#include "tests/support/engines.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/targets.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Program> compiled_for(const std::string& model, const std::string& target,
                                      RequantizeMode mode) {
  CompileOptions options;
  options.target = target;
  options.requantize = mode;
  Sink sink;
  auto program = compile(model, options, sink);
  EXPECT_NE(program, nullptr) << reports_of(sink);
  return program;
}

template <class T>
Tensor random_tensor(Shape shape, std::mt19937& random) {
  std::vector<T> values(static_cast<std::size_t>(element_count(shape)));
  for (T& v : values) v = static_cast<T>(random());
  return Tensor::of<T>(std::move(shape), values);
}

// A power of two, the reciprocal of an even number, one above 1/2, and any others.
std::vector<float> awkward_scales(std::size_t count) {
  std::vector<float> scales = {0x1p-8F, 1 / 500.0F, 0.75F, 1.0F, 3e-24F};
  std::mt19937 random(11);
  while (scales.size() < count)
    scales.push_back(0x1p-10F * (1 + static_cast<float>(random() % (1U << 20)) * 0x1p-19F));
  return scales;
}

std::string matmul_model(const std::vector<float>& scales) {
  std::mt19937 random(1);
  const auto columns = static_cast<std::int64_t>(scales.size());
  ModelBuilder model;
  model.input("a", DType::kU8, {2000, 8});
  model.initializer("a_scale", f32({}, {1}));
  model.initializer("a_zero", u8({}, {100}));
  model.initializer("b", random_tensor<std::int8_t>({8, columns}, random));
  model.initializer("b_scale", f32({columns}, scales));
  model.initializer("b_zero", s8({columns}, std::vector<std::int8_t>(scales.size(), 0)));
  model.initializer("y_scale", f32({}, {1}));
  model.initializer("y_zero", u8({}, {117}));
  model.node("QLinearMatMul",
             {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"}, {"y"});
  model.output("y");
  return model.bytes();
}

std::string depthwise_and_pool_model(const std::vector<float>& scales) {
  std::mt19937 random(2);
  const auto channels = static_cast<std::int64_t>(scales.size());
  ModelBuilder model;
  model.input("x", DType::kU8, {1, channels, 20, 20});
  model.initializer("x_scale", f32({}, {1}));
  model.initializer("x_zero", u8({}, {128}));
  model.initializer("w", random_tensor<std::int8_t>({channels, 1, 3, 3}, random));
  model.initializer("w_scale", f32({channels}, scales));
  model.initializer("w_zero", s8({channels}, std::vector<std::int8_t>(scales.size(), 0)));
  model.initializer("y_scale", f32({}, {1}));
  model.initializer("y_zero", u8({}, {90}));
  model.node("QLinearConv",
             {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"}, {"y"},
             {{"group", channels}, {"pads", Ints{1, 1, 1, 1}}});
  model.initializer("z_scale", f32({}, {0.7F}));
  model.initializer("z_zero", u8({}, {60}));
  model.opset("com.microsoft", 1);
  model.node("QLinearGlobalAveragePool", {"y", "y_scale", "y_zero", "z_scale", "z_zero"}, {"z"}, {},
             "com.microsoft");
  model.output("y");
  model.output("z");
  return model.bytes();
}

void expect_equal_results(const std::string& model, const std::vector<Tensor>& inputs,
                          const char* target) {
  const auto with_floats = compiled_for(model, target, RequantizeMode::kFloat);
  const auto with_integers = compiled_for(model, target, RequantizeMode::kInteger);
  ASSERT_TRUE(with_floats && with_integers);
  EXPECT_EQ(count_rungs(*with_floats).total(), 0);
  EXPECT_GT(count_rungs(*with_integers).total(), 0);
  EXPECT_EQ(
      difference_of(native_outputs(*with_integers, inputs), native_outputs(*with_floats, inputs)),
      "")
      << target;
}

TEST(IntegerRequantizedLayers, AllFormulasInOneMatrixProduct) {
  std::mt19937 random(3);
  const std::vector<Tensor> inputs = {random_tensor<std::uint8_t>({2000, 8}, random)};
  const std::string model = matmul_model(awkward_scales(45));
  for (const char* target : all_targets_but({})) expect_equal_results(model, inputs, target);
  const RungCounts counts = count_rungs(*compiled_for(model, "scalar", RequantizeMode::kInteger));
  for (int i = 0; i < kRungs; ++i)
    EXPECT_GT(counts.of(static_cast<Rung>(i)), 0) << name_of(static_cast<Rung>(i));
}

TEST(IntegerRequantizedLayers, ShiftsOfTheHighWordAlone) {
  std::mt19937 random(4);
  const std::vector<Tensor> inputs = {random_tensor<std::uint8_t>({2000, 8}, random)};
  const std::string model = matmul_model({0.0123F, 0.00456F, 0.0789F});
  for (const char* target : all_targets_but({})) expect_equal_results(model, inputs, target);
}

TEST(IntegerRequantizedLayers, DepthwiseConvolutionAndGlobalAverage) {
  std::mt19937 random(5);
  const std::vector<Tensor> inputs = {random_tensor<std::uint8_t>({1, 37, 20, 20}, random)};
  const std::string model = depthwise_and_pool_model(awkward_scales(37));
  for (const char* target : all_targets_but({})) expect_equal_results(model, inputs, target);
}

TEST(StrictInteger, NamesTheNodeAndItsEmulatedChannels) {
  CompileOptions options;
  options.target = "scalar";
  options.requantize = RequantizeMode::kInteger;
  options.strict_integer = true;
  Sink sink;
  EXPECT_EQ(compile(matmul_model({0.0123F, 1 / 500.0F, 0.00456F}), options, sink), nullptr);
  EXPECT_TRUE(has_error(sink, DiagKind::kUnsupported));
  EXPECT_NE(errors_of(sink).find("QLinearMatMul"), std::string::npos) << errors_of(sink);
  EXPECT_NE(errors_of(sink).find("1 of 3 channels"), std::string::npos) << errors_of(sink);
}

TEST(StrictInteger, AcceptsWhatNeedsNoEmulation) {
  CompileOptions options;
  options.target = "scalar";
  options.requantize = RequantizeMode::kInteger;
  options.strict_integer = true;
  Sink sink;
  EXPECT_NE(compile(matmul_model({0.0123F, 0x1p-8F}), options, sink), nullptr) << reports_of(sink);
}

// Quantized values in and out, but floats in between.
std::string float_operators_model() {
  ModelBuilder model;
  model.opset("com.microsoft", 1);
  model.input("x", DType::kU8, {1, 2, 6, 6}).input("z", DType::kU8, {1, 2, 6, 6});
  model.initializer("scale", f32({}, {0.5F}));
  model.initializer("other", f32({}, {0.3F}));
  model.initializer("zero", u8({}, {3}));
  model.node("QLinearAdd", {"x", "scale", "zero", "z", "other", "zero", "scale", "zero"}, {"sum"},
             {}, "com.microsoft");
  model.node("QLinearAveragePool", {"sum", "scale", "zero", "other", "zero"}, {"y"},
             {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}, "com.microsoft");
  model.output("y");
  return model.bytes();
}

TEST(StrictInteger, NamesNodesBetweenQuantizedValuesThatUseFloats) {
  CompileOptions options;
  options.target = "avx2";
  options.requantize = RequantizeMode::kInteger;
  Sink quiet;
  EXPECT_NE(compile(float_operators_model(), options, quiet), nullptr) << reports_of(quiet);
  options.strict_integer = true;
  Sink sink;
  EXPECT_EQ(compile(float_operators_model(), options, sink), nullptr);
  const std::string errors = errors_of(sink);
  for (const char* name : {"QLinearAdd", "QLinearAveragePool"})
    EXPECT_NE(errors.find(name), std::string::npos) << errors;
  EXPECT_NE(errors.find("is computed with floats even with --requantize integer, which "
                        "--strict-integer forbids"),
            std::string::npos)
      << errors;
}

TEST(StrictInteger, TakesSumsWhereThereAreNoVectors) {
  CompileOptions options;
  options.target = "scalar";
  options.requantize = RequantizeMode::kInteger;
  options.strict_integer = true;
  Sink sink;
  EXPECT_EQ(compile(float_operators_model(), options, sink), nullptr);
  EXPECT_EQ(errors_of(sink).find("QLinearAdd"), std::string::npos) << errors_of(sink);
}

TEST(StrictInteger, NamesConvolutionsWhoseScalesAreKnownAtRunTime) {
  ModelBuilder model;
  model.input("x", DType::kU8, {1, 2, 3}).input("scale", DType::kF32, {});
  model.initializer("w", u8({1, 2, 1}, {1, 2})).initializer("zero", u8({}, {0}));
  model.node("QLinearConv", {"x", "scale", "zero", "w", "scale", "zero", "scale", "zero"}, {"y"});
  model.output("y");
  CompileOptions options;
  options.target = "avx2";
  options.requantize = RequantizeMode::kInteger;
  options.strict_integer = true;
  Sink sink;
  EXPECT_EQ(compile(model.bytes(), options, sink), nullptr);
  EXPECT_NE(errors_of(sink).find("QLinearConv"), std::string::npos) << errors_of(sink);
}

TEST(StrictInteger, AcceptsTheModelsOwnConversionsFromAndToFloat) {
  ModelBuilder model;
  model.input("real", DType::kF32, {1, 2, 3});
  model.initializer("scale", f32({}, {0.1F})).initializer("zero", u8({}, {7}));
  model.initializer("w", u8({1, 2, 1}, {1, 2}));
  model.node("QuantizeLinear", {"real", "scale", "zero"}, {"x"});
  model.node("QLinearConv", {"x", "scale", "zero", "w", "scale", "zero", "scale", "zero"}, {"y"});
  model.node("DequantizeLinear", {"y", "scale", "zero"}, {"z"}).output("z");
  CompileOptions options;
  options.target = "scalar";
  options.requantize = RequantizeMode::kInteger;
  options.strict_integer = true;
  Sink sink;
  EXPECT_NE(compile(model.bytes(), options, sink), nullptr) << reports_of(sink);
}

TEST(StrictInteger, AcceptsSelectionsAmongIntegersOnly) {
  CompileOptions options;
  options.target = "scalar";
  options.requantize = RequantizeMode::kInteger;
  options.strict_integer = true;
  for (const char* op : {"TopK", "ArgMax", "Gather"}) {
    ModelBuilder model;
    model.input("x", DType::kS8, {2, 9}).initializer("k", s64({1}, {2}));
    model.input("i", DType::kS32, {3});
    if (op == std::string("TopK")) {
      model.node(op, {"x", "k"}, {"y", "at"}).output("at");
    } else if (op == std::string("Gather")) {
      model.node(op, {"x", "i"}, {"y"});
    } else {
      model.node(op, {"x"}, {"y"});
    }
    model.output("y");
    Sink sink;
    EXPECT_NE(compile(model.bytes(), options, sink), nullptr) << reports_of(sink);
  }
}

TEST(StrictInteger, AcceptsMovesConversionsAndArithmeticOfIntegers) {
  CompileOptions options;
  options.requantize = RequantizeMode::kInteger;
  options.strict_integer = true;
  for (const char* op : {"Transpose", "ReduceMax", "Add", "Div", "Cast"}) {
    // With doubles avx2 divides faster, but not where there may be none.
    options.target = op == std::string("Div") ? "avx2" : "scalar";
    ModelBuilder model;
    model.input("x", DType::kS32, {3, 5});
    if (op == std::string("Add") || op == std::string("Div")) {
      model.node(op, {"x", "x"}, {"y"});
    } else if (op == std::string("Cast")) {
      model.node(op, {"x"}, {"y"}, {{"to", std::int64_t{7}}});  // int64
    } else {
      model.node(op, {"x"}, {"y"});
    }
    model.output("y");
    Sink sink;
    EXPECT_NE(compile(model.bytes(), options, sink), nullptr) << reports_of(sink);
  }
}

class IntegerRequantizedNetworks : public testing::TestWithParam<const char*> {};

TEST_P(IntegerRequantizedNetworks, EqualTheGoldensOnEveryTarget) {
  const fs::path folder = fs::path(source_dir()) / ".." / "shared" / "models" / "nets" / GetParam();
  if (!fs::exists(folder / "model.onnx")) GTEST_SKIP() << "the shared networks are not here";
  Sink sink;
  const auto bytes = read_model_file((folder / "model.onnx").string(), {}, sink);
  ASSERT_TRUE(bytes);
  const fs::path data = folder / "test_data_set_0";
  for (const char* target : all_targets_but({})) {
    const auto program = compiled_for(*bytes, target, RequantizeMode::kInteger);
    ASSERT_NE(program, nullptr);
    EXPECT_GT(count_rungs(*program).total(), 100);
    const auto input = read_tensor_file((data / "input_0.pb").string(), sink);
    const auto output = read_tensor_file((data / "output_0.pb").string(), sink);
    ASSERT_TRUE(input && output) << errors_of(sink);
    EXPECT_EQ(difference_of(native_outputs(*program, {*input}), {*output}), "") << target;
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, IntegerRequantizedNetworks,
                         testing::Values("emmtrix_microkws_static_qop", "mlperftiny_ic_resnet8_qdq",
                                         "mlperftiny_kws_dscnn_qdq", "onnxflow_ad01_qdq"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace etch
