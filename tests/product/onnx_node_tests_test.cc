// A seeded sample of ONNX's node test cases through tools/onnx-node-tests. Needs Python with onnx:
// that of build/venv or python3; skipped without it. All cases: docs/onnx-support.md.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/process.h"
#include "tests/support/paths.h"

namespace etch::cli {
namespace {

constexpr std::chrono::minutes kLongest{5};

// Empty if none has the package in a recent version.
std::string python_with_onnx() {
  for (const std::string& python :
       {source_dir() + "/build/venv/bin/python", std::string("python3")}) {
    const ProcessResult found =
        run_process({python, "-c", "import numpy, onnx; onnx.TensorProto.FLOAT4E2M1"}, kLongest);
    if (found.succeeded()) return python;
  }
  return {};
}

TEST(OnnxNodeTests, OfASampleAreRightOrRefused) {
  const std::string python = python_with_onnx();
  if (python.empty()) GTEST_SKIP() << "no Python with onnx and numpy";
  // Targets: a sample of the cases that tools/onnx-node-tests runs on two targets.
  const ProcessResult run =
      run_process({python, source_dir() + "/tools/onnx_node_tests.py", "--etch", etch_binary(),
                   "--targets", "scalar", "--sample", "3/40"},
                  kLongest);
  EXPECT_TRUE(run.succeeded()) << run.output << run.errors;
  EXPECT_NE(run.output.find("scalar: 40 cases, "), std::string::npos) << run.output;
}

}  // namespace
}  // namespace etch::cli
