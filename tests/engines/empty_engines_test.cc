// Tensors without elements, as caches before the first step are: inputs, outputs and what is
// computed of them in references, steps and compiled code.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/support/agreement.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

constexpr DType kF = DType::kF32;

Case made(std::string name, const ModelBuilder& model, std::vector<Tensor> inputs) {
  return {std::move(name), model.bytes(), std::move(inputs)};
}

Case first_step_of_a_cache() {
  ModelBuilder model;
  model.input("past", kF, {1, 2, 0, 2}).input("x", kF, {1, 2, 1, 2});
  model.node("Concat", {"past", "x"}, {"present"}, {{"axis", std::int64_t{2}}});
  model.node("Transpose", {"present"}, {"keys"}, {{"perm", Ints{0, 1, 3, 2}}});
  model.node("MatMul", {"x", "keys"}, {"scores"}).node("Tanh", {"past"}, {"old"});
  model.output("present").output("scores").output("old").output("past");
  return made("first step of a cache", model,
              {Tensor(kF, {1, 2, 0, 2}), f32({1, 2, 1, 2}, {1, -2, 3, 0.5F})});
}

Case parts_and_sums() {
  ModelBuilder model;
  model.input("x", kF, {5}).input("e", kF, {2, 0, 3}).input("q", DType::kS8, {0, 3});
  model.initializer("sizes", s64({3}, {0, 3, 2})).initializer("axis", s64({1}, {1}));
  model.initializer("s", f32({}, {0.5F})).initializer("z", s8({}, {1}));
  model.node("Split", {"x", "sizes"}, {"a", "b", "c"}).node("Neg", {"b"}, {"b2"});
  model.node("ReduceSum", {"e", "axis"}, {"sum"}, {{"keepdims", std::int64_t{0}}});
  model.node("DequantizeLinear", {"q", "s", "z"}, {"f"}).node("MatMul", {"a", "f"}, {"none"});
  model.node("Add", {"b2", "none"}, {"d"}).node("Add", {"sum", "d"}, {"y"});
  model.output("a").output("c").output("y").output("f");
  return made("parts and sums", model,
              {f32({5}, {1, 2, 3, 4, 5}), Tensor(kF, {2, 0, 3}), Tensor(DType::kS8, {0, 3})});
}

Case nothing_to_scatter() {
  ModelBuilder model(18);
  model.input("x", kF, {3, 2}).input("at", DType::kS64, {0, 1}).input("rows", kF, {0, 2});
  model.node("ScatterND", {"x", "at", "rows"}, {"y"}).output("y");
  return made("nothing to scatter", model,
              {f32({3, 2}, {1, 2, 3, 4, 5, 6}), Tensor(DType::kS64, {0, 1}), Tensor(kF, {0, 2})});
}

Case nothing_at_all() {
  ModelBuilder model;
  model.input("x", kF, {0, 4}).node("Relu", {"x"}, {"y"}).output("y");
  return made("nothing at all", model, {Tensor(kF, {0, 4})});
}

std::vector<Case> empty_samples() {
  return {first_step_of_a_cache(), parts_and_sums(), nothing_to_scatter(), nothing_at_all()};
}

TEST(Empty, Natively) { expect_native_agrees(empty_samples()); }

TEST(Empty, CompiledCodeAgrees) { expect_compiled_agrees(empty_samples(), "scalar"); }

TEST(Empty, CompilesWithoutWarnings) { expect_clean_code(empty_samples(), "scalar"); }

}  // namespace
}  // namespace etch
