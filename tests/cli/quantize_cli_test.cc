// `etch quantize-params` and `--quantize-input` from outside.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compiler/host/process.h"
#include "compiler/import/tensor_proto.h"
#include "tests/support/model_builder.h"
#include "tests/support/one_node.h"
#include "tests/support/paths.h"
#include "tests/support/tensors.h"

namespace etch::cli {
namespace {

namespace fs = std::filesystem;

ProcessResult etch(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{etch_binary()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_process(command, std::chrono::minutes(5));
}

TEST(QuantizeParams, PrintsAScaledRange) {
  const ProcessResult result =
      etch({"quantize-params", "--mode", "SCALED", "--min", "-10", "--max", "5"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output,
            "mode        SCALED\n"
            "type        qint8, -128 to 127\n"
            "range       -10 to 9.921875\n"
            "multiplier  12.8\n"
            "scale       0.078125\n"
            "zero point  0 (SCALED has none)\n");
}

TEST(QuantizeParams, PrintsTheOtherModes) {
  const ProcessResult first = etch({"quantize-params", "--mode", "MIN_FIRST", "--type", "quint8",
                                    "--min", "-1", "--max", "4.1"});
  EXPECT_EQ(first.output,
            "mode        MIN_FIRST\n"
            "type        quint8, 0 to 255\n"
            "range       -1 to 4.1\n"
            "multiplier  50\n"
            "scale       0.02\n"
            "zero point  50\n");
  const ProcessResult combined =
      etch({"quantize-params", "--type", "qint8", "--min", "0", "--max", "0"});
  EXPECT_EQ(combined.output,
            "mode        MIN_COMBINED\n"
            "type        qint8, -128 to 127\n"
            "range       0 to 0.01\n"
            "multiplier  25500\n"
            "scale       3.9215687e-05\n"
            "zero point  -128 (equivalent: MIN_COMBINED rounds only once the minimum is "
            "subtracted)\n");
}

TEST(QuantizeParams, HeedsNarrowAndMinimumRange) {
  const ProcessResult result =
      etch({"quantize-params", "--mode", "SCALED", "--min", "-10", "--max", "5", "--narrow-range"});
  EXPECT_NE(result.output.find("qint8, -127 to 127\nrange       -10 to 10\n"), std::string::npos);
  const ProcessResult wide =
      etch({"quantize-params", "--min", "0", "--max", "0", "--ensure-minimum-range", "1"});
  EXPECT_NE(wide.output.find("range       0 to 1\n"), std::string::npos);
}

TEST(QuantizeParams, RefusesBadArguments) {
  EXPECT_EQ(etch({"quantize-params", "--min", "1", "--max", "0"}).exit_code, 1);
  EXPECT_EQ(etch({"quantize-params", "--min", "1"}).exit_code, 1);
  EXPECT_EQ(etch({"quantize-params", "--mode", "MAX", "--min", "0", "--max", "1"}).exit_code, 1);
  EXPECT_EQ(etch({"quantize-params", "--min", "0", "--max", "x"}).exit_code, 1);
  EXPECT_EQ(etch({"quantize-params", "--min", "0", "--max", "0", "--ensure-minimum-range", "0"})
                .exit_code,
            1);
}

TEST(QuantizeInputOption, MakesTheGeneratedFunctionTakeFloat) {
  ModelBuilder model(21);
  model.input("x", DType::kS8, {1, 8});
  model.initializer("half", Tensor::of<float>({}, {0.5F}));
  model.node("DequantizeLinear", {"x", "half"}, {"y"}).output("y");
  std::string folder = (std::filesystem::temp_directory_path() / "etch-test-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string file = folder + "/small.onnx";
  std::ofstream(file, std::ios::binary) << model.bytes();
  const std::string out = folder + "/out";
  const ProcessResult good = etch({"compile", file, "-o", out, "--target", "scalar",
                                   "--quantize-input", "x=SCALED,-10,5,qint8"});
  EXPECT_EQ(good.exit_code, 0) << good.errors;
  std::ifstream header(out + "/small.h");
  const std::string text{std::istreambuf_iterator<char>(header), {}};
  EXPECT_NE(text.find("const float* x,"), std::string::npos) << text;
  const ProcessResult bad = etch({"compile", file, "-o", out, "--quantize-input", "z=SCALED,0,1"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_NE(bad.errors.find("the model has no such input"), std::string::npos) << bad.errors;
  EXPECT_EQ(etch({"compile", file, "-o", out, "--quantize-input", "x=SCALED"}).exit_code, 1);
  std::filesystem::remove_all(folder);
}

// A convolution with an int8 input: what it says for floats is what it says for the int8 values
// that QuantizeV2 makes of them.
class QuantizedInput : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (fs::temp_directory_path() / "etch-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    ModelBuilder model;
    model.input("x", DType::kS8, {1, 2, 4, 5});
    model.initializer("scale", f32({}, {0.078125F})).initializer("zero", s8({}, {0}));
    model.initializer("w", s8({3, 2, 2, 1}, {5, -7, 100, -128, 127, 3, 0, 9, -50, 60, 70, -80}));
    model.initializer("w_scale", f32({}, {0.01F})).initializer("y_zero", s8({}, {-3}));
    model.node("QLinearConv", {"x", "scale", "zero", "w", "w_scale", "zero", "scale", "y_zero"},
               {"y"});
    model.output("y");
    std::ofstream(folder_ + "/conv.onnx", std::ios::binary) << model.bytes();
    std::vector<float> real;
    real.reserve(40);
    for (int i = 0; i < 40; ++i) real.push_back(0.61F * static_cast<float>(i) - 11);
    OneNode quantize("QuantizeV2", "org.tensorflow", 1);
    quantize.input(f32({1, 2, 4, 5}, real)).input(f32({}, {-10})).input(f32({}, {5})).outputs(3);
    quantize.attribute("mode", std::string("SCALED")).attribute("T", std::string("qint8"));
    write("float/input_0.pb", f32({1, 2, 4, 5}, real));
    write("quantized/input_0.pb", quantize.run().at(0));
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const Tensor& tensor) const {
    const fs::path path = fs::path(folder_) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << tensor_file(tensor, "x");
  }
  Tensor read(const std::string& name) const {
    Sink sink;
    return read_tensor_file(folder_ + "/" + name, sink).value_or(Tensor());
  }
  std::vector<std::string> with_flag(std::vector<std::string> command) const {
    command.insert(command.end(), {"--target", "scalar", "--quantize-input", "x=SCALED,-10,5"});
    return command;
  }

  std::string folder_;
};

TEST_F(QuantizedInput, RunGivesTheSameBytesAsQuantizingByHand) {
  const std::string model = folder_ + "/conv.onnx";
  const ProcessResult by_hand = etch({"run", model, "--data", folder_ + "/quantized", "-o",
                                      folder_ + "/by_hand", "--target", "scalar"});
  EXPECT_EQ(by_hand.exit_code, 0) << by_hand.errors;
  const ProcessResult by_option =
      etch(with_flag({"run", model, "--data", folder_ + "/float", "-o", folder_ + "/by_option"}));
  EXPECT_EQ(by_option.exit_code, 0) << by_option.errors;
  const Tensor expected = read("by_hand/output_0.pb");
  EXPECT_EQ(expected.size(), 45);
  EXPECT_EQ(read("by_option/output_0.pb"), expected);
}

TEST_F(QuantizedInput, CheckComparesWithDataSetsOfFloats) {
  const std::string model = folder_ + "/conv.onnx";
  const ProcessResult made = etch({"run", model, "--data", folder_ + "/quantized", "-o",
                                   folder_ + "/test_data_set_0", "--target", "scalar"});
  EXPECT_EQ(made.exit_code, 0) << made.errors;
  fs::copy(folder_ + "/float/input_0.pb", folder_ + "/test_data_set_0/input_0.pb");
  const ProcessResult good = etch(with_flag({"check", model}));
  EXPECT_EQ(good.exit_code, 0) << good.errors << good.output;
  const ProcessResult without = etch({"check", model, "--target", "scalar"});
  EXPECT_NE(without.exit_code, 0) << "the data set holds floats";
}

}  // namespace
}  // namespace etch::cli
