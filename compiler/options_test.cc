// Options as generated folders record them.
#include "compiler/options.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

namespace etch {
namespace {

TEST(CanonicalOptions, AreTheTargetAloneByDefault) {
  EXPECT_EQ(canonical_options({}, "avx2"), " --target avx2");
}

TEST(CanonicalOptions, SayEverythingThatChangesTheCode) {
  CompileOptions options;
  options.import.dims = {{"N", 1}, {"time steps", 8}};
  options.import.input_shapes = {{"x", {1, 3, 224, 224}}};
  options.import.cuts = {"logits"};
  options.import.limits.nodes = 9000;
  options.quantize_inputs = {{"x", RangeMode::kScaled, -1, 0.5F, DType::kS8}};
  options.states = {{"h_out", "h"}};
  options.initial_states = {{"h", Tensor::of<float>({1}, {1})}};
  options.qdq = QdqMode::kFloat;
  options.float_steps = FloatSteps::kFused;
  options.requantize = RequantizeMode::kInteger;
  options.strict_integer = true;
  options.split_rows_above = -1;
  options.threads = 4;
  options.objective = Objective::kRam;
  options.arena_limit = 49152;
  options.flash_limit = 100000;
  options.unrolling.all = {Unrolling::Kind::kGroups, 4};
  options.unrolling.layers = {{"n3_conv", {Unrolling::Kind::kFull, 0}}};
  EXPECT_EQ(canonical_options(options, "cortex-m4"),
            " --target cortex-m4 --dim N=1 --dim 'time steps=8' --input-shape x=1,3,224,224 --cut "
            "logits --limit nodes=9000 --quantize-input x=SCALED,-1,0.5,qint8 --state "
            "h_out=h --initial-state h=e00e5eb9444182f3.pb --qdq float --float-products fused "
            "--requantize integer "
            "--strict-integer --split-rows 0 --threads 4 "
            "--optimize ram "
            "--arena-limit 49152 --flash-limit 100000 --unroll 4 --unroll n3_conv=full");
}

// Numbers are what the command line had; what was in a file is told apart by its hash.
TEST(CanonicalOptions, SayTheNumbersOfConstants) {
  const auto text = [](Tensor tensor) {
    CompileOptions options;
    options.import.constants.emplace("c", std::move(tensor));
    const std::string all = canonical_options(options, "");
    return all.substr(all.find("--constant ") + 11);
  };
  EXPECT_EQ(text(Tensor::of<double>({}, {16000})), "c=16000");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(text(Tensor::of<double>({4}, {0.1, -3, 1e30, -infinity})), "c=0.1,-3,1e+30,-inf");
  EXPECT_EQ(text(Tensor(DType::kF64, {65'536})).size(), 1 + 65'536 * 2);
  for (Tensor& file : std::vector<Tensor>{Tensor::of<std::int64_t>({}, {16000}),
                                          Tensor::of<double>({1, 1}, {16000}),
                                          Tensor(DType::kF64, {65'537}), Tensor(DType::kF64, {0})})
    EXPECT_TRUE(text(std::move(file)).ends_with(".pb"));
}

TEST(CanonicalOptions, NameNoPaths) {
  CompileOptions options;
  options.import.external_data = "/home/somebody/secret";
  options.tuning.entries[{"avx2", "layer"}] = {};
  EXPECT_EQ(canonical_options(options, "avx2"), " --target avx2 --external-data DIR --tuning FILE");
}

TEST(CanonicalOptions, HoldNothingThatLeavesACommentOrAString) {
  CompileOptions options;
  options.import.cuts = {"*/ \n\\ \"?\?/ 'x", "\xe2\x80\xae", ""};
  EXPECT_EQ(canonical_options(options, "avx2"),
            " --target avx2 --cut './ .. .../ .x' --cut '...' --cut ''");
}

}  // namespace
}  // namespace etch
