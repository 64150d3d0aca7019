// `etch quantize-params` and `--quantize-input` from outside.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compiler/cli/process.h"
#include "tests/model_builder.h"

namespace etch::cli {
namespace {

ProcessResult etch(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{ETCH_BINARY};
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
  EXPECT_NE(text.find("const float* input0"), std::string::npos) << text;
  const ProcessResult bad = etch({"compile", file, "-o", out, "--quantize-input", "z=SCALED,0,1"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_NE(bad.errors.find("the model has no such input"), std::string::npos) << bad.errors;
  EXPECT_EQ(etch({"compile", file, "-o", out, "--quantize-input", "x=SCALED"}).exit_code, 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace etch::cli
