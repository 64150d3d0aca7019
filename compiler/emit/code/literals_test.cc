// Constants as generated code spells them, and the bytes of flash that they take.
#include "compiler/emit/code/literals.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "compiler/emit/code/parts.h"
#include "compiler/program/constants.h"
#include "templates/isa/scalar/traits.h"
#include "tests/support/tiny_program.h"

namespace etch {
namespace {

std::string literal_of(const std::vector<int>& values) {
  std::vector<std::byte> bytes;
  bytes.reserve(values.size());
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return string_literal(bytes);
}

TEST(StringLiteral, PadsAnEscapeOnlyBeforeAnOctalDigit) {
  EXPECT_EQ(literal_of({}), "\"\"");
  EXPECT_EQ(literal_of({0}), R"("\0")");
  EXPECT_EQ(literal_of({1, '7'}), R"("\0017")");
  EXPECT_EQ(literal_of({1, '8'}), R"("\18")");
  EXPECT_EQ(literal_of({8, 255, 'a'}), R"("\10\377a")");
  EXPECT_EQ(literal_of({'"', '\\', '?'}), R"("\42\134\77")");
}

TEST(Definition, ShowsFloatsExactlyWithTheirDecimalValue) {
  const auto step = testing::sum_step(isa::k_scalar);
  EXPECT_EQ(definition_of("n01_sum_scale", step->constants[2], 4, "PLACE"),
            "// one per lane\nalignas(4) const float n01_sum_scale[1] PLACE = {\n"
            "    0x1.47ae14p-7F,  // 0.01\n};\n");
  EXPECT_EQ(
      definition_of("n01_sum_bias", step->constants[1], 4, "PLACE"),
      "// one per lane\nalignas(4) const int32_t n01_sum_bias[1] PLACE = {\n    -100000,\n};\n");
}

// ---- flash ----

ConstantArray bytes_of_size(std::size_t size, int last) {
  std::vector<std::byte> bytes(size, std::byte{'a'});
  bytes.back() = static_cast<std::byte>(last);
  return byte_array("weights", bytes, "");
}

TEST(Definition, OnlyALongLiteralThatDoesNotEndInZeroHasOneElementMore) {
  for (const std::size_t size : {1U, 2U, 3U, 127U, 128U, 129U, 130U, 1000U}) {
    const auto exact = static_cast<std::int64_t>(size);
    EXPECT_EQ(declared_elements(bytes_of_size(size, 0)), exact);
    EXPECT_EQ(declared_elements(bytes_of_size(size, 7)), exact + (size > 128 ? 1 : 0));
  }
  EXPECT_EQ(declared_elements(int32_array("i", {1, 2, 3}, "")), 3);
}

TEST(Definition, ShortBytesAreListsAndLongOnesLeaveTheirLastZeroToTheLiteral) {
  EXPECT_EQ(definition_of("n01_sum_weights", bytes_of_size(3, 255), 4, "PLACE"),
            "// \nalignas(4) const uint8_t n01_sum_weights[3] PLACE = {\n    97, 97, 255,\n};\n");
  const std::string text = definition_of("n01_sum_weights", bytes_of_size(129, 0), 64, "PLACE");
  EXPECT_NE(text.find("alignas(64) const uint8_t n01_sum_weights[129] PLACE =\n\"aaa"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("aaa\";\n"), std::string::npos) << "no escaped zero: " << text;
}

TEST(Definition, FlashCountsWhatAlignmentLeavesFree) {
  const ConstantArray bytes = bytes_of_size(5, 1);
  EXPECT_EQ(flash_bytes(bytes, 4), 8);
  EXPECT_EQ(flash_bytes(bytes, 64), 64);
  EXPECT_EQ(flash_bytes(bytes_of_size(132, 1), 4), 136) << "a literal's zero";
  EXPECT_EQ(flash_bytes(bytes_of_size(132, 0), 4), 132);
}

TEST(Definition, WritesNumbersThatHaveNoLiteral) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::string floats =
      definition_of("n01_sum_f", float_array("f", {kInfinity, -kInfinity, -0.0F}, ""), 4, "PLACE");
  EXPECT_NE(floats.find("__builtin_inff(), -__builtin_inff(), -0x0p+0F,"), std::string::npos)
      << floats;
  const std::string integers =
      definition_of("n01_sum_i", int32_array("i", {INT32_MIN, -1}, ""), 4, "PLACE");
  EXPECT_NE(integers.find("(-2147483647 - 1), -1,"), std::string::npos) << integers;
}

// Of states alone.
TEST(Definition, WritesDoublesWithAllTheirBits) {
  ConstantArray doubles{"d", DType::kF64, std::vector<std::byte>(16), ""};
  const double values[] = {0.1, -std::numeric_limits<double>::infinity()};
  std::memcpy(doubles.bytes.data(), values, sizeof values);
  EXPECT_EQ(definition_of("d", doubles, 8, "PLACE"),
            "// \nalignas(8) const double d[2] PLACE = {\n    0x1.999999999999ap-4,\n"
            "    -__builtin_inf(),\n};\n");
}

}  // namespace
}  // namespace etch
