// Which file of a folder of test data is read, and what is refused of bare elements.
#include "compiler/host/data_set.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "compiler/import/tensor_proto.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

class DataSet : public testing::Test {
 protected:
  DataSet() { fs::create_directories(folder_); }
  ~DataSet() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  std::optional<std::vector<Tensor>> read(DType dtype, Shape shape) const {
    Port port;
    port.dtype = dtype;
    port.shape = std::move(shape);
    Reporter reporter(Verbosity::kQuiet);
    return read_inputs(folder_, std::vector<Port>{port}, reporter);
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("etch_data_set_test_" + std::to_string(::getpid()));
};

TEST_F(DataSet, BareElementsHaveTypeAndShapeOfTheirInput) {
  write("input_0.bin", "\xfb\x07");
  EXPECT_EQ(read(DType::kS8, {2, 1}), std::vector{Tensor::of<std::int8_t>({2, 1}, {-5, 7})});
  EXPECT_EQ(read(DType::kS8, {3}), std::nullopt);
  EXPECT_EQ(read(DType::kS8, {1}), std::nullopt);
}

TEST_F(DataSet, BareBoolsAreZeroOrOne) {
  write("input_0.bin", std::string("\0\1", 2));
  EXPECT_NE(read(DType::kBool, {2}), std::nullopt);
  write("input_0.bin", std::string("\0\7", 2));
  EXPECT_EQ(read(DType::kBool, {2}), std::nullopt);
}

TEST_F(DataSet, SerializedTensorsComeBeforeBareElements) {
  const Tensor tensor = Tensor::of<std::int8_t>({1}, {3});
  write("input_0.bin", "\x04");
  write("input_0.pb", tensor_file(tensor, "x"));
  EXPECT_EQ(read(DType::kS8, {1}), std::vector{tensor});
}

// A serialized tensor under this name has elements of its own: its bytes.
TEST_F(DataSet, BareElementsSayNoShape) {
  write("input_0.bin", tensor_file(Tensor::of<std::int8_t>({1}, {3}), "x"));
  EXPECT_TRUE(shapes_of_inputs(folder_).empty());
  fs::rename(folder_ / "input_0.bin", folder_ / "input_0.pb");
  EXPECT_EQ(shapes_of_inputs(folder_), std::vector<Shape>{{1}});
}

// Of 3 places, [2, 3] -> [2, 2] count; output 1 is the shape of output 0.
TEST_F(DataSet, OutputsThatAreRecordedWithFewerRowsHaveZerosAfterThemAndAShape) {
  std::vector<Port> ports(2);
  ports[0].dtype = DType::kS8;
  ports[0].shape = {2, 3};
  ports[1].dtype = DType::kS64;
  ports[1].shape = {2};
  Reporter reporter(Verbosity::kQuiet);
  const auto read_outputs = [&] { return read_tensors(folder_, "output", ports, reporter); };
  const auto shape = Tensor::of<std::int64_t>({2}, {2, 2});
  write("output_0.pb", tensor_file(Tensor::of<std::int8_t>({2, 2}, {1, 2, 3, 4}), "y"));
  EXPECT_EQ(read_outputs(),
            (std::vector{Tensor::of<std::int8_t>({2, 3}, {1, 2, 0, 3, 4, 0}), shape}));
  // As `etch run` writes them.
  const auto whole = Tensor::of<std::int8_t>({2, 3}, {1, 2, 0, 3, 4, 0});
  write("output_0.pb", tensor_file(whole, "y"));
  write("output_1.pb", tensor_file(shape, "y_shape"));
  EXPECT_EQ(read_outputs(), (std::vector{whole, shape}));
  fs::remove(folder_ / "output_1.pb");
  // More rows than there can be are not made to fit.
  const auto more = Tensor::of<std::int8_t>({3, 1}, {1, 2, 3});
  write("output_0.pb", tensor_file(more, "y"));
  EXPECT_EQ(read_outputs()->at(0), more);
}

class NoDataSet : public DataSet {
 protected:
  // What is said of `given` in place of a folder of test data.
  std::string said_of(const fs::path& given) const {
    Port port;
    port.shape = {1};
    Reporter reporter(Verbosity::kQuiet);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(read_inputs(given, std::vector<Port>{port}, reporter), std::nullopt);
    const std::string said = ::testing::internal::GetCapturedStderr();
    const std::string start = given.string() + ": error[E-IO]: ";
    EXPECT_EQ(said.rfind(start, 0), 0U) << said;
    return said.substr(std::min(said.size(), start.size()));
  }
};

TEST_F(NoDataSet, WhatIsNotThereIsSaidToBeMissing) {
  EXPECT_EQ(said_of(folder_ / "nothing"), "there is no such file or folder\n");
}

TEST_F(NoDataSet, FilesAreNoFolders) {
  write("input_0.pb", "");
  EXPECT_EQ(said_of(folder_ / "input_0.pb"),
            "is a file: a folder with input_0.pb, .npy or .bin, or a .npz file with samples, is "
            "needed\n");
}

}  // namespace
}  // namespace etch::cli
