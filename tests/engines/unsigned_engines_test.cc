// Arithmetic and comparisons of bytes, words, uint32 and uint64: references, steps and compiled
// code agree.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/onnx_types.h"
#include "tests/support/agreement.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {

constexpr std::int64_t kFloat = 1;

// Any bits.
Tensor noise(Dice& dice, DType type, Shape shape) {
  Tensor out(type, std::move(shape));
  for (std::byte& each : out.mutable_bytes()) {
    each = static_cast<std::byte>(dice.one_in(3) ? 255 * dice.between(0, 1) : dice.between(0, 255));
  }
  return out;
}

// A chain of operators on values that come from outside, as hashes and masks have them.
Case chain(DType type) {
  Dice dice(static_cast<std::uint64_t>(bytes_of(type)));
  ModelBuilder model(18);
  model.input("a", type, {3, 21}).input("b", type, {21}).input("n", type, {3, 1});
  model.initializer("k", noise(dice, type, {1, 21}));
  model.node("Add", {"a", "b"}, {"s"}).node("Mul", {"s", "k"}, {"m"});
  model.node("BitShift", {"m", "n"}, {"r"}, {{"direction", std::string("RIGHT")}});
  model.node("BitwiseXor", {"m", "r"}, {"x"}).node("Max", {"x", "b", "k"}, {"y"});
  model.node("Less", {"x", "b"}, {"l"}).node("Equal", {"a", "a"}, {"e"});
  model.node("Mod", {"x", "y"}, {"d"}).node("Div", {"y", "b"}, {"q"}).node("Sign", {"d"}, {"g"});
  model.node("Where", {"l", "d", "q"}, {"w"}).node("Cast", {"w"}, {"f"}, {{"to", kFloat}});
  model.node("Cast", {"f"}, {"t"}, {{"to", std::int64_t{onnx_number_of(type)}}});
  model.node("Cast", {"x"}, {"v"}, {{"to", std::int64_t{onnx_number_of(DType::kU8)}}});
  for (const char* const name : {"x", "y", "l", "e", "d", "q", "g", "w", "f", "t", "v"})
    model.output(name);
  return {std::string(name_of(type)),
          model.bytes(),
          {noise(dice, type, {3, 21}), noise(dice, type, {21}), noise(dice, type, {3, 1})}};
}

Case words(DType type) {
  Dice dice(7);
  ModelBuilder model(18);
  model.input("a", type, {3, 21}).input("b", type, {21});
  model.node("Greater", {"a", "b"}, {"g"}).node("Equal", {"a", "b"}, {"e"}).output("g").output("e");
  return {std::string(name_of(type)),
          model.bytes(),
          {noise(dice, type, {3, 21}), noise(dice, type, {21})}};
}

// Rows that fill vectors, with some elements more.
Case bytes(DType type) {
  Dice dice(11);
  ModelBuilder model(18);
  model.input("a", type, {3, 141}).input("b", type, {141}).input("c", type, {3, 1});
  model.initializer("k", noise(dice, type, {1, 141}));
  model.node("Add", {"a", "b"}, {"s"})
      .node("Mul", {"s", "k"}, {"m"})
      .node("Sub", {"m", "c"}, {"d"});
  model.node("Max", {"a", "b", "k"}, {"x"}).node("Min", {"d", "c"}, {"n"});
  model.node("BitwiseXor", {"a", "d"}, {"o"}).node("BitwiseAnd", {"o", "k"}, {"w"});
  model.node("BitwiseOr", {"w", "c"}, {"r"}).node("Less", {"a", "b"}, {"l"});
  model.node("Equal", {"x", "a"}, {"e"}).node("GreaterOrEqual", {"d", "c"}, {"g"});
  model.node("And", {"l", "g"}, {"p"}).node("Xor", {"p", "e"}, {"q"}).node("Or", {"q", "l"}, {"u"});
  model.node("Not", {"u"}, {"v"}).node("Where", {"v", "a", "b"}, {"y"});
  model.node("Less", {"c", "c"}, {"f"}).node("Where", {"f", "y", "k"}, {"z"});
  for (const char* const name : {"s", "m", "d", "x", "n", "o", "w", "r", "p", "q", "v", "y", "z"})
    model.output(name);
  return {std::string(name_of(type)),
          model.bytes(),
          {noise(dice, type, {3, 141}), noise(dice, type, {141}), noise(dice, type, {3, 1})}};
}

// All dividends and divisors of bytes, 0 and the least value among them, by rows and by columns.
Case divisions(DType type) {
  ModelBuilder model(18);
  model.input("a", type, {256, 1}).input("b", type, {257});
  Tensor a(type, {256, 1}), b(type, {257});
  int next = 0;
  for (std::byte& each : a.mutable_bytes()) each = static_cast<std::byte>(next++);
  for (std::byte& each : b.mutable_bytes()) each = static_cast<std::byte>(next++);
  model.node("Div", {"a", "b"}, {"q"}).node("Div", {"b", "a"}, {"p"});
  model.node("Mod", {"a", "b"}, {"m"}).node("Mod", {"b", "a"}, {"n"});
  model.node("Mod", {"a", "b"}, {"f"}, {{"fmod", std::int64_t{1}}});
  model.node("Sub", {"f", "q"}, {"d"})
      .node("Mod", {"b", "d"}, {"c"})
      .node("Div", {"d", "b"}, {"e"});
  for (const char* const name : {"q", "p", "m", "n", "f", "c", "e"}) model.output(name);
  return {"divisions " + std::string(name_of(type)), model.bytes(), {a, b}};
}

// Quotients of int32 at and beside integers, with the least and greatest values, 0 and -1.
Case quotients() {
  constexpr std::int32_t kLeast = INT32_MIN, kMost = INT32_MAX;
  const std::vector<std::int32_t> divisors{0,     -1,        1,     2,        -2,     3,
                                           7,     -46341,    65536, 16777217, kLeast, kLeast + 1,
                                           kMost, kMost - 1, 1000,  -999983};
  std::vector<std::int32_t> a, b;
  for (const std::int32_t divisor : divisors) {
    for (const std::int64_t times : {0, 1, -1, 46340, -65535, 16777216, 306783378}) {
      for (const std::int64_t beside : {-1, 0, 1}) {
        const std::int64_t dividend = std::int64_t{divisor} * times + beside;
        a.push_back(static_cast<std::int32_t>(dividend));  // modulo 2^32: any dividend does
        b.push_back(divisor);
      }
    }
  }
  const std::vector<std::int32_t> row(a.begin(), a.begin() + 21);
  const auto rows = static_cast<std::int64_t>(a.size()) / 21;
  ModelBuilder model(18);
  model.input("a", DType::kS32, {rows, 21}).input("b", DType::kS32, {rows, 21});
  model.input("r", DType::kS32, {21}).input("c", DType::kS32, {rows, 1});
  model.node("Div", {"a", "b"}, {"q"}).node("Div", {"a", "r"}, {"p"});
  model.node("Div", {"c", "b"}, {"d"})
      .node("Div", {"a", "c"}, {"e"})
      .node("Div", {"q", "d"}, {"f"});
  for (const char* const name : {"q", "p", "d", "e", "f"}) model.output(name);
  return {"quotients",
          model.bytes(),
          {Tensor::of<std::int32_t>({rows, 21}, a), Tensor::of<std::int32_t>({rows, 21}, b),
           Tensor::of<std::int32_t>({21}, row), Tensor::of<std::int32_t>({rows, 1}, divisors)}};
}

// Bytes of one element after a reduction, whose highest bit may be kept the other way round.
Case bits_of_one_byte(DType type) {
  Dice dice(7);
  ModelBuilder model(26);
  model.input("x", type, {2, 21}).initializer("axes", Tensor::of<std::int64_t>({2}, {0, 1}));
  model.node("ReduceMin", {"x", "axes"}, {"least"});
  model.node("BitCast", {"least"}, {"y"}, {{"to", std::int64_t{type == DType::kS8 ? 2 : 3}}});
  model.node("Cast", {"y"}, {"z"}, {{"to", std::int64_t{6}}}).output("y").output("z");
  const int least = type == DType::kS8 ? -128 : 0;
  return {"bits of one " + std::string(name_of(type)),
          model.bytes(),
          {random_bytes(dice, type, {2, 21}, least, least + 60)}};
}

// Two planes become pairs and the reverse, more of them than vectors have.
Case pairs() {
  Dice dice(11);
  ModelBuilder model(18);
  model.input("planes", DType::kU8, {2, 67}).input("pairs", DType::kS8, {67, 2});
  model.node("Transpose", {"planes"}, {"y"}).node("Transpose", {"pairs"}, {"z"});
  model.output("y").output("z");
  return {"pairs",
          model.bytes(),
          {random_bytes(dice, DType::kU8, {2, 67}, 0, 255),
           random_bytes(dice, DType::kS8, {67, 2}, -128, 127)}};
}

// Lines side by side, more than vectors have.
Case running_sums(DType type) {
  Dice dice(5);
  ModelBuilder model(18);
  model.input("x", type, {7, 39});
  model.initializer("axis", Tensor::of<std::int64_t>({}, {0}));
  for (const std::int64_t exclusive : {0, 1}) {
    for (const std::int64_t reverse : {0, 1}) {
      const std::string y = "y" + std::to_string(2 * exclusive + reverse);
      model.node("CumSum", {"x", "axis"}, {y}, {{"exclusive", exclusive}, {"reverse", reverse}});
      model.output(y);
    }
  }
  return {"sums " + std::string(name_of(type)), model.bytes(), {noise(dice, type, {7, 39})}};
}

std::vector<Case> narrow_cases() {
  return {bytes(DType::kU8),
          bytes(DType::kS8),
          divisions(DType::kU8),
          divisions(DType::kS8),
          running_sums(DType::kS32),
          running_sums(DType::kS64),
          quotients(),
          pairs(),
          bits_of_one_byte(DType::kS8),
          bits_of_one_byte(DType::kU8)};
}

std::vector<Case> unsigned_samples() {
  return {chain(DType::kU32), chain(DType::kU64), words(DType::kU16), words(DType::kS16)};
}

TEST(Unsigned, Natively) { expect_native_agrees(unsigned_samples()); }
TEST(Unsigned, CompiledCodeAgrees) { expect_compiled_agrees(unsigned_samples(), "scalar"); }
TEST(Bytes, Natively) { expect_native_agrees(narrow_cases()); }
// Targets: the same C++ on all of x86, in vectors of each width.
TEST(Bytes, CompiledCodeAgrees) {
  for (const char* const target : {"scalar", "avx2", "avx512_vnni"})
    expect_compiled_agrees(narrow_cases(), target);
}
// Of other machines than x86 many have no vectors.
TEST(Bytes, CompileWithoutWarnings) {
  expect_clean_code(narrow_cases(), "scalar");
  expect_clean_code(narrow_cases(), "scalar", {"-U__SSE2__"});
}
TEST(Unsigned, CompilesWithoutWarnings) { expect_clean_code(unsigned_samples(), "scalar"); }

}  // namespace
}  // namespace etch
