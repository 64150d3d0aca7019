// Code for all sizes up to a bound (--dim 'seq<=N'): for each size it executes the statements of
// the code that was compiled for it alone, and computes the same bits, here and in emulators.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/emit/emit.h"
#include "compiler/host/measure.h"
#include "compiler/host/network.h"
#include "compiler/program/sized_step.h"
#include "compiler/stage/recording.h"
#include "compiler/stage/size_marks.h"
#include "compiler/targets/targets.h"
#include "tests/support/engines.h"
#include "tests/support/model_builder.h"
#include "tests/support/part.h"
#include "tests/support/targets.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

Tensor random_floats(const Shape& shape, std::uint32_t seed) {
  Port port;
  port.dtype = DType::kF32;
  port.shape = shape;
  Tensor out = cli::made_up(port, seed);
  for (float& value : out.as<float>()) value -= 0.5F;
  return out;
}

Tensor random_bytes(DType type, const Shape& shape, std::uint32_t seed) {
  Port port;
  port.dtype = type;
  port.shape = shape;
  return cli::made_up(port, seed);
}

Tensor scale(float value) { return Tensor::of<float>({}, {value}); }
Tensor zero(std::uint8_t value) { return Tensor::of<std::uint8_t>({}, {value}); }

// Attention as quantized encoders have it: sums over the length, and tensors in which it is the
// innermost size, the outermost, and both.
ModelBuilder attention() {
  constexpr std::int64_t kWide = 24, kHead = 8;
  ModelBuilder out;
  out.input("x", DType::kF32, {std::int64_t{1}, "seq", kWide});
  out.input("mask", DType::kF32, {std::int64_t{1}, "seq"});
  out.initializer("s", scale(0.01F)).initializer("z", zero(128));
  out.initializer("heads", Tensor::of<std::int64_t>({4}, {1, -1, 3, kHead}));
  out.initializer("flat", Tensor::of<std::int64_t>({3}, {1, -1, kWide}));
  out.initializer("axes", Tensor::of<std::int64_t>({2}, {1, 2}));
  out.node("DynamicQuantizeLinear", {"x"}, {"xq", "xs", "xz"});
  for (const char* const each : {"q", "k", "v"}) {
    const std::string name = each;
    out.initializer(name + "_w",
                    random_bytes(DType::kU8, {kWide, kWide}, static_cast<unsigned>(name[0])));
    out.node("MatMulInteger", {"xq", name + "_w", "xz", "z"}, {name + "_i"});
    out.node("Cast", {name + "_i"}, {name + "_f"}, {{"to", std::int64_t{1}}});
    out.node("Mul", {name + "_f", "xs"}, {name + "_x"});
    out.node("Mul", {name + "_x", "s"}, {name + "_s"});
    out.node("Reshape", {name + "_s", "heads"}, {name + "_h"});
    out.node("Transpose", {name + "_h"}, {name + "_t"},
             {{"perm", name == "k" ? Ints{0, 2, 3, 1} : Ints{0, 2, 1, 3}}});
  }
  out.node("MatMul", {"q_t", "k_t"}, {"scores"});
  out.node("Unsqueeze", {"mask", "axes"}, {"mask_4"});
  out.node("Add", {"scores", "mask_4"}, {"masked"});
  out.node("Softmax", {"masked"}, {"p"}, {{"axis", std::int64_t{-1}}});
  out.node("MatMul", {"p", "v_t"}, {"context"});
  out.node("Transpose", {"context"}, {"c_t"}, {{"perm", Ints{0, 2, 1, 3}}});
  out.node("Reshape", {"c_t", "flat"}, {"y"});
  out.output("y");
  return out;
}

// Convolutions over time, with padding, a stride, and an average over all of it.
ModelBuilder sound() {
  ModelBuilder out;
  out.input("x", DType::kU8, {std::int64_t{1}, std::int64_t{6}, "time"});
  out.initializer("s", scale(0.02F)).initializer("z", zero(120));
  out.initializer("ws", scale(0.01F)).initializer("wz", Tensor::of<std::int8_t>({}, {0}));
  out.initializer("w1", random_bytes(DType::kS8, {10, 6, 3}, 1));
  out.initializer("w2", random_bytes(DType::kS8, {5, 10, 3}, 2));
  const std::vector<std::string> end = {"ws", "wz", "s", "z"};
  out.node("QLinearConv", {"x", "s", "z", "w1", "ws", "wz", "s", "z"}, {"a"},
           {{"pads", Ints{1, 1}}});
  out.node("QLinearConv", {"a", "s", "z", "w2", "ws", "wz", "s", "z"}, {"b"},
           {{"pads", Ints{1, 1}}, {"strides", Ints{2}}});
  out.node("QLinearGlobalAveragePool", {"b", "s", "z", "s", "z"}, {"mean"},
           {{"channels_last", std::int64_t{0}}}, "com.microsoft");
  out.opset("com.microsoft", 1);
  out.output("b").output("mean");
  return out;
}

// A batch.
ModelBuilder batch() {
  ModelBuilder out;
  out.input("x", DType::kU8, {"N", std::int64_t{20}});
  out.initializer("s", scale(0.02F)).initializer("z", zero(128));
  out.initializer("w", random_bytes(DType::kU8, {20, 18}, 3));
  out.node("QLinearMatMul", {"x", "s", "z", "w", "s", "z", "s", "z"}, {"h"});
  out.node("DequantizeLinear", {"h", "s", "z"}, {"f"});
  out.node("Softmax", {"f"}, {"y"}, {{"axis", std::int64_t{-1}}});
  out.output("y");
  return out;
}

// A recurrence, whose loop has the length as its number of trips, and a constant of which each
// length takes the beginning.
ModelBuilder recurrence() {
  ModelBuilder out;
  out.input("x", DType::kF32, {"seq", std::int64_t{1}, std::int64_t{5}});
  out.initializer("w", random_floats({1, 12, 5}, 4));
  out.initializer("r", random_floats({1, 12, 4}, 5));
  out.initializer("places", random_floats({40, 1, 5}, 6));
  out.initializer("zero", Tensor::of<std::int64_t>({1}, {0}));
  out.initializer("one", Tensor::of<std::int64_t>({1}, {1}));
  out.node("Shape", {"x"}, {"shape"});
  out.node("Slice", {"shape", "zero", "one"}, {"length"});
  out.node("Slice", {"places", "zero", "length", "zero"}, {"place"});
  out.node("Add", {"x", "place"}, {"sum"});
  out.node("GRU", {"sum", "w", "r"}, {"y"}, {{"hidden_size", std::int64_t{4}}});
  out.output("y");
  return out;
}

struct Example {
  const char* symbol;
  ModelBuilder (*model)();
  std::int64_t most;
};
constexpr Example kExamples[] = {
    {"seq", attention, 21}, {"time", sound, 37}, {"N", batch, 13}, {"seq", recurrence, 9}};

std::unique_ptr<Program> fixed(const Example& example, std::string_view target, std::int64_t size,
                               bool common_tiles = false) {
  CompileOptions options;
  options.tuning.for_all_sizes = common_tiles;
  options.target = target;
  options.import.dims[example.symbol] = size;
  Sink sink;
  auto program = compile(example.model().bytes(), options, sink);
  EXPECT_NE(program, nullptr) << errors_of(sink);
  return program;
}

std::unique_ptr<Program> bounded(const Example& example, std::string_view target) {
  CompileOptions options;
  options.target = target;
  options.bounds = {{example.symbol, 1, example.most}};
  Sink sink;
  auto program = compile(example.model().bytes(), options, sink);
  EXPECT_NE(program, nullptr) << errors_of(sink);
  return program;
}

std::vector<Tensor> inputs_for(const Program& program) {
  std::vector<Tensor> out;
  for (const Port& port : program.inputs)
    out.push_back(cli::made_up(port, 11U + static_cast<std::uint32_t>(out.size())));
  return out;
}

// The steps that a size runs.
std::vector<const SizedStep*> steps_at(const Program& program, std::int64_t size) {
  std::vector<const SizedStep*> out;
  for (const auto& step : program.steps) {
    const SizedStep* const each = step->sized();
    if (std::ranges::find(each->sizes, size) != each->sizes.end()) out.push_back(each);
  }
  return out;
}

class Sizes : public testing::TestWithParam<const IsaTraits*> {};

// By other means than those that made it: the program for one size is compiled again.
TEST_P(Sizes, EachRunsTheStatementsThatItsOwnCodeHas) {
  const std::string_view target = GetParam()->name;
  for (const Example& example : kExamples) {
    const auto all = bounded(example, target);
    ASSERT_NE(all, nullptr);
    for (std::int64_t size = 1; size <= example.most; ++size) {
      const auto one = fixed(example, target, size, true);
      ASSERT_NE(one, nullptr);
      const std::vector<const SizedStep*> steps = steps_at(*all, size);
      ASSERT_EQ(steps.size(), one->steps.size()) << example.symbol << " = " << size;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        Step& own = *one->steps[i];
        for (ConstantArray& array : own.constants) array.owner.clear();
        const MarkedText text = split_marks(marked_text(own, one->isa));
        Step& common = *all->steps[static_cast<std::size_t>(
            std::ranges::find_if(all->steps, [&](const auto& s) { return &*s == steps[i]; }) -
            all->steps.begin())];
        std::vector<std::string> owners;
        for (ConstantArray& array : common.constants)
          owners.push_back(std::exchange(array.owner, ""));
        EXPECT_EQ(text.skeleton, split_marks(marked_text(common, all->isa)).skeleton);
        for (std::size_t c = 0; c < owners.size(); ++c) common.constants[c].owner = owners[c];
        ASSERT_EQ(text.numbers.size(), steps[i]->numbers.size());
        for (std::size_t k = 0; k < text.numbers.size(); ++k)
          EXPECT_EQ(text.numbers[k], steps[i]->numbers[k].at(size)) << own.name;
        for (std::size_t o = 0; o < own.operands.size(); ++o)
          EXPECT_EQ(own.operands[o].offset, steps[i]->offsets[o].at(size)) << own.name;
        for (std::size_t c = 0; c < own.constants.size(); ++c) {
          const auto& bytes = own.constants[c].bytes;
          ASSERT_LE(bytes.size(), common.constants[c].bytes.size());
          EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), common.constants[c].bytes.begin()));
        }
      }
      for (std::size_t i = 0; i < one->outputs.size(); ++i)
        EXPECT_EQ(one->outputs[i].shape, outputs_at(*all, size)[i].shape);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Sizes, testing::ValuesIn(plans()), [](const auto& each) {
  std::string name(each.param->name);
  std::ranges::replace(name, '-', '_');
  return name;
});

// Which examples: all on scalar, and one half or the other with vectors and in emulators.
bool runs_on(std::string_view target, std::size_t example) {
  if (target == "scalar" || std::getenv("ETCH_SWEEP") != nullptr) return true;
  return example % 2 == (target == "avx2" || target == "aarch64" ? 0 : 1);
}

std::vector<std::size_t> examples_on(const std::string& target) {
  std::vector<std::size_t> numbers;
  std::vector<std::string> names;
  for (std::size_t number = 0; number < std::size(kExamples); ++number) {
    if (!runs_on(target, number)) continue;
    numbers.push_back(number);
    names.push_back(cat(target, " ", kExamples[number].symbol));
  }
  std::vector<std::size_t> out;
  for (const std::size_t i : numbers_in_part(names)) out.push_back(numbers[i]);
  return out;
}

class SizesRun : public testing::TestWithParam<const char*> {};

TEST_P(SizesRun, GiveTheBitsOfCodeForOneSize) {
  const std::string target = GetParam();
  if (find_target(target) != nullptr && machine_of(target) == nullptr && !target_runs_here(target))
    GTEST_SKIP() << "this CPU has no " << target;
  for (const std::size_t number : examples_on(target)) {
    const Example& example = kExamples[number];
    std::vector<std::vector<Tensor>> samples, expected;
    for (std::int64_t size = 1; size <= example.most; ++size) {
      const auto one = fixed(example, target, size);
      ASSERT_NE(one, nullptr);
      samples.push_back(inputs_for(*one));
      expected.push_back(native_outputs(*one, samples.back()));
    }
    cli::Reporter reporter(cli::Verbosity::kQuiet);
    const auto network =
        cli::Network::build(bounded(example, target), cli::Timing::kNone, {}, reporter);
    if (network == nullptr) GTEST_SKIP() << "nothing builds for " << target << " here";
    const auto outputs = network->run(samples, reporter);
    ASSERT_TRUE(outputs) << example.symbol;
    for (std::size_t i = 0; i < samples.size(); ++i)
      EXPECT_EQ(difference_of((*outputs)[i], expected[i]), "") << example.symbol << " = " << i + 1;
  }
}

// Targets: without vectors, two widths of them, and two emulated machines, one with assembly. The
// test above has all.
INSTANTIATE_TEST_SUITE_P(Targets, SizesRun,
                         testing::Values("scalar", "avx2", "avx512_vnni", "aarch64", "cortex-m4"),
                         name_of_target);

}  // namespace
}  // namespace etch
