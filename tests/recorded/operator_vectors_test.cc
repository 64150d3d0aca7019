// Operators against vectors that other projects publish: ONNX's backend tests as Debian's
// libonnx-testdata installs them, and the single-operator folders under ../shared/models/vectors.
// Each test is skipped where its vectors are not installed.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/replay.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

const fs::path kOnnxNodes = "/usr/share/libonnx-testdata/data/node";
const fs::path kShared = fs::path(source_dir()) / "../shared/models/vectors";

void replay_onnx_nodes(const std::vector<std::string>& names, FloatOutputs floats) {
  if (!fs::exists(kOnnxNodes)) GTEST_SKIP() << "libonnx-testdata is not installed";
  for (const std::string& name : names) {
    EXPECT_EQ(replay(kOnnxNodes / ("test_" + name) / "model.onnx", floats), "") << name;
  }
}

TEST(OnnxBackendVectors, QuantizedOperatorsAreExact) {
  replay_onnx_nodes({"qlinearconv", "basic_convinteger", "convinteger_with_padding",
                     "convinteger_without_padding", "matmulinteger", "qlinearmatmul_2D",
                     "qlinearmatmul_3D", "quantizelinear", "quantizelinear_axis",
                     "dequantizelinear", "dequantizelinear_axis", "dynamicquantizelinear",
                     "dynamicquantizelinear_max_adjusted", "dynamicquantizelinear_min_adjusted"},
                    FloatOutputs::kExact);
}

TEST(OnnxBackendVectors, FloatConvolutionsAgree) {
  replay_onnx_nodes(
      {"basic_conv_with_padding", "basic_conv_without_padding", "conv_with_autopad_same",
       "conv_with_strides_and_asymmetric_padding", "conv_with_strides_no_padding",
       "conv_with_strides_padding", "convtranspose", "convtranspose_1d", "convtranspose_3d",
       "convtranspose_autopad_same", "convtranspose_dilations", "convtranspose_kernel_shape",
       "convtranspose_output_shape", "convtranspose_pad", "convtranspose_pads",
       "convtranspose_with_kernel"},
      FloatOutputs::kReordered);
}

TEST(OnnxBackendVectors, FloatMatrixProductsAgree) {
  replay_onnx_nodes(
      {"matmul_2d", "matmul_3d", "matmul_4d", "gemm_all_attributes", "gemm_alpha", "gemm_beta",
       "gemm_default_matrix_bias", "gemm_default_no_bias", "gemm_default_scalar_bias",
       "gemm_default_single_elem_vector_bias", "gemm_default_vector_bias", "gemm_default_zero_bias",
       "gemm_transposeA", "gemm_transposeB"},
      FloatOutputs::kReordered);
}

bool is_ours(const std::string& name) {
  for (const char* prefix :
       {"ConvInteger", "DequantizeLinear", "MatmulInteger", "QLinearConv", "QuantizeLinear",
        "conv_integer", "dequantize_linear", "matmul_integer", "qlinear_matmul", "quantize_linear",
        "k1_", "k2", "k3"}) {
    if (name.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

// The scale of these two was written down by hand with seven digits, 2 ulp from what any
// implementation computes (ONNX Runtime included).
FloatOutputs comparison_for(const std::string& name) {
  const bool by_hand = name.rfind("QuantizeLinearOpTest.DynamicQuantizeLinear_M", 0) == 0;
  return by_hand ? FloatOutputs::kReordered : FloatOutputs::kExact;
}

TEST(SharedVectors, QuantizedOperatorsAreExact) {
  if (!fs::exists(kShared)) GTEST_SKIP() << "../shared is not here";
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kShared)) {
    const fs::path& model = entry.path();
    if (model.extension() != ".onnx" || !is_ours(model.parent_path().filename())) continue;
    ++count;
    const std::string name = model.parent_path().filename().string();
    EXPECT_EQ(replay(model, comparison_for(name)), "") << model;
  }
  EXPECT_GE(count, 30);
}

}  // namespace
}  // namespace etch
