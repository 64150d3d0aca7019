// Published vectors of the quantized operators through the whole compiler, the models unmodified:
// ONNX's backend tests as Debian's libonnx-testdata installs them, and the folders under
// ../shared/models/vectors. Run natively on every instruction set, and as compiled code for the
// scalar one and the widest. (operator_vectors_test.cc holds the reference functions against the
// same vectors.) Skipped where the vectors are not installed.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/targets/targets.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/part.h"
#include "tests/support/paths.h"
#include "tests/support/replay.h"
#include "tests/support/results.h"
#include "tests/support/targets.h"
#include "tests/support/vector_features.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

const fs::path kOnnxNodes = "/usr/share/libonnx-testdata/data/node";
const fs::path kShared = fs::path(source_dir()) / "../shared/models/vectors";

struct Vector {
  Case each;
  std::vector<Tensor> expected;
  FloatOutputs floats = FloatOutputs::kExact;
  std::vector<std::string> features;  // of docs/conformance.md
};

std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The scale of these two was written down by hand with seven digits, 2 ulp from what any
// implementation computes (ONNX Runtime included).
FloatOutputs comparison_for(const std::string& name) {
  const bool by_hand = name.rfind("QuantizeLinearOpTest.DynamicQuantizeLinear_M", 0) == 0;
  return by_hand ? FloatOutputs::kReordered : FloatOutputs::kExact;
}

// One per data set beside the model, with the inputs that the model has.
void add_vectors(std::vector<Vector>& out, const fs::path& model) {
  const std::string bytes = bytes_of_file(model);
  onnx::ModelProto proto;
  ASSERT_TRUE(proto.ParseFromString(bytes)) << model;
  const std::string name = model.parent_path().filename().string();
  for (int i = 0;; ++i) {
    const fs::path folder = model.parent_path() / cat("test_data_set_", i);
    if (!fs::exists(folder)) break;
    std::vector<Tensor> inputs = read_all(folder, "input");
    const auto wanted = static_cast<std::size_t>(proto.graph().input_size());
    ASSERT_GE(inputs.size(), wanted) << folder;
    inputs.resize(wanted);
    out.push_back({{cat(name, "/", model.stem().string(), "/", i), bytes, std::move(inputs)},
                   read_all(folder, "output"),
                   comparison_for(name),
                   vector_features(proto)});
  }
}

bool is_quantized_operator(const std::string& name) {
  for (const char* prefix :
       {"test_qlinearconv", "test_basic_convinteger", "test_convinteger_", "test_quantizelinear",
        "test_dequantizelinear", "test_dynamicquantizelinear", "test_qlinearmatmul",
        "test_matmulinteger"}) {
    if (name.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

std::vector<Vector> onnx_vectors() {
  std::vector<Vector> out;
  if (!fs::exists(kOnnxNodes)) return out;
  for (const auto& entry : fs::directory_iterator(kOnnxNodes)) {
    const std::string name = entry.path().filename().string();
    if (is_quantized_operator(name)) add_vectors(out, entry.path() / "model.onnx");
  }
  return out;
}

std::vector<Vector> shared_vectors() {
  std::vector<Vector> out;
  if (!fs::exists(kShared)) return out;
  for (const auto& entry : fs::recursive_directory_iterator(kShared)) {
    const fs::path& model = entry.path();
    if (model.extension() == ".onnx") add_vectors(out, model);
  }
  return out;
}

std::string compared(const Vector& vector, const std::vector<Tensor>& got) {
  if (got.size() != vector.expected.size()) return cat(got.size(), " outputs");
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string what = difference(got[i], vector.expected[i], vector.floats);
    if (!what.empty()) return cat("output ", i, ": ", what);
  }
  return "";
}

// The reference functions and every target.
void expect_natively(const std::vector<Vector>& vectors) {
  Tally tally("vectors");
  for (const Vector& vector : vectors) {
    bool passed = true;
    const auto check = [&](const std::vector<Tensor>& outputs, std::string_view engine) {
      const std::string difference = compared(vector, outputs);
      EXPECT_EQ(difference, "") << vector.each.name << " on " << engine;
      passed = passed && difference.empty();
    };
    check(reference_outputs(vector.each), "the reference functions");
    for (const IsaTraits* const isa : all_targets()) {
      const auto program = compiled(vector.each, isa->name);
      passed = passed && program != nullptr;
      if (program == nullptr) break;
      check(native_outputs(*program, vector.each.inputs), isa->name);
    }
    for (const std::string& feature : vector.features) tally.count(feature, passed);
  }
}

void expect_compiled(const std::vector<Vector>& vectors, const char* target) {
  const IsaTraits& isa = *find_target(target);
  const std::string obstacle = why_not_here(isa);
  if (!obstacle.empty()) GTEST_SKIP() << target << ": " << obstacle;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  std::vector<const Vector*> taken;
  std::vector<std::string> names;
  for (const Vector& vector : vectors) names.push_back(vector.each.name);
  for (const std::size_t i : numbers_in_part(names)) {
    const Case& each = vectors[i].each;
    taken.push_back(&vectors[i]);
    programs.push_back(compiled(each, target));
    ASSERT_NE(programs.back(), nullptr) << each.name;
    entries.push_back({programs.back().get(), &each.inputs});
  }
  const auto outputs = run_generated(entries, isa);
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < taken.size(); ++i)
    EXPECT_EQ(compared(*taken[i], (*outputs)[i]), "") << taken[i]->each.name;
}

std::vector<const char*> compiled_targets() {
  return all_targets_but({{"sse41", "natively, and compiled in tests of single operators"},
                          {"avx2", "natively, and compiled in the random graphs"}});
}

class OnnxVectors : public testing::Test {
 protected:
  void SetUp() override {
    vectors = onnx_vectors();
    if (vectors.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
    EXPECT_GE(vectors.size(), 17U);
  }
  std::vector<Vector> vectors;
};

TEST_F(OnnxVectors, PassNatively) { expect_natively(vectors); }

class CompiledOnnxVectors : public OnnxVectors, public testing::WithParamInterface<const char*> {};
TEST_P(CompiledOnnxVectors, Pass) { expect_compiled(vectors, GetParam()); }
INSTANTIATE_TEST_SUITE_P(Targets, CompiledOnnxVectors, testing::ValuesIn(compiled_targets()),
                         name_of_target);

class SharedModelVectors : public testing::Test {
 protected:
  void SetUp() override {
    vectors = shared_vectors();
    if (vectors.empty()) GTEST_SKIP() << "../shared is not here";
    EXPECT_GE(vectors.size(), 90U);
  }
  std::vector<Vector> vectors;
};

TEST_F(SharedModelVectors, PassNatively) { expect_natively(vectors); }

class CompiledSharedModelVectors : public SharedModelVectors,
                                   public testing::WithParamInterface<const char*> {};
TEST_P(CompiledSharedModelVectors, Pass) { expect_compiled(vectors, GetParam()); }
INSTANTIATE_TEST_SUITE_P(Targets, CompiledSharedModelVectors, testing::ValuesIn(compiled_targets()),
                         name_of_target);

}  // namespace
}  // namespace etch
