// Constants whose elements kernels move as bytes: outputs, parts of a Concat, tables of a Gather,
// memory that a loop begins with. Elements of several bytes have to be those of the model on a
// machine of the other byte order too.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {

Tensor floats() {
  return Tensor::of<float>({2, 2}, {1.5F, -2.75F, std::numeric_limits<float>::infinity(), 3e-41F});
}

Case constant_outputs() {
  ModelBuilder model(17);
  model.input("x", DType::kF32, {2});
  model.initializer("f", floats());
  model.initializer("i", Tensor::of<std::int64_t>({3}, {1, -2, INT64_MAX - 7}));
  model.initializer("w", Tensor::of<std::int32_t>({2}, {INT32_MIN, 0x01020304}));
  model.node("Identity", {"f"}, {"yf"}).node("Identity", {"i"}, {"yi"});
  model.node("Identity", {"w"}, {"yw"}).node("Relu", {"x"}, {"y"});
  model.output("yf").output("yi").output("yw").output("y");
  return {"constant outputs", model.bytes(), {Tensor::of<float>({2}, {1, -1})}};
}

Case concatenated() {
  ModelBuilder model(17);
  model.input("x", DType::kF32, {1, 2});
  model.initializer("f", floats());
  model.node("Concat", {"f", "x"}, {"y"}, {{"axis", std::int64_t{0}}}).output("y");
  return {"Concat", model.bytes(), {Tensor::of<float>({1, 2}, {7, -1})}};
}

Case gathered(const std::string& name, const Tensor& table) {
  ModelBuilder model(17);
  model.input("at", DType::kS64, {2});
  model.initializer("table", table);
  model.node("Gather", {"table", "at"}, {"y"}).output("y");
  return {"Gather of " + name, model.bytes(), {Tensor::of<std::int64_t>({2}, {1, -2})}};
}

Case gathered_elements() {
  ModelBuilder model(17);
  model.input("at", DType::kS32, {2, 2});
  model.initializer("table", floats());
  model.node("GatherElements", {"table", "at"}, {"y"}, {{"axis", std::int64_t{1}}}).output("y");
  return {"GatherElements", model.bytes(), {Tensor::of<std::int32_t>({2, 2}, {1, 0, 1, 1})}};
}

std::vector<Case> raw_constants_samples() {
  return {constant_outputs(),
          concatenated(),
          gathered_elements(),
          gathered("floats", floats()),
          gathered("int64", Tensor::of<std::int64_t>({2, 2}, {1, 0x0102030405060708, -3, 4})),
          gathered("int8", Tensor::of<std::int8_t>({2, 2}, {1, -128, 127, -3}))};
}

TEST(RawConstants, AreTheModelsNatively) { expect_native_agrees(raw_constants_samples()); }

// Targets: the one that takes another machine's byte order, and the same code on this machine.
TEST(RawConstants, AreTheModelsInEitherByteOrder) {
  for (const char* target : {"s390x", "scalar"}) {
    if (!why_not_here(*find_target(target)).empty()) continue;
    expect_compiled_agrees(raw_constants_samples(), target);
  }
}

}  // namespace
}  // namespace etch
