// Convolutions that are split into bands of rows compute the same bytes as whole ones, and bands
// of one convolution share their code.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/emit/emit.h"
#include "templates/isa/traits.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/conv_node.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

// Two or three convolutions, dense, pointwise and depthwise, one after the other.
class ChainModel {
 public:
  explicit ChainModel(int index) : dice_(static_cast<std::uint64_t>(index) + 7000) {
    value_ = {any_8bit(dice_), 0.02F, 0};
    value_.zero_point = any_zero_point(dice_, value_.type);
    shape_ = {1, dice_.between(1, 20), dice_.between(4, 18), dice_.between(1, 9)};
    model_.input("v0", value_.type, {shape_.begin(), shape_.end()});
    inputs_.push_back(random_bytes(dice_, value_.type, shape_));
    name_ = cat("chain_", index);
  }

  Case make() {
    const int convolutions = static_cast<int>(dice_.between(2, 3));
    for (int i = 0; i < convolutions; ++i) append(i);
    model_.output(cat("v", convolutions));
    return {name_, model_.bytes(), std::move(inputs_)};
  }

 private:
  void append(int i) {
    ConvShape shape;
    const bool depthwise = dice_.one_in(3);
    shape.group = depthwise ? shape_[1] : 1;
    shape.in_per_group = shape_[1] / shape.group;
    shape.out_per_group = depthwise ? 1 : dice_.pick<std::int64_t>({1, 3, 8, 16, 24, 33, 64});
    for (std::size_t axis = 2; axis < 4; ++axis) {
      const std::int64_t kernel = dice_.pick<std::int64_t>({1, 2, 3, 3, 5});
      const std::int64_t dilation = dice_.one_in(5) ? 2 : 1;
      const std::int64_t span = (kernel - 1) * dilation;
      shape.in.push_back(shape_[axis]);
      shape.kernel.push_back(kernel);
      shape.stride.push_back(dice_.between(1, 2));
      shape.dilation.push_back(dilation);
      shape.pad_begin.push_back(dice_.between(span / 2, span));
      shape.pad_end.push_back(dice_.between(span - span / 2, span));
      shape_[axis] = (shape_[axis] + shape.pad_begin.back() + shape.pad_end.back() - span - 1) /
                         shape.stride.back() +
                     1;
    }
    shape_[1] = shape.group * shape.out_per_group;
    const ConvNode node(shape, value_, Scaling::kTypical, dice_);
    node.add(model_, cat("v", i), cat("v", i + 1), cat("p", i, "_"));
    name_ += cat("_", node.describe());
    value_ = node.y();
  }

  Dice dice_;
  ModelBuilder model_{13};
  QuantizedActivation value_;
  Shape shape_;
  std::vector<Tensor> inputs_;
  std::string name_;
};

std::unique_ptr<Program> split(const Case& each, std::string_view target, std::int64_t above) {
  Sink sink;
  CompileOptions options;
  options.target = std::string(target);
  options.split_rows_above = above;
  std::unique_ptr<Program> program = compile(each.model, options, sink);
  if (program == nullptr) ADD_FAILURE() << each.name << " is refused";
  return program;
}

std::vector<Case> chains(int count) {
  std::vector<Case> cases;
  cases.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) cases.push_back(ChainModel(i).make());
  return cases;
}

struct Split {
  Split(std::vector<Case> all, std::string_view target) : cases(std::move(all)) {
    const std::int64_t limits[] = {60, 200, 600};
    for (std::size_t i = 0; i < cases.size(); ++i) {
      programs.push_back(split(cases[i], target, limits[i % 3]));
      if (programs.back() == nullptr) continue;
      entries.push_back({programs.back().get(), &cases[i].inputs});
      const auto& steps = programs.back()->steps;
      sharing += std::count_if(steps.begin(), steps.end(),
                               [](const auto& step) { return step->shares_code(); });
    }
  }

  const std::vector<Case> cases;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  std::ptrdiff_t sharing = 0;
};

class SplitRowsOn : public ::testing::TestWithParam<const char*> {};

TEST_P(SplitRowsOn, NativelyComputesWhatTheReferencesDo) {
  const Split all(chains(120), GetParam());
  EXPECT_GT(all.sharing, 20);
  for (std::size_t i = 0; i < all.entries.size(); ++i) {
    const Case& each = all.cases[i];
    EXPECT_EQ(difference_of(native_outputs(*all.programs[i], each.inputs), reference_outputs(each)),
              "")
        << each.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, SplitRowsOn,
                         ::testing::ValuesIn(all_targets_but({{"sse41", "the kernels of avx2"},
                                                              {"avx_vnni",
                                                               "those of avx512_vnni"}})),
                         name_of_target);

TEST(SplitRows, CompiledComputesWhatTheReferencesDo) {
  const IsaTraits& isa = *find_target("native");
  const Split all(chains(12), isa.name);
  EXPECT_GT(all.sharing, 0);
  const auto outputs = run_generated(all.entries, isa);
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < all.cases.size(); ++i) {
    EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(all.cases[i])), "")
        << all.cases[i].name;
  }
}

// 1 -> 64 -> 64 channels on 32x32 pixels: 64 kB are between the two.
Case pair_of_layers() {
  ModelBuilder model(13);
  Dice dice(1);
  model.input("x", DType::kU8, {1, 1, 32, 32});
  QuantizedActivation value{DType::kU8, 0.02F, 3};
  ConvShape first;
  first.in_per_group = 1, first.out_per_group = 64;
  first.in = {32, 32}, first.kernel = {1, 1}, first.stride = {1, 1}, first.dilation = {1, 1};
  first.pad_begin = {0, 0}, first.pad_end = {0, 0};
  const ConvNode expand(first, value, Scaling::kTypical, dice);
  expand.add(model, "x", "t", "a_");
  ConvShape second = first;
  second.group = 64, second.out_per_group = 1;
  second.kernel = {3, 3}, second.pad_begin = {1, 1}, second.pad_end = {1, 1};
  const ConvNode depthwise(second, expand.y(), Scaling::kTypical, dice);
  depthwise.add(model, "t", "y", "b_");
  model.output("y");
  return {"pair", model.bytes(), {random_bytes(dice, DType::kU8, {1, 1, 32, 32})}};
}

TEST(SplitRows, KeepsLessAlive) {
  const Case pair = pair_of_layers();
  const auto whole = split(pair, "scalar", -1), bands = split(pair, "scalar", 16 << 10);
  ASSERT_TRUE(whole != nullptr && bands != nullptr);
  EXPECT_GT(whole->most_live_bytes, 130'000);
  EXPECT_LT(bands->most_live_bytes, 90'000);
}

TEST(SplitRows, EqualBandsHaveOneFunction) {
  const auto bands = split(pair_of_layers(), "avx512_vnni", 16 << 10);
  ASSERT_NE(bands, nullptr);
  std::set<std::string> functions;
  int calls = 0;
  for (const auto& step : bands->steps) {
    if (step->node != 1 || step->macs == 0) continue;
    ++calls;
    functions.insert(step->called());
  }
  EXPECT_EQ(calls, 8);
  EXPECT_LE(functions.size(), 3U) << "the first, the last and the others";
}

}  // namespace
}  // namespace etch
