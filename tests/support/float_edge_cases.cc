// Numbers at the edges of what floats round to: float_edges() of float_cases.h.
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "tests/support/dealt.h"
#include "tests/support/float_cases.h"
#include "tests/support/model_builder.h"

namespace etch {

namespace {

// Products of two small ones are at most one and a half times half of the least float.
Tensor edge_floats(Dice& dice, Shape shape, bool small) {
  static const std::vector<float> kSmall{0x1p-75F, -0x1p-75F, 0x1.8p-75F, -0x1.8p-75F,
                                         0x1p-80F, -0x1p-80F, 0.0F,       -0.0F};
  static const std::vector<float> kAny{1.0F,       -1.0F,      0x1.000002p0F, -0x1.fffffep-1F,
                                       0x1p-24F,   -0x1p-24F,  0x1.8p-24F,    0x1p-12F,
                                       0x1p-75F,   -0x1p-74F,  0x1.8p-75F,    0x1p-126F,
                                       -0x1p-149F, 0x1.8p-23F, 0.0F,          -0.0F};
  Tensor out(DType::kF32, std::move(shape));
  for (float& x : out.as<float>()) x = dice.pick(small ? kSmall : kAny);
  return out;
}

Case matrices(const std::string& name, Dice& dice, bool small) {
  const std::int64_t depth = dice.between(1, 40), cols = dice.between(1, 70);
  const Tensor rows = edge_floats(dice, {dice.between(1, 9), depth}, small);
  ModelBuilder model(13);
  model.input("a", DType::kF32, declared_dims(rows.shape()));
  model.initializer("b", edge_floats(dice, {depth, cols}, small));
  model.node("MatMul", {"a", "b"}, {"y"}).output("y");
  return {name, model.bytes(), {rows}};
}

Case padded(const std::string& name, Dice& dice, bool small, bool depthwise) {
  const std::int64_t kernel = dice.pick<std::int64_t>({3, 5}), pad = kernel / 2;
  const std::int64_t group = depthwise ? dice.between(4, 20) : 1;
  const std::int64_t in = depthwise ? 1 : dice.between(1, 20);
  const std::int64_t out = depthwise ? 1 : dice.between(1, 40);
  const std::int64_t width = dice.pick<std::int64_t>({5, 7, 19, 33});
  const Tensor x = edge_floats(dice, {1, group * in, dice.between(3, 6), width}, small);
  ModelBuilder model(13);
  model.input("x", DType::kF32, declared_dims(x.shape()));
  model.initializer("w", edge_floats(dice, {group * out, in, kernel, kernel}, small));
  std::vector<std::string> names = {"x", "w"};
  if (dice.one_in(2)) {
    model.initializer("b", edge_floats(dice, {group * out}, true));
    names.emplace_back("b");
  }
  model.node("Conv", names, {"y"}, {{"pads", Ints{pad, pad, pad, pad}}, {"group", group}});
  model.output("y");
  return {cat(name, "_", group, "_", in, "_", out, "_", width), model.bytes(), {x}};
}

// Every other one has small numbers alone.
Case edges(int index, Dice& dice) {
  const bool small = index % 2 == 0;
  if (index % 5 == 0) return matrices(cat("edges_", index, "_MatMul"), dice, small);
  return padded(cat("edges_", index, "_Conv"), dice, small, index % 5 == 1);
}

}  // namespace

std::vector<Case> float_edges(int count) { return dealt(count, 43, edges); }

}  // namespace etch
