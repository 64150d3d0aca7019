// Functions of single elements beside operators that move or mix elements: references, steps and
// compiled code agree bit for bit. The references see the graph before any pass, so this shows that
// no pass takes one for the other. Recorded findings are read from ../shared/findings, if present.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/import/tensor_proto.h"
#include "tests/support/agreement.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/place_cases.h"
#include "tests/support/targets.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

TEST(Places, NativelyInReversingSlices) { expect_native_agrees(reversing_slices()); }
TEST(Places, NativelyInOperatorsThatMix) { expect_native_agrees(mixing_operators()); }
TEST(Places, NativelyInNarrowParts) { expect_native_agrees(narrow_parts()); }
TEST(Places, NativelyInChains) { expect_native_agrees(place_chains(300)); }

// Of two convolutions whose results are joined the first has its bias at run time and writes
// row-major, the second has channels last.
std::vector<Case> joined_convolutions() {
  std::vector<Case> out;
  for (const std::int64_t axis : {0, 1, 2}) {
    Dice dice(static_cast<std::uint64_t>(axis) + 33'000'000);
    ModelBuilder model(13);
    model.input("x", DType::kU8, {1, 3, 5, 4}).input("bias", DType::kS32, {16});
    model.initializer("scale", f32({}, {0.0625F})).initializer("zero", u8({}, {100}));
    model.initializer("w", random_bytes(dice, DType::kS8, {16, 3, 3, 2}, -127, 127));
    model.initializer("w_zero", s8({}, {0}));
    const std::vector<std::string> inputs = {"x",     "scale",  "zero",  "w",
                                             "scale", "w_zero", "scale", "zero"};
    std::vector<std::string> with_bias = inputs;
    with_bias.emplace_back("bias");
    model.node("QLinearConv", with_bias, {"a"}).node("QLinearConv", inputs, {"b"});
    model.node("Concat", {"a", "b"}, {"y"}, {{"axis", axis}}).output("y");
    Tensor bias(DType::kS32, {16});
    for (std::int32_t& each : bias.as<std::int32_t>())
      each = static_cast<std::int32_t>(dice.between(-4000, 4000));
    out.push_back({cat("joined_", axis),
                   model.bytes(),
                   {random_bytes(dice, DType::kU8, {1, 3, 5, 4}), bias}});
  }
  return out;
}

TEST(Places, NativelyInConvolutionsOfTwoLayouts) { expect_native_agrees(joined_convolutions()); }

// Convolutions with padding of the channels of one tensor, the last ones first; `transposed`: which
// has its channels last, and is turned before.
Case convolved_parts(bool dynamic, bool transposed) {
  Dice dice(34'000'000);
  ModelBuilder model(13);
  model.initializer("scale", f32({}, {0.0625F})).initializer("zero", u8({}, {100}));
  model.initializer("w_zero", s8({}, {0}))
      .initializer("sizes", Tensor::of<std::int64_t>({2}, {4, 4}));
  const Shape shape = transposed ? Shape{1, 5, 4, 8} : Shape{1, 8, 5, 4};
  model.input("x", dynamic ? DType::kF32 : DType::kU8, {shape.begin(), shape.end()});
  if (dynamic) {
    model.node("DynamicQuantizeLinear", {"x"}, {"q", "q_scale", "q_zero"});
  } else {
    model.node("MaxPool", {"x"}, {"q"}, {{"kernel_shape", Ints{1, 1}}});
  }
  if (transposed) model.node("Transpose", {"q"}, {"t"}, {{"perm", Ints{0, 3, 1, 2}}});
  model.node("Split", {transposed ? "t" : "q", "sizes"}, {"p0", "p1"}, {{"axis", std::int64_t{1}}});
  for (const std::string i : {"1", "0"}) {
    const DType type = dynamic ? DType::kU8 : DType::kS8;
    model.initializer("w" + i, random_bytes(dice, type, {8, 4, 3, 3}, dynamic ? 0 : -127, 127));
    if (dynamic) {
      model.node("ConvInteger", {"p" + i, "w" + i, "q_zero"}, {"c" + i}, {{"pads", Ints(4, 1)}});
    } else {
      model.node("QLinearConv",
                 {"p" + i, "scale", "zero", "w" + i, "scale", "w_zero", "scale", "zero"}, {"c" + i},
                 {{"pads", Ints(4, 1)}});
    }
  }
  model.node("Concat", {"c0", "c1"}, {"y"}, {{"axis", std::int64_t{1}}}).output("y");
  Tensor x = random_bytes(dice, DType::kU8, shape);
  if (dynamic) {
    Tensor reals(DType::kF32, x.shape());
    for (std::size_t i = 0; i < reals.as<float>().size(); ++i)
      reals.as<float>()[i] = static_cast<float>(x.integer(static_cast<std::int64_t>(i)) - 90);
    x = std::move(reals);
  }
  return {cat("parts_", dynamic, "_", transposed), model.bytes(), {std::move(x)}};
}

std::vector<Case> convolved_parts() {
  return {convolved_parts(false, false), convolved_parts(true, false), convolved_parts(false, true),
          convolved_parts(true, true)};
}

TEST(Places, NativelyInConvolutionsOfParts) { expect_native_agrees(convolved_parts()); }

class CompiledPlaces : public testing::TestWithParam<const char*> {};

TEST_P(CompiledPlaces, AgreeWithTheReferences) {
  std::vector<Case> all;
  const std::vector<Case> slices = reversing_slices();
  for (std::size_t i = 0; i < slices.size(); i += 9) all.push_back(slices[i]);
  add_cases(all, mixing_operators());
  const std::vector<Case> parts = narrow_parts();
  for (std::size_t i = 0; i < parts.size(); i += 4) all.push_back(parts[i]);
  add_cases(all, place_chains(24));
  add_cases(all, joined_convolutions());
  add_cases(all, convolved_parts());
  expect_compiled_agrees(thinned(std::move(all), GetParam()), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Places, CompiledPlaces,
    testing::ValuesIn(all_targets_but({{"sse41", "has the layouts of avx2"},
                                       {"avx_vnni", "differs from avx2 in products alone"}})),
    name_of_target);

int steps_of_kind(const ModelBuilder& model, const char* kind) {
  const auto program = compiled({"model", model.bytes(), {}}, "avx512_vnni");
  EXPECT_NE(program, nullptr);
  if (program == nullptr) return -1;
  return static_cast<int>(std::ranges::count_if(
      program->steps, [&](const auto& step) { return std::string(step->kind) == kind; }));
}

// A sum whose shape changes twice, and which another operator reads if so asked.
std::string written_outputs(DType type, bool read_before, bool read_after) {
  ModelBuilder model(18);
  model.input("x", type, {2, 3, 4}).input("z", type, {2, 3, 4});
  model.initializer("flat", Tensor::of<std::int64_t>({2}, {6, -1}));
  model.initializer("row", Tensor::of<std::int64_t>({1}, {-1}));
  model.node("Add", {"x", "z"}, {"s"}).node("Reshape", {"s", "flat"}, {"f"});
  model.node("Reshape", {"f", "row"}, {"y"}).output("y");
  if (read_before) model.node("Mul", {"s", "x"}, {"p"}).output("p");
  if (read_after) model.node("Mul", {"y", "y"}, {"q"}).output("q");
  const auto program = compiled({"sum", model.bytes(), {}}, "avx512_vnni");
  EXPECT_NE(program, nullptr);
  std::string out;
  for (const auto& step : program->steps) out += cat(out.empty() ? "" : " ", step->kind);
  return out;
}

TEST(Places, ResultsBehindANewShapeAreComputedWhereTheCallerWantsThem) {
  EXPECT_EQ(written_outputs(DType::kF32, false, false), "arithmetic");
  EXPECT_EQ(written_outputs(DType::kF32, false, true), "arithmetic arithmetic");
  EXPECT_EQ(written_outputs(DType::kF32, true, false), "arithmetic arithmetic output");
  EXPECT_EQ(written_outputs(DType::kS64, false, false), "arithmetic");
  // What steps read has to be aligned for vectors of integers.
  EXPECT_EQ(written_outputs(DType::kS64, false, true), "arithmetic arithmetic output");
}

TEST(Places, BytesThatATransposeMovedAreLookedUpWhereTheyAre) {
  ModelBuilder model;
  model.opset("com.microsoft", 1).input("x", DType::kU8, {1, 4, 6, 5});
  model.initializer("scale", f32({}, {0.05F})).initializer("zero", u8({}, {128}));
  model.node("Transpose", {"x"}, {"t"}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  model.node("QLinearSigmoid", {"t", "scale", "zero", "scale", "zero"}, {"s"}, {}, "com.microsoft");
  model.node("Transpose", {"s"}, {"y"}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  model.output("y");
  EXPECT_EQ(steps_of_kind(model, "table"), 1);
  EXPECT_EQ(steps_of_kind(model, "copy"), 0);
}

TEST(Places, OutputsThatLaterStepsReadAreNotCopied) {
  ModelBuilder model;
  model.input("x", DType::kF32, {4, 8});
  model.node("Sigmoid", {"x"}, {"y"}).node("Tanh", {"y"}, {"z"});
  model.output("y").output("z");
  EXPECT_EQ(steps_of_kind(model, "map"), 2);
  EXPECT_EQ(steps_of_kind(model, "output"), 0);
}

// A step that needs its input in the arena gets a copy there, not the output copied to itself.
TEST(Places, OutputsThatAStepNeedsInTheArenaAreCopiedThere) {
  ModelBuilder floats;
  floats.input("x", DType::kF32, {4, 8});
  floats.node("Sigmoid", {"x"}, {"y"}).node("Softmax", {"y"}, {"z"});
  floats.output("y").output("z");
  ModelBuilder bytes;
  bytes.input("x", DType::kU8, {3, 6}).initializer("s", f32({}, {0.05F}));
  bytes.initializer("z", u8({}, {128}))
      .initializer("w", u8({6, 5}, std::vector<std::uint8_t>(30, 131)));
  bytes.initializer("v", u8({5, 4}, std::vector<std::uint8_t>(20, 120)));
  bytes.node("QLinearMatMul", {"x", "s", "z", "w", "s", "z", "s", "z"}, {"y"});
  bytes.node("QLinearMatMul", {"y", "s", "z", "v", "s", "z", "s", "z"}, {"q"});
  bytes.output("y").output("q");
  for (const ModelBuilder* model : {&floats, &bytes}) {
    const auto program = compiled({"model", model->bytes(), {}}, "avx512_vnni");
    ASSERT_NE(program, nullptr);
    for (const auto& step : program->steps) {
      if (step->kind != "copy") continue;
      const Buffer& to = program->buffers[static_cast<std::size_t>(step->operands.back().buffer)];
      EXPECT_EQ(to.home, Home::kArena) << step->name;
      EXPECT_NE(step->operands.front().buffer, step->operands.back().buffer);
    }
  }
}

// Lines with a halo are contiguous, too, but the caller's memory has no place for it.
TEST(Places, OutputsThatAConvolutionPadsHaveNoHalo) {
  for (const Shape& shape : {Shape{1, 1, 5}, Shape{1, 1, 1, 16}, Shape{1, 1, 40}}) {
    const std::int64_t axes = std::ssize(shape) - 2;
    Shape kernel(shape.size(), 1);
    kernel.back() = 5;
    std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * axes), 0);
    pads[static_cast<std::size_t>(axes) - 1] = pads.back() = 2;
    ModelBuilder model;
    model.input("x", DType::kF32, {shape.begin(), shape.end()}).initializer("s", f32({}, {0.05F}));
    model.initializer("z", u8({}, {3})).initializer("w", u8(kernel, {1, 5, 0, 7, 3}));
    model.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
    model.node("QLinearConv", {"q", "s", "z", "w", "s", "z", "s", "z"}, {"y"}, {{"pads", pads}});
    model.output("q").output("y");
    std::vector<float> x(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.21F * static_cast<float>(i % 9);
    expect_native_agrees({{cat("line_", x.size()), model.bytes(), {f32(shape, x)}}});
  }
}

// Recorded results of ONNX Runtime for one model.
struct Finding {
  std::string model;
  std::vector<Tensor> inputs, outputs;  // one of each per data set
};

Finding read_finding(const fs::path& folder) {
  Finding out;
  std::ifstream file(folder / "model.onnx", std::ios::binary);
  out.model = std::string(std::istreambuf_iterator<char>(file), {});
  for (int set = 0; fs::exists(folder / cat("test_data_set_", set)); ++set) {
    Sink sink;
    const fs::path data = folder / cat("test_data_set_", set);
    const auto x = read_tensor_file((data / "input_0.pb").string(), sink);
    const auto y = read_tensor_file((data / "output_0.pb").string(), sink);
    if (!x || !y) ADD_FAILURE() << data << " cannot be read";
    if (!x || !y) break;
    out.inputs.push_back(*x);
    out.outputs.push_back(*y);
  }
  return out;
}

TEST(Places, RecordedReversalsGiveWhatOnnxRuntimeGave) {
  const fs::path findings = fs::path(source_dir()) / ".." / "shared" / "findings";
  int models = 0;
  for (const char* name : {"slice_reverse_u8", "slice_reverse_qdq_bgr_rgb"}) {
    if (!fs::exists(findings / name)) continue;
    ++models;
    const Finding finding = read_finding(findings / name);
    EXPECT_FALSE(finding.inputs.empty()) << name;
    for (std::size_t set = 0; set < finding.inputs.size(); ++set) {
      const Case each{cat(name, "_", set), finding.model, {finding.inputs[set]}};
      for (const IsaTraits* const isa : plans()) {
        const auto program = compiled(each, isa->name);
        ASSERT_NE(program, nullptr);
        EXPECT_EQ(difference_of(native_outputs(*program, each.inputs), {finding.outputs[set]}), "")
            << each.name << " on " << isa->name;
      }
    }
  }
  if (models == 0) GTEST_SKIP() << "../shared/findings has no slice_reverse_*";
}

}  // namespace
}  // namespace etch
