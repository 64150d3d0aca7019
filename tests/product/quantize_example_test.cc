// examples/quantize on a float network whose weights are in a file beside it, as PyTorch exports
// it. Needs the example's Python packages: those of build/venv or of python3; skipped without them.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/process.h"
#include "tests/support/paths.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

constexpr std::chrono::minutes kLongest{5};

// All tensors are outside, the constants of shape inference too. argv: folder
constexpr char kExport[] = R"(
import sys, numpy as np, onnx
from onnx import TensorProto as T, helper as h, numpy_helper as n
r = np.random.default_rng(1)
constants = [n.from_array(r.normal(0, 0.3, (4, 3, 3, 3)).astype(np.float32), "w"),
             n.from_array(r.normal(0, 0.3, (64, 5)).astype(np.float32), "m"),
             n.from_array(np.array([1, 64], np.int64), "s")]
nodes = [h.make_node("Conv", ["x", "w"], ["c"], pads=[1] * 4), h.make_node("Relu", ["c"], ["r"]),
         h.make_node("Reshape", ["r", "s"], ["f"]), h.make_node("MatMul", ["f", "m"], ["y"])]
graph = h.make_graph(nodes, "net", [h.make_tensor_value_info("x", T.FLOAT, [1, 3, 4, 4])],
                     [h.make_tensor_value_info("y", T.FLOAT, [1, 5])], constants)
model = h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8)
onnx.save(model, sys.argv[1] + "/float.onnx", save_as_external_data=True, location="float.onnx.data",
          size_threshold=0)
for i in range(4):
    np.save(f"{sys.argv[1]}/samples/{i}.npy", r.normal(size=(1, 3, 4, 4)).astype(np.float32))
)";

// Empty if none has the packages.
std::string python_with_packages() {
  for (const std::string& python :
       {source_dir() + "/build/venv/bin/python", std::string("python3")}) {
    const ProcessResult found =
        run_process({python, "-c", "import onnx, onnxruntime.quantization, sympy"}, kLongest);
    if (found.succeeded()) return python;
  }
  return {};
}

class QuantizeExample : public testing::Test {
 protected:
  void SetUp() override {
    python_ = python_with_packages();
    if (python_.empty()) GTEST_SKIP() << "no Python with examples/quantize/requirements.txt";
    std::string pattern = (fs::temp_directory_path() / "etch-quantize-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    fs::create_directory(folder_ / "samples");
    const ProcessResult made = run_process({python_, "-c", kExport, folder_.string()}, kLongest);
    ASSERT_TRUE(made.succeeded()) << made.errors;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  ProcessResult quantize() const {
    return run_process({python_, source_dir() + "/examples/quantize/quantize.py",
                        (folder_ / "float.onnx").string(), (folder_ / "int8/model.onnx").string(),
                        "--calibration", (folder_ / "samples").string()},
                       kLongest);
  }

  std::string python_;
  fs::path folder_;
};

TEST_F(QuantizeExample, TakesWeightsFromAFileBesideTheNetwork) {
  ASSERT_TRUE(fs::exists(folder_ / "float.onnx.data"));
  const ProcessResult quantized = quantize();
  ASSERT_TRUE(quantized.succeeded()) << quantized.errors;
  const ProcessResult checked = run_process(
      {etch_binary(), "check", (folder_ / "int8/model.onnx").string(), "--target", "scalar"},
      kLongest);
  EXPECT_TRUE(checked.succeeded()) << checked.output << checked.errors;
}

TEST_F(QuantizeExample, SaysWhichFileOfWeightsIsMissing) {
  fs::remove(folder_ / "float.onnx.data");
  const ProcessResult quantized = quantize();
  EXPECT_EQ(quantized.exit_code, 1);
  EXPECT_NE(quantized.errors.find("float.onnx.data"), std::string::npos) << quantized.errors;
  EXPECT_EQ(quantized.errors.find("Traceback"), std::string::npos) << quantized.errors;
}

}  // namespace
}  // namespace etch::cli
