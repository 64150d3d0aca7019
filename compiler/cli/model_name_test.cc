// Names made from file names.
#include "compiler/cli/model_name.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/text/names.h"

namespace etch::cli {
namespace {

TEST(ModelName, IsTheStemWithUnderscores) {
  EXPECT_EQ(name_from_path("digits.onnx"), "digits");
  EXPECT_EQ(name_from_path("nets/MobileNet-V2 (1.0).onnx"), "MobileNet_V2_1_0");
}

TEST(ModelName, GetsAPrefixWhereCppNeedsOne) {
  EXPECT_EQ(name_from_path("7.onnx"), "model_7");
  EXPECT_EQ(name_from_path("int.onnx"), "model_int");
}

TEST(ModelName, IsUsableWhateverTheFileIsCalled) {
  for (const char* path : {"", ".onnx", "---.onnx", "\xff\xfe.onnx", "a__b.onnx", "size_t.onnx",
                           "*/ int evil;.onnx", "_A.onnx", "std.onnx"}) {
    EXPECT_TRUE(is_usable_name(name_from_path(path))) << path;
  }
  EXPECT_TRUE(is_usable_name(name_from_path(std::string(300, 'x'))));
  EXPECT_TRUE(is_usable_name(name_from_path(std::string(300, '9'))));
}

}  // namespace
}  // namespace etch::cli
