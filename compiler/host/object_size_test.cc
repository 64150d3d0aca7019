// Sizes read from ELF files; this test program is one.
#include "compiler/host/object_size.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace etch::cli {
namespace {

std::string own_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ObjectSize, FindsCodeAndFunctions) {
  const ObjectSize size = size_of_object(own_program());
  EXPECT_GT(size.code_bytes, 1000);
  EXPECT_GT(bytes_of_function(size, "size_of_object"), 0);
  EXPECT_EQ(bytes_of_function(size, "size_of_objec"), 0);  // whole names only
}

TEST(ObjectSize, TakesTheNameAfterItsLengthOnly) {
  ObjectSize size;
  size.functions = {{"_ZN3net5steps3n03EPKh", 10},
                    {"_ZN3net5steps7n03_reluEPKh", 20},
                    {"_ZN3net5steps13n03EPKh", 40},
                    {"_ZN3net5steps3n03EPKh.cold", 5}};
  EXPECT_EQ(bytes_of_function(size, "n03"), 15);
  EXPECT_EQ(bytes_of_function(size, "n03_relu"), 0);  // its length is 8, not 7
}

TEST(ObjectSize, CountsTheTilesOfAStepWithIt) {
  ObjectSize size;
  size.functions = {{"_ZN3net5steps4n3_aEPKh", 1},
                    {"_ZN3net5stepsL11n3_a_tile_1EPKh", 2},
                    {"_ZN3net5stepsL11n3_a_tile_2EPKh.constprop.0", 4},
                    {"_ZN3net5steps6n3_a_bEPKh", 8},  // another step, and its tile
                    {"_ZN3net5stepsL11n3_a_b_tileEPKh", 16},
                    {"_ZN3net5stepsL7n3_abcdEPKh", 32}};
  EXPECT_EQ(bytes_of_function(size, "n3_a"), 7);
  EXPECT_EQ(bytes_of_function(size, "n3_a_b"), 24);
  EXPECT_EQ(bytes_of_function(size, "n3_a_tile"), 0);
}

TEST(ObjectSize, CountsNothingInOtherFiles) {
  EXPECT_EQ(size_of_object("").code_bytes, 0);
  EXPECT_EQ(size_of_object("not an object").code_bytes, 0);
}

TEST(ObjectSize, SurvivesTruncatedFiles) {
  const std::string whole = own_program();
  for (const std::size_t length :
       {std::size_t{16}, std::size_t{63}, std::size_t{64}, whole.size() / 2, whole.size() - 1}) {
    EXPECT_GE(size_of_object(std::string_view(whole).substr(0, length)).code_bytes, 0);
  }
}

}  // namespace
}  // namespace etch::cli
