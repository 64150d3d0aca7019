// Elementwise operators against ONNX Runtime: tests/data/functions holds small models with the
// outputs that ONNX Runtime computed (tools/record_functions.py). Integers and exact functions have
// to be equal bit for bit; where the record says that ONNX Runtime approximates otherwise, within
// 1e-5, relative above 1.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "tests/support/engines.h"
#include "tests/support/paths.h"
#include "tests/support/recorded_cases.h"

namespace etch {
namespace {

bool is_close(const Tensor& got, const Tensor& expected) {
  if (got.dtype() != expected.dtype() || got.shape() != expected.shape()) return false;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const float e = expected.real(i);
    if (!(std::fabs(got.real(i) - e) <= 1e-5F * std::fmax(1.0F, std::fabs(e)))) return false;
  }
  return true;
}

TEST(RecordedFunctions, EqualOnnxRuntime) {
  const auto recorded =
      read_recorded_cases(std::filesystem::path(source_dir()) / "tests/data/functions");
  for (const RecordedCase& each : recorded) {
    const std::vector<Tensor> got = reference_outputs(each.model);
    ASSERT_EQ(got.size(), 1U) << each.model.name;
    if (each.deviation.empty()) {
      EXPECT_EQ(difference_of(got, each.outputs), "") << each.model.name;
    } else {
      EXPECT_TRUE(is_close(got[0], each.outputs[0])) << each.model.name;
    }
  }
}

}  // namespace
}  // namespace etch
