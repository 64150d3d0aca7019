// Small files that ask for large tables or much folding are refused, or left to run time, soon.
#include <gtest/gtest.h>

#include "compiler/ir/limits.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {

constexpr std::int64_t kLong = std::int64_t{1} << 24;

ModelBuilder with_integers(const std::string& name, const Ints& values) {
  ModelBuilder model;
  model.initializer(name,
                    Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
  return model;
}

// The class and the option of the refusal; "" if there is none.
std::string refusal_of(const ModelBuilder& model) {
  Sink sink;
  load(model, sink);
  const std::string said = errors_of(sink);
  if (said.empty()) return {};
  if (said.find("E-LIMIT") == std::string::npos) return said;
  const std::string option = "--limit ";
  const std::size_t at = said.find(option);
  return at == std::string::npos ? said : said.substr(at, said.find('=', at) - at);
}

ModelBuilder resize(const std::string& mode, std::int64_t size) {
  ModelBuilder model = with_integers("sizes", {1, 1, 1, size});
  model.input("x", DType::kF32, {1, 1, 1, 1000});
  model.node("Resize", {"x", "", "", "sizes"}, {"y"}, {{"mode", mode}}).output("y");
  return model;
}

ModelBuilder pad(const std::string& mode, std::int64_t end) {
  ModelBuilder model = with_integers("pads", {0, end});
  model.input("x", DType::kF32, {end + 1});
  model.node("Pad", {"x", "pads"}, {"y"}, {{"mode", mode}}).output("y");
  return model;
}

ModelBuilder slice(std::int64_t size, std::int64_t step) {
  ModelBuilder model = with_integers("start", {step < 0 ? -1 : 0});
  model.initializer("end", Tensor::of<std::int64_t>({1}, {step < 0 ? INT64_MIN : INT64_MAX}));
  model.initializer("axes", Tensor::of<std::int64_t>({1}, {0}));
  model.initializer("steps", Tensor::of<std::int64_t>({1}, {step}));
  model.input("x", DType::kF32, {size});
  model.node("Slice", {"x", "start", "end", "axes", "steps"}, {"y"}).output("y");
  return model;
}

TEST(ComputedLimits, BoundTablesOfPositions) {
  for (const char* const mode : {"nearest", "linear"}) {
    EXPECT_EQ(refusal_of(resize(mode, 4000)), "") << mode;
    EXPECT_EQ(refusal_of(resize(mode, kLong)), "--limit computed-bytes") << mode;
  }
  EXPECT_EQ(refusal_of(pad("reflect", 4000)), "");
  EXPECT_EQ(refusal_of(pad("reflect", kLong / 2)), "--limit computed-bytes");
  EXPECT_EQ(refusal_of(pad("constant", kLong / 2)), "");
  EXPECT_EQ(refusal_of(slice(4000, -1)), "");
  EXPECT_EQ(refusal_of(slice(kLong, -1)), "--limit computed-bytes");
  EXPECT_EQ(refusal_of(slice(kLong, 1)), "");
  ModelBuilder tile = with_integers("repeats", {kLong});
  tile.input("x", DType::kF32, {1}).node("Tile", {"x", "repeats"}, {"y"}).output("y");
  EXPECT_EQ(refusal_of(tile), "--limit computed-bytes");
  ModelBuilder gather = with_integers("indices", {3, 1, 2});
  gather.input("x", DType::kF32, {4, kLong / 4});
  gather.node("Gather", {"x", "indices"}, {"y"}).output("y");
  EXPECT_EQ(refusal_of(gather), "--limit computed-bytes");
}

TEST(ComputedLimits, AddUpOverTheNodes) {
  ModelBuilder model = with_integers("sizes", {1, 1, 1, 100'000});
  model.input("x", DType::kF32, {1, 1, 1, 1000});
  for (const char* const name : {"a", "b", "c"})
    model.node("Resize", {"x", "", "", "sizes"}, {name}).output(name);
  EXPECT_EQ(refusal_of(model), "--limit computed-bytes");
  EXPECT_EQ(refusal_of(resize("nearest", 100'000)), "");
}

// A convolution of a constant with itself: the kernel is as large as the input.
TEST(ComputedLimits, CountTheWindowOfAConstantConvolvedWithItself) {
  ModelBuilder model;
  model.initializer("c", Tensor(DType::kF32, {1, 1, 256, 256}));
  model.node("Conv", {"c", "c"}, {"y"}, {{"pads", Ints{255, 255, 255, 255}}}).output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(graph->nodes.size(), 1U);
}

TEST(ComputedLimits, AreNotSpentOnShapes) {
  ModelBuilder model;
  model.input("x", DType::kU8, {1, 64, 512, 512});
  for (int i = 0; i < 200; ++i) model.node("Shape", {"x"}, {"shape" + std::to_string(i)});
  model.node("Reshape", {"x", "shape199"}, {"y"}).output("y");
  EXPECT_EQ(refusal_of(model), "");
}

TEST(ComputedLimits, OnOperationsCanBeRaised) {
  ModelBuilder model;
  model.initializer("shape", Tensor::of<std::int64_t>({1}, {1000}));
  model.node("ConstantOfShape", {"shape"}, {"y"}).output("y");
  ImportOptions options;
  for (const std::int64_t operations : {999, 1000}) {
    options.limits.operations = operations;
    Sink sink;
    const auto graph = load(model, sink, options);
    ASSERT_TRUE(graph) << errors_of(sink);
    EXPECT_EQ(graph->nodes.size(), operations == 1000 ? 0U : 1U);
  }
}

}  // namespace
}  // namespace etch
