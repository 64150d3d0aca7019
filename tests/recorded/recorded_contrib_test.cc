// Replays what ONNX Runtime computed for single operators (tests/data/contrib, recorded by
// tools/record_contrib.py) through import, resolve and the reference functions.
//
// Everything is compared bit for bit but float means: there ONNX Runtime adds in the order of its
// vector units, so the last bits differ from the plain sum. And results of 2^31 output steps and
// more of QLinearAdd: there x64's conversion gives the least value, other CPUs saturate, and so
// does Etch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/import/file.h"
#include "compiler/import/import.h"
#include "compiler/import/tensor_proto.h"
#include "compiler/ops/evaluate.h"
#include "compiler/passes/resolve.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

const fs::path kData = fs::path(source_dir()) / "tests" / "data" / "contrib";

bool sums_floats(const std::string& name) {
  return name.starts_with("averagepool") || name.starts_with("globalaveragepool") ||
         name.starts_with("reducemean");
}

bool leaves_int32(const std::string& name) { return name.starts_with("qlinearadd_overflow_"); }

// `recorded` where some sums left int32, with what they saturate to. `got` says which.
void expect_saturated(const Tensor& got, const Tensor& recorded) {
  ASSERT_EQ(got.dtype(), DType::kU8);
  int saturated = 0;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    if (got.integer(i) == recorded.integer(i)) continue;
    EXPECT_EQ(recorded.integer(i), 0);
    EXPECT_EQ(got.integer(i), 255);
    ++saturated;
  }
  EXPECT_GT(saturated, 0);
}

std::vector<Tensor> read_tensors(const fs::path& folder, const std::string& role, Sink& sink) {
  std::vector<Tensor> out;
  for (int i = 0; fs::exists(folder / cat(role, "_", i, ".pb")); ++i) {
    auto tensor = read_tensor_file((folder / cat(role, "_", i, ".pb")).string(), sink);
    if (tensor) out.push_back(std::move(*tensor));
  }
  return out;
}

// How many elements differ; NaN equals NaN.
std::int64_t differences(const Tensor& got, const Tensor& expected, float tolerance) {
  if (got.dtype() != DType::kF32) return got == expected ? 0 : 1;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const float a = got.real(i);
    const float b = expected.real(i);
    if (std::isnan(a) && std::isnan(b)) continue;
    const bool same = tolerance == 0 ? std::memcmp(&a, &b, sizeof a) == 0
                                     : std::fabs(a - b) <= tolerance * std::max(1.0F, std::fabs(b));
    if (!same) ++count;
  }
  return count;
}

void expect_recorded(const fs::path& folder) {
  Sink sink;
  const auto bytes = read_model_file((folder / "model.onnx").string(), {}, sink);
  ASSERT_TRUE(bytes);
  auto graph = import_model(*bytes, {}, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  resolve(*graph, sink);
  ASSERT_FALSE(sink.has_errors()) << errors_of(sink);
  const auto inputs = read_tensors(folder / "test_data_set_0", "input", sink);
  const auto expected = read_tensors(folder / "test_data_set_0", "output", sink);
  ASSERT_EQ(inputs.size(), graph->inputs.size());
  const auto got = evaluate(*graph, inputs);
  ASSERT_EQ(got.size(), expected.size());
  const float tolerance = sums_floats(folder.filename().string()) ? 1e-6F : 0.0F;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].dtype(), expected[i].dtype());
    ASSERT_EQ(got[i].shape(), expected[i].shape());
    if (leaves_int32(folder.filename().string())) {
      expect_saturated(got[i], expected[i]);
      continue;
    }
    EXPECT_EQ(differences(got[i], expected[i], tolerance), 0) << "output " << i;
  }
}

TEST(RecordedContrib, ReferencesEqualOnnxRuntime) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(kData)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  EXPECT_GE(folders.size(), 300U);
  for (const fs::path& folder : folders) {
    SCOPED_TRACE(folder.filename().string());
    expect_recorded(folder);
  }
}

}  // namespace
}  // namespace etch
