// How samples in files of NumPy become folders of test data, and what is said of those that cannot.
#include "compiler/host/sample_folders.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "compiler/base/text.h"
#include "compiler/host/data_set.h"
#include "compiler/import/tensor_proto.h"
#include "tests/support/model_builder.h"
#include "tests/support/numpy_files.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

class SampleFolder : public testing::Test {
 protected:
  SampleFolder() {
    fs::create_directories(folder_);
    declare(ModelBuilder().input("x", DType::kF32, {1, 2}).output("y", DType::kF32, {1, 2}));
  }
  ~SampleFolder() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  void declare(const ModelBuilder& model) { write("model.onnx", model.bytes()); }
  std::optional<SampleFolders> folders_of(const std::string& name,
                                          SampleParts parts = SampleParts::kInputs) const {
    ModelOptions options = options_;
    options.model = folder_ / "model.onnx";
    Reporter reporter(Verbosity::kQuiet);
    auto folders = sample_folders(options, {folder_ / name}, parts, reporter);
    EXPECT_EQ(folders.has_value(), !reporter.failed());
    return folders;
  }
  // Tensor `file` of every sample; none after an error.
  std::vector<Tensor> samples(const std::string& name, const std::string& file = "input_0",
                              SampleParts parts = SampleParts::kInputs) const {
    std::vector<Tensor> out;
    const auto folders = folders_of(name, parts);
    if (!folders) return out;
    for (const fs::path& folder : folders->folders) {
      Sink sink;
      const auto tensor = read_tensor_file(folder / (file + ".pb"), sink);
      out.push_back(tensor.value_or(Tensor()));
    }
    return out;
  }
  // What is said of data that are refused, without the path.
  std::string refusal(const std::string& name, SampleParts parts = SampleParts::kInputs) const {
    testing::internal::CaptureStderr();
    EXPECT_EQ(folders_of(name, parts), std::nullopt);
    const std::string said = testing::internal::GetCapturedStderr();
    const std::string start = (folder_ / name).string() + ": error[E-IO]: ";
    EXPECT_EQ(said.rfind(start, 0), 0U) << said;
    return said.substr(std::min(said.size(), start.size()));
  }
  static Tensor floats(Shape shape, const std::vector<float>& values) {
    return Tensor::of<float>(std::move(shape), values);
  }

  ModelOptions options_;
  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("etch_sample_folders_test_" + std::to_string(::getpid()));
};

TEST_F(SampleFolder, TheFirstAxisIsThatOfTheSamples) {
  const std::vector<Tensor> two = {floats({1, 2}, {1, 2}), floats({1, 2}, {3, 4})};
  write("own.npz", npz_file({{"x.npy", npy_file("<f4", "(2, 1, 2)", float_bytes({1, 2, 3, 4}))}}));
  write("batch.npz", npz_file({{"x.npy", npy_file("<f4", "(2, 2)", float_bytes({1, 2, 3, 4}))}}));
  write("only.npy", npy_file("<f4", "(2, 2)", float_bytes({1, 2, 3, 4})));
  EXPECT_EQ(samples("own.npz"), two);
  EXPECT_EQ(samples("batch.npz"), two);
  EXPECT_EQ(samples("only.npy"), two);
}

TEST_F(SampleFolder, ASampleHasTheBatchThatTheModelDeclares) {
  declare(ModelBuilder().input("x", DType::kF32, {2, 1}).output("y", DType::kF32, {2, 1}));
  write("x.npy", npy_file("<f4", "(4, 1)", float_bytes({1, 2, 3, 4})));
  EXPECT_EQ(samples("x.npy"), (std::vector{floats({2, 1}, {1, 2}), floats({2, 1}, {3, 4})}));
  write("odd.npy", npy_file("<f4", "(3, 1)", float_bytes({1, 2, 3})));
  EXPECT_EQ(refusal("odd.npy"),
            "array of 'x', float32[3, 1], is no multiple of samples with 2 along the first axis\n");
}

TEST_F(SampleFolder, ASampleHasTheSizesThatOptionsGive) {
  declare(ModelBuilder().input("x", DType::kF32, {"N", 1}).output("y", DType::kF32, {"M", 1}));
  const std::string x = npy_file("<f4", "(4, 1)", float_bytes({1, 2, 3, 4}));
  write("x.npy", x);
  EXPECT_EQ(samples("x.npy").size(), 4U);
  options_.dims = {"N=2"};
  EXPECT_EQ(samples("x.npy"), (std::vector{floats({2, 1}, {1, 2}), floats({2, 1}, {3, 4})}));
  options_.dims = {"N<=4"};
  EXPECT_EQ(samples("x.npy").size(), 4U);
  options_.dims.clear();
  options_.input_shapes = {"x=4,1"};
  EXPECT_EQ(samples("x.npy"), std::vector{floats({4, 1}, {1, 2, 3, 4})});
  // Of the output's open size each of two samples has its half.
  options_.input_shapes = {"x=2,1"};
  write("both.npz",
        npz_file(
            {{"x.npy", x}, {"y.npy", npy_file("<f4", "(6, 1)", float_bytes({1, 2, 3, 4, 5, 6}))}}));
  EXPECT_EQ(samples("both.npz", "output_0", SampleParts::kInputsAndOutputs),
            (std::vector{floats({3, 1}, {1, 2, 3}), floats({3, 1}, {4, 5, 6})}));
}

TEST_F(SampleFolder, ConstantsAndStatesNeedNotBeThere) {
  declare(ModelBuilder()
              .input("k", DType::kF32, {2})
              .input("x", DType::kF32, {1, 2})
              .input("s", DType::kF32, {1, 2})
              .output("y", DType::kF32, {1, 2})
              .output("t", DType::kF32, {1, 2}));
  options_.constants = {"k=1,2"};
  options_.states = {"t=s"};
  const std::string x = npy_file("<f4", "(2, 2)", float_bytes({1, 2, 3, 4}));
  const std::vector<Tensor> two = {floats({1, 2}, {1, 2}), floats({1, 2}, {3, 4})};
  write("x.npy", x);
  EXPECT_EQ(samples("x.npy", "input_1"), two);
  write("both.npz",
        npz_file(
            {{"x.npy", x}, {"k.npy", npy_file("<f4", "(2,)", float_bytes({5, 6}))}, {"y.npy", x}}));
  EXPECT_EQ(samples("both.npz", "output_0", SampleParts::kInputsAndOutputs), two);
}

TEST_F(SampleFolder, DoublesBecomeWhatTheModelTakes) {
  const double two[] = {1.5, 0.1};
  write("x.npy", npy_file("<f8", "(1, 2)", std::string(reinterpret_cast<const char*>(two), 16)));
  EXPECT_EQ(samples("x.npy"), std::vector{floats({1, 2}, {1.5F, 0.1F})});
  declare(ModelBuilder().input("x", DType::kF64, {1, 2}).output("y", DType::kF64, {1, 2}));
  EXPECT_EQ(samples("x.npy"), std::vector{Tensor::of<double>({1, 2}, {1.5, 0.1})});
}

TEST_F(SampleFolder, OutputsAreTakenByNameWhereTheyAreNeeded) {
  const std::string x = npy_file("<f4", "(2, 2)", float_bytes({1, 2, 3, 4}));
  const std::string y = npy_file("<f4", "(2, 2)", float_bytes({5, 6, 7, 8}));
  write("both.npz", npz_file({{"y.npy", y}, {"x.npy", x}}, true));
  EXPECT_EQ(samples("both.npz", "output_0", SampleParts::kInputsAndOutputs),
            (std::vector{floats({1, 2}, {5, 6}), floats({1, 2}, {7, 8})}));
  write("inputs.npz", npz_file({{"x.npy", x}}));
  EXPECT_EQ(refusal("inputs.npz", SampleParts::kInputsAndOutputs),
            "has no array 'y' to compare the output of that name with; it has 'x': `etch check` of "
            "the Python package has ONNX Runtime compute it, and `etch record MODEL --inputs THIS "
            "-o DIR` writes it down\n");
}

TEST_F(SampleFolder, AFolderHasASampleInEachFileByItsNumber) {
  fs::create_directory(folder_ / "data");
  for (const auto* const name : {"10", "9", "2"}) {
    write(cat("data/s", name, ".npy"),
          npy_file("<f4", "(2,)", float_bytes({static_cast<float>(std::stoi(name)), 0})));
  }
  EXPECT_EQ(samples("data"),
            (std::vector{floats({1, 2}, {2, 0}), floats({1, 2}, {9, 0}), floats({1, 2}, {10, 0})}));
}

TEST_F(SampleFolder, AFolderOfDataSetsStandsForThem) {
  for (const auto* const name : {"sets/test_data_set_10", "sets/test_data_set_2"})
    fs::create_directories(folder_ / name);
  EXPECT_EQ(folders_of("sets")->folders,
            (std::vector{folder_ / "sets/test_data_set_2", folder_ / "sets/test_data_set_10"}));
}

TEST_F(SampleFolder, FoldersOfTestDataStayWhatTheyAre) {
  fs::create_directory(folder_ / "set");
  write("set/input_0.npy", npy_file("<f4", "(1, 2)", float_bytes({1, 2})));
  EXPECT_EQ(folders_of("set")->folders, std::vector{folder_ / "set"});
  EXPECT_EQ(folders_of("set")->made, nullptr);
}

TEST_F(SampleFolder, MadeFoldersAreGoneAfterwards) {
  write("x.npy", npy_file("<f4", "(1, 2)", float_bytes({1, 2})));
  auto folders = folders_of("x.npy");
  const fs::path made = folders->folders.front();
  EXPECT_TRUE(fs::is_regular_file(made / "input_0.pb"));
  EXPECT_EQ(made.filename(), "x_0");
  folders.reset();
  EXPECT_FALSE(fs::exists(made));
}

TEST_F(SampleFolder, WhatDoesNotFitIsRefusedInWords) {
  const std::string x = npy_file("<f4", "(2, 2)", float_bytes({1, 2, 3, 4}));
  write("other.npz", npz_file({{"z.npy", x}}));
  EXPECT_EQ(refusal("other.npz"), "has no array 'x' for the input of that name; it has 'z'\n");
  write("none.npy", npy_file("<f4", "(0, 2)", ""));
  EXPECT_EQ(refusal("none.npy"), "has no samples\n");
  write("type.npy", npy_file("|i1", "(1, 2)", "\x01\x02"));
  EXPECT_EQ(refusal("type.npy"), "array of 'x' is int8[1, 2], and the model takes float32[1, 2]\n");
  write("shape.npy", npy_file("<f4", "(2,)", float_bytes({1, 2})));
  EXPECT_EQ(refusal("shape.npy"),
            "array of 'x', float32[2], has samples of float32[1], and the model takes float32[1, "
            "2]\n");
  write("text.npz", "text");
  EXPECT_EQ(refusal("text.npz"), "is no .npz file, whatever its name says\n");
  declare(ModelBuilder()
              .input("x", DType::kF32, {1, 2})
              .input("z", DType::kF32, {1, 2})
              .output("y", DType::kF32, {1, 2}));
  write("one.npy", x);
  EXPECT_EQ(refusal("one.npy"),
            "has one array, and the model several inputs: numpy.savez has them all in a file\n");
  write("counts.npz",
        npz_file({{"x.npy", x}, {"z.npy", npy_file("<f4", "(1, 2)", float_bytes({1, 2}))}}));
  EXPECT_EQ(refusal("counts.npz"),
            "array of 'z', float32[1, 2], has 1 sample along the first axis, that of 'x' has 2\n");
  write("many.npy", npy_file("|i1", "(10001, 2)", std::string(20002, '\1')));
  declare(ModelBuilder().input("x", DType::kS8, {1, 2}).output("y", DType::kS8, {1, 2}));
  EXPECT_EQ(refusal("many.npy"), "has 10001 samples; at most 10000 are taken\n");
}

}  // namespace
}  // namespace etch::cli
