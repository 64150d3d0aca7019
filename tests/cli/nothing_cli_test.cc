// Where nothing could be compared, `etch check` does not pass.
#include <gtest/gtest.h>

#include <filesystem>

#include "compiler/host/process.h"
#include "compiler/import/tensor_proto.h"
#include "tests/support/cli.h"
#include "tests/support/model_builder.h"

namespace etch::cli {
namespace {

class CliNothing : public Cli {};

// The only output is a state, which no data set has.
TEST_F(CliNothing, ComparedIsNothingPassed) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).input("s", DType::kF32, {2});
  model.node("Add", {"x", "s"}, {"t"}).output("t");
  write("model.onnx", model.bytes());
  std::filesystem::create_directories(folder_ / "test_data_set_0");
  write("test_data_set_0/input_0.pb", tensor_file(Tensor::of<float>({2}, {1, 2}), "x"));
  const ProcessResult result =
      etch({"check", (folder_ / "model.onnx").string(), "--state", "t=s", "--target", "scalar"});
  EXPECT_NE(result.exit_code, 0) << result.output;
  EXPECT_EQ(result.output.find("PASS"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace etch::cli
