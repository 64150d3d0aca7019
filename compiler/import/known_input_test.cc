// Numbers of a command line as inputs of the declared type and shape, and those that are none.
#include "compiler/import/known_input.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

Tensor numbers(const std::vector<double>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return Tensor::of<double>(count == 1 ? Shape{} : Shape{count}, values);
}

std::optional<Tensor> known(const std::vector<double>& values, DType type, Shape shape) {
  Sink sink;
  return known_input(numbers(values), {type, std::move(shape)}, Limits{}, "", sink);
}

std::string errors_of_known(const std::vector<double>& values, DType type, Shape shape) {
  Sink sink;
  EXPECT_FALSE(known_input(numbers(values), {type, std::move(shape)}, Limits{}, "", sink));
  return errors_of(sink);
}

TEST(KnownInput, IsOfTheDeclaredType) {
  EXPECT_EQ(known({5}, DType::kU32, {}), Tensor::of<std::uint32_t>({}, {5}));
  EXPECT_EQ(known({0x1p63}, DType::kU64, {}),
            Tensor::of<std::uint64_t>({}, {std::uint64_t{1} << 63}));
  EXPECT_EQ(known({-3, 4}, DType::kS64, {2}), s64({2}, {-3, 4}));
  EXPECT_EQ(known({0.1}, DType::kF32, {1}), f32({1}, {0.1F}));
  EXPECT_EQ(known({1}, DType::kF64, {2}), Tensor::of<double>({2}, {1, 1}));
}

TEST(KnownInput, HasNumbersOfThatTypeOnly) {
  const char* const kNone = "--constant has a number that is no ";
  const std::vector<std::pair<double, DType>> given = {
      {-1, DType::kU32},     {0x1p32, DType::kU32}, {0x1p64, DType::kU64},
      {0x1p63, DType::kS64}, {1.5, DType::kS8},     {256, DType::kU8},
      {2, DType::kBool},     {1e99, DType::kF32},   {-1e39, DType::kF32}};
  for (const auto& [number, type] : given)
    EXPECT_NE(errors_of_known({number}, type, {}).find(kNone), std::string::npos) << name_of(type);
  EXPECT_TRUE(known({std::numeric_limits<float>::max()}, DType::kF32, {}));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(known({-kInfinity}, DType::kF32, {1}),
            f32({1}, {-std::numeric_limits<float>::infinity()}));
  for (const double number : {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_NE(errors_of_known({number}, DType::kS64, {}).find(kNone), std::string::npos) << number;
  EXPECT_NE(errors_of_known({1}, DType::kF16, {}).find("takes a file for float16"),
            std::string::npos);
}

// A file may declare any sizes, also those whose product is none.
TEST(KnownInput, HasAtMostSoManyElementsAsAnInput) {
  EXPECT_EQ(known({7}, DType::kS32, {2, 2}), s32({2, 2}, {7, 7, 7, 7}));
  const std::int64_t many = std::int64_t{1} << 32;
  for (const Shape& shape : {Shape{many}, Shape{many, many}, Shape{many, many, many}})
    EXPECT_NE(errors_of_known({7}, DType::kS32, shape).find("E-LIMIT"), std::string::npos);
  EXPECT_NE(errors_of_known({7}, DType::kS32, {-1, 3}).find("E-SHAPE"), std::string::npos);
}

}  // namespace
}  // namespace etch
