// Arrays of NumPy as numpy.save writes them, and what is refused.
#include "compiler/import/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "compiler/base/text.h"
#include "compiler/import/tensor_proto.h"
#include "tests/support/model_builder.h"
#include "tests/support/numpy_files.h"

namespace etch {
namespace {

using namespace std::string_literals;

std::string dictionary(const std::string& type, const std::string& shape,
                       const std::string& order = "False") {
  return cat("{'descr': '", type, "', 'fortran_order': ", order, ", 'shape': ", shape, ", }");
}

class NumPyFile : public ::testing::Test {
 protected:
  ~NumPyFile() override { std::remove(path_.c_str()); }

  std::optional<Tensor> read(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    sink_ = Sink();
    return read_tensor_file(path_, sink_);
  }
  std::string errors() const { return errors_of(sink_); }

 private:
  const std::string path_ =
      ::testing::TempDir() + "etch_npy_test_" + std::to_string(::getpid()) + ".npy";
  Sink sink_;
};

TEST_F(NumPyFile, HasTypeShapeAndElements) {
  EXPECT_EQ(read(npy_of(dictionary("|i1", "(2, 1)"), "\xfb\x07")),
            Tensor::of<std::int8_t>({2, 1}, {-5, 7}))
      << errors();
  EXPECT_EQ(read(npy_of(dictionary("<f4", "(1,)"), "\0\0\xc0\x3f"s)),
            Tensor::of<float>({1}, {1.5F}))
      << errors();
  EXPECT_EQ(read(npy_of(dictionary("<i8", "()"), "\x03\0\0\0\0\0\0\0"s)),
            Tensor::of<std::int64_t>({}, {3}))
      << errors();
}

TEST_F(NumPyFile, IsRefusedWithWhatWouldHelp) {
  const struct {
    std::string bytes;
    const char* message;
  } cases[] = {
      {npy_of(dictionary(">f4", "(1,)"), "\0\0\0\0"s), "big endian"},
      {npy_of(dictionary("<f4", "(1,)", "True"), "\0\0\0\0"s), "ascontiguousarray"},
      {npy_of(dictionary("<c8", "(1,)"), "12345678"), "none of ONNX's"},
      {npy_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234"),
       "no numbers"},
      {npy_of(dictionary("<f4", "(-1,)"), "1234"), "its shape"},
      {npy_of(dictionary("<f4", "(1"), "1234"), "its shape"},
      {"\x93NUMPY\x01\0\xff\xff{"s, "cut off"},
      {"\x93NUMPY\x09\0\0\0{}"s, "unknown version"},
      {"\x93NUMPY"s, "cut off"},
  };
  for (const auto& each : cases) {
    EXPECT_FALSE(read(each.bytes));
    EXPECT_NE(errors().find(each.message), std::string::npos) << errors();
  }
}

TEST_F(NumPyFile, HasExactlyTheElementsOfItsShape) {
  EXPECT_FALSE(read(npy_of(dictionary("<f4", "(2,)"), "1234")));
  EXPECT_FALSE(read(npy_of(dictionary("<f4", "(1,)"), "12345678")));
  EXPECT_FALSE(read(npy_of(dictionary("<f4", "(9223372036854775807, 4)"), "1234")));
}

}  // namespace
}  // namespace etch
