// Arithmetic and comparisons of uint32, uint64 and words: references, steps and compiled code
// agree.
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

std::vector<Case> cases() {
  return {chain(DType::kU32), chain(DType::kU64), words(DType::kU16), words(DType::kS16)};
}

TEST(Unsigned, Natively) { expect_native_agrees(cases()); }
TEST(Unsigned, CompiledCodeAgrees) { expect_compiled_agrees(cases(), "scalar"); }
TEST(Unsigned, CompilesWithoutWarnings) { expect_clean_code(cases(), "scalar"); }

}  // namespace
}  // namespace etch
