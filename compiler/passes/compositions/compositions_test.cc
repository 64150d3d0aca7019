// Operators of ai.onnx that are written as others: results by the references of their parts against
// values worked out by hand or by the specification's examples, and what is refused. Those of
// images are in windows_test.cc, spectra in spectra_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/one_operator.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

Tensor boolean(Shape shape, const std::vector<std::uint8_t>& values) {
  Tensor out(DType::kBool, std::move(shape));
  std::ranges::copy(values, out.as<std::uint8_t>().begin());
  return out;
}

Tensor reduced(const std::string& op, const Tensor& x, std::int64_t axis) {
  return OneOperator(op, 13).input(x).attribute("axes", Ints{axis}).output();
}

TEST(Compositions, ReduceByNorms) {
  const Tensor x = f32({2, 2}, {3, -4, 0, 2});
  EXPECT_EQ(reduced("ReduceL1", x, 1), f32({2, 1}, {7, 2}));
  EXPECT_EQ(reduced("ReduceL2", x, 1), f32({2, 1}, {5, 2}));
  EXPECT_EQ(reduced("ReduceSumSquare", x, 0), f32({1, 2}, {9, 20}));
  EXPECT_EQ(reduced("ReduceL2", s32({2}, {-3, 4}), 0), s32({1}, {5}));
  EXPECT_EQ(reduced("ReduceLogSum", f32({2}, {0.25F, 0.75F}), 0), f32({1}, {0}));
}

TEST(Compositions, ReduceLogSumExpNeitherOverflowsNorLosesInfinity) {
  EXPECT_EQ(reduced("ReduceLogSumExp", f32({1}, {1000}), 0), f32({1}, {1000}));
  EXPECT_EQ(reduced("ReduceLogSumExp", f32({2}, {-INFINITY, 7}), 0), f32({1}, {7}));
  EXPECT_EQ(reduced("ReduceLogSumExp", f32({1}, {-INFINITY}), 0), f32({1}, {-INFINITY}));
}

TEST(Compositions, AxesAreAnInputFromOperatorSet18On) {
  OneOperator node("ReduceL1", 18);
  node.input(f32({2, 2}, {3, -4, 0, 2})).constant(s64({1}, {-2}));
  EXPECT_EQ(node.attribute("keepdims", std::int64_t{0}).output(), f32({2}, {3, 6}));
  OneOperator all("ReduceL1", 18);
  EXPECT_EQ(all.input(f32({2}, {3, -4})).output(), f32({1}, {7}));
  OneOperator none("ReduceSumSquare", 18);
  none.input(f32({2}, {3, -4})).attribute("noop_with_empty_axes", std::int64_t{1});
  EXPECT_EQ(none.output(), f32({2}, {9, 16}));
}

TEST(Compositions, TheLargestOfTruthsIsWhetherAnyHolds) {
  const Tensor x = boolean({2, 2}, {0, 1, 0, 0});
  OneOperator any("ReduceMax", 20), all("ReduceMin", 20);
  any.input(x).constant(s64({1}, {1})).attribute("keepdims", std::int64_t{0});
  EXPECT_EQ(any.output(), boolean({2}, {1, 0}));
  EXPECT_EQ(all.input(x).output(), boolean({1, 1}, {0}));
}

TEST(Compositions, NormalizeByLength) {
  OneOperator node("LpNormalization", 13);
  EXPECT_EQ(node.input(f32({2, 2}, {3, 4, 0, 0})).output(), f32({2, 2}, {0.6F, 0.8F, 0, 0}));
  OneOperator pool("GlobalLpPool", 13);
  EXPECT_EQ(pool.input(f32({1, 1, 2}, {3, 4})).output(), f32({1, 1, 1}, {5}));
}

TEST(Compositions, HardmaxMarksTheFirstOfTheLargest) {
  EXPECT_EQ(OneOperator("Hardmax", 13).input(f32({2, 3}, {1, 3, 3, 5, 2, 1})).output(),
            f32({2, 3}, {0, 1, 0, 1, 0, 0}));
  OneOperator flat("Hardmax", 11);  // one row per first axis
  EXPECT_EQ(flat.input(f32({1, 2, 2}, {1, 2, 4, 3})).output(), f32({1, 2, 2}, {0, 0, 1, 0}));
}

TEST(Compositions, FindWhatIsNoNumberOrInfinite) {
  const Tensor x = f32({4}, {NAN, INFINITY, -INFINITY, 1});
  EXPECT_EQ(OneOperator("IsNaN", 13).input(x).output(), boolean({4}, {1, 0, 0, 0}));
  EXPECT_EQ(OneOperator("IsInf", 13).input(x).output(), boolean({4}, {0, 1, 1, 0}));
  OneOperator above("IsInf", 13);
  above.input(x).attribute("detect_negative", std::int64_t{0});
  EXPECT_EQ(above.output(), boolean({4}, {0, 1, 0, 0}));
}

TEST(Compositions, ClipOfOtherIntegersFromOpset12On) {
  // The limits of relative positions, as exporters write them.
  OneOperator clip("Clip", 12);
  clip.input(s64({4}, {-9, 0, 7, std::int64_t{1} << 40})).constant(s64({}, {0}));
  clip.constant(s64({}, {15}));
  EXPECT_EQ(clip.output(), s64({4}, {0, 0, 7, 15}));
  OneOperator upper("Clip", 13);
  upper.input(s64({2}, {-9, 9})).omitted().constant(s64({1}, {3}));
  EXPECT_EQ(upper.output(), s64({2}, {-9, 3}));
  OneOperator unlimited("Clip", 13);
  EXPECT_EQ(unlimited.input(s64({2}, {-9, 9})).output(), s64({2}, {-9, 9}));
  OneOperator early("Clip", 11);
  early.input(s64({1}, {1}));
  EXPECT_TRUE(says(early, "must be float32, got int64"));
}

TEST(Compositions, ShrinkAndClipAtRunTime) {
  OneOperator shrink("Shrink", 13);
  shrink.input(f32({3}, {-2, 0.5F, 2})).attribute("lambd", 1.5F).attribute("bias", 1.5F);
  EXPECT_EQ(shrink.output(), f32({3}, {-0.5F, 0, 0.5F}));
  OneOperator clip("Clip", 13);
  clip.input(f32({3}, {-2, 0.5F, 2})).input(f32({}, {0})).input(f32({}, {1}));
  EXPECT_EQ(clip.output(), f32({3}, {0, 0.5F, 1}));
}

TEST(Compositions, BitsOfIntegers) {
  OneOperator node("BitwiseNot", 18);
  EXPECT_EQ(node.input(s8({2}, {0, -5})).output(), s8({2}, {-1, 4}));
  OneOperator shift("BitShift", 13);
  shift.input(u8({3}, {16, 4, 1})).input(u8({3}, {1, 2, 9}));
  EXPECT_EQ(shift.attribute("direction", std::string("LEFT")).output(), u8({3}, {32, 16, 0}));
}

TEST(Compositions, GatherNdTakesWhatListsOfCoordinatesName) {
  const Tensor x = counting({2, 2, 2});
  OneOperator elements("GatherND", 13);
  EXPECT_EQ(elements.input(x).input(s64({2, 3}, {0, 0, 1, -1, 1, 0})).output(), f32({2}, {1, 6}));
  OneOperator rows("GatherND", 13);
  EXPECT_EQ(rows.input(x).input(s64({1, 1}, {1})).output(), f32({1, 2, 2}, {4, 5, 6, 7}));
  OneOperator batches("GatherND", 13);
  batches.input(x).input(s64({2, 1}, {1, 0})).attribute("batch_dims", std::int64_t{1});
  EXPECT_EQ(batches.output(), f32({2, 2}, {2, 3, 4, 5}));
  OneOperator outside("GatherND", 13);  // limited to the axis
  EXPECT_EQ(outside.input(x).input(s64({1, 3}, {9, -9, 1})).output(), f32({1}, {5}));
}

TEST(Compositions, ScatterNdWritesInOrder) {
  const Tensor x = f32({4}, {1, 2, 3, 4});
  OneOperator last("ScatterND", 18);
  last.input(x).input(s64({3, 1}, {1, -1, 1})).input(f32({3}, {9, 8, 7}));
  EXPECT_EQ(last.output(), f32({4}, {1, 7, 3, 8}));
  OneOperator sums("ScatterND", 18);
  sums.input(x).input(s64({3, 1}, {1, -1, 1})).input(f32({3}, {9, 8, 7}));
  EXPECT_EQ(sums.attribute("reduction", std::string("add")).output(), f32({4}, {1, 18, 3, 12}));
  OneOperator rows("ScatterND", 18);
  rows.input(counting({2, 2})).input(s64({1, 1}, {0})).input(f32({1, 2}, {7, 8}));
  EXPECT_EQ(rows.output(), f32({2, 2}, {7, 8, 2, 3}));
}

TEST(Compositions, ScatterElementsWritesAlongAnAxis) {
  OneOperator node("ScatterElements", 18);
  node.input(counting({2, 3})).input(s64({2, 1}, {2, -3})).input(f32({2, 1}, {8, 9}));
  EXPECT_EQ(node.attribute("axis", std::int64_t{1}).output(), f32({2, 3}, {0, 1, 8, 9, 4, 5}));
  OneOperator first("ScatterElements", 18);
  first.input(counting({2, 3})).input(s64({1, 2}, {1, 0})).input(f32({1, 2}, {8, 9}));
  EXPECT_EQ(first.output(), f32({2, 3}, {0, 9, 2, 8, 4, 5}));
  OneOperator bytes("ScatterElements", 18);
  bytes.input(s8({2}, {-5, 6})).input(s64({1}, {0})).input(s8({1}, {-7}));
  EXPECT_EQ(bytes.attribute("reduction", std::string("min")).output(), s8({2}, {-7, 6}));
  OneOperator words("ScatterElements", 18);
  words.input(Tensor::of<std::int16_t>({2}, {-500, 600})).input(s64({1}, {0}));
  words.input(Tensor::of<std::int16_t>({1}, {-700}));
  EXPECT_EQ(words.output(), Tensor::of<std::int16_t>({2}, {-700, 600}));
}

TEST(Compositions, OneHotCountsFromTheEndBelowZero) {
  OneOperator node("OneHot", 13);
  node.input(s64({3}, {1, -1, 7})).constant(s64({}, {3})).input(f32({2}, {2, 5}));
  EXPECT_EQ(node.output(), f32({3, 3}, {2, 5, 2, 2, 2, 5, 2, 2, 2}));
}

// Those known at run time only are in counted_rows_test.cc.
TEST(Compositions, CompressByAConstantCondition) {
  OneOperator node("Compress", 13);
  node.input(counting({2, 3})).constant(boolean({2}, {0, 1}));
  EXPECT_EQ(node.attribute("axis", std::int64_t{1}).output(), f32({2, 1}, {1, 4}));
}

TEST(Compositions, ReverseSequenceTurnsTheBeginning) {
  OneOperator node("ReverseSequence", 13);
  node.input(counting({3, 2})).input(s64({2}, {2, 3}));
  EXPECT_EQ(node.output(), f32({3, 2}, {2, 5, 0, 3, 4, 1}));
}

TEST(Compositions, TriluKeepsATriangle) {
  OneOperator lower("Trilu", 14);
  lower.input(counting({2, 3})).attribute("upper", std::int64_t{0});
  EXPECT_EQ(lower.output(), f32({2, 3}, {0, 0, 0, 3, 4, 0}));
  OneOperator upper("Trilu", 14);  // whose diagonal is known at run time
  upper.input(counting({2, 3})).input(s64({}, {1}));
  EXPECT_EQ(upper.output(), f32({2, 3}, {0, 1, 2, 0, 0, 5}));
}

TEST(Compositions, CumulateFromEitherEnd) {
  OneOperator sum("CumSum", 14);
  EXPECT_EQ(sum.input(f32({3}, {1, 2, 4})).constant(s64({}, {0})).output(), f32({3}, {1, 3, 7}));
  OneOperator rest("CumSum", 14);
  rest.input(s32({3}, {1, 2, 4})).constant(s64({}, {-1})).attribute("exclusive", std::int64_t{1});
  EXPECT_EQ(rest.attribute("reverse", std::int64_t{1}).output(), s32({3}, {6, 4, 0}));
}

TEST(Compositions, EinsumContractsTransposesAndTakesDiagonals) {
  const Tensor a = f32({2, 2}, {1, 2, 3, 4}), b = f32({2, 2}, {5, 6, 7, 8});
  const auto einsum = [](const std::string& equation, const std::vector<Tensor>& inputs) {
    OneOperator node("Einsum", 13);
    for (const Tensor& each : inputs) node.input(each);
    return node.attribute("equation", equation).output();
  };
  EXPECT_EQ(einsum("ij,jk->ik", {a, b}), f32({2, 2}, {19, 22, 43, 50}));
  EXPECT_EQ(einsum("ij , kj -> ki", {a, b}), f32({2, 2}, {17, 39, 23, 53}));
  EXPECT_EQ(einsum("ij->ji", {a}), f32({2, 2}, {1, 3, 2, 4}));
  EXPECT_EQ(einsum("ii->i", {a}), f32({2}, {1, 4}));
  EXPECT_EQ(einsum("ij->", {a}), f32({}, {10}));
  EXPECT_EQ(einsum("i...,i...", {a, b}), f32({2}, {26, 44}));
  EXPECT_EQ(einsum("ij,i->j", {s32({2, 2}, {1, 2, 3, 4}), s32({2}, {10, 1})}), s32({2}, {13, 24}));
  EXPECT_EQ(einsum("i,j,i->j", {f32({2}, {1, 2}), f32({2}, {3, 5}), f32({2}, {1, 1})}),
            f32({2}, {9, 15}));
  // Shared by two operands, and the third one has it too.
  EXPECT_EQ(einsum("ij,ij,j->i", {a, b, f32({2}, {1, 10})}), f32({2}, {125, 341}));
}

TEST(Compositions, EinsumRefusesWhatDoesNotFit) {
  for (const char* equation : {"ij,jk->ik", "ij->ijk", "i", "ij->ii", "i.j", "..i"}) {
    OneOperator node("Einsum", 13);
    node.input(counting({2, 2})).attribute("equation", std::string(equation));
    EXPECT_NE(node.errors().find("E-ATTR"), std::string::npos) << equation;
  }
}

// Not also of the attributes that were not read any more.
TEST(Compositions, RefusalsAreOfWhatIsWrong) {
  OneOperator einsum("Einsum", 13);
  einsum.input(Tensor(DType::kF32, {2, 0})).attribute("equation", std::string("ij->ji"));
  EXPECT_EQ(einsum.errors(),
            "model: error[E-UNSUPPORTED]: node #0 (Einsum): input 0: an empty tensor cannot be "
            "compiled\n");
  OneOperator gated("SwiGLU", 28);
  gated.input(counting({2})).input(counting({3})).attribute("alpha", 2.0F);
  EXPECT_EQ(gated.errors(),
            "model: error[E-SHAPE]: node #0 (SwiGLU): shapes [2] and [3] must be equal\n");
}

TEST(Compositions, RefuseSizesThatDoNotFitIntoMemory) {
  OneOperator pool("LpPool", 18);
  pool.input(counting({1, 1, 2, 2})).attribute("kernel_shape", Ints{60000, 60000});
  pool.attribute("pads", Ints{60000, 60000, 60000, 60000});
  EXPECT_NE(pool.errors().find("E-LIMIT"), std::string::npos);
  OneOperator einsum("Einsum", 13);
  for (int i = 0; i < 4; ++i) einsum.input(counting({1 << 14}));
  einsum.attribute("equation", std::string("a,b,c,d->abcd"));
  EXPECT_NE(einsum.errors().find("E-LIMIT"), std::string::npos);
}

TEST(Compositions, LossesLeaveOutWhatIsIgnored) {
  OneOperator node("NegativeLogLikelihoodLoss", 13);
  node.input(f32({3, 2}, {-1, -2, -3, -4, -5, -6})).input(s64({3}, {1, 0, 9}));
  node.input(f32({2}, {1, 3})).attribute("ignore_index", std::int64_t{9});
  EXPECT_EQ(node.output(), f32({}, {9.0F / 4}));
}

TEST(Compositions, NormalizationsOfOnnxFunctions) {
  OneOperator mean("MeanVarianceNormalization", 13);
  mean.input(f32({1, 1, 1, 2}, {1, 3}));
  EXPECT_EQ(mean.output(), f32({1, 1, 1, 2}, {-1, 1}));
  OneOperator groups("GroupNormalization", 21);
  groups.input(f32({1, 2, 2}, {1, 3, 10, 30})).input(f32({2}, {1, 2})).input(f32({2}, {0, 1}));
  groups.attribute("num_groups", std::int64_t{2}).attribute("epsilon", 0.0F);
  EXPECT_EQ(groups.output(), f32({1, 2, 2}, {-1, 1, -1, 3}));
}

TEST(Compositions, BatchNormalizationOfStatisticsThatAreInputs) {
  // Channels of [1, 2, 2]: (x - 1) / sqrt(4) * 3 + 5 and (x - 10) / sqrt(0.25) * 1 - 2.
  OneOperator batch("BatchNormalization", 15);
  batch.input(f32({1, 2, 2}, {1, 3, 10, 11})).input(f32({2}, {3, 1})).input(f32({2}, {5, -2}));
  batch.input(f32({2}, {1, 10})).input(f32({2}, {4, 0.25F})).attribute("epsilon", 0.0F);
  EXPECT_EQ(batch.output(), f32({1, 2, 2}, {5, 8, -2, 0}));
  // One of them is enough; [N] is one channel.
  OneOperator vector("BatchNormalization", 15);
  vector.input(f32({3}, {1, 2, 3})).constant(f32({1}, {2})).constant(f32({1}, {0}));
  vector.input(f32({1}, {2})).constant(f32({1}, {3})).attribute("epsilon", 1.0F);
  EXPECT_EQ(vector.output(), f32({3}, {-1, 0, 1}));
}

// Channel 0 has mean 2 and variance 1, channel 1 mean 10 and variance 4.
TEST(Compositions, BatchNormalizationInTrainingModeNormalizesByItsOwnStatistics) {
  const Tensor x = f32({2, 2, 2}, {1, 3, 8, 12, 3, 1, 12, 8});
  OneOperator node("BatchNormalization", 15);
  node.input(x).constant(f32({2}, {3, 2})).constant(f32({2}, {5, -1}));
  node.constant(f32({2}, {4, 4})).constant(f32({2}, {8, 8})).attribute("epsilon", 0.0F);
  node.attribute("training_mode", std::int64_t{1}).attribute("momentum", 0.75F);
  const auto all = node.outputs(3);
  EXPECT_EQ(all.at(0), f32({2, 2, 2}, {2, 8, -3, 1, 8, 2, 1, -3}));
  EXPECT_EQ(all.at(1), f32({2}, {3.5F, 5.5F}));  // 4 * 0.75 + 2 * 0.25, 4 * 0.75 + 10 * 0.25
  EXPECT_EQ(all.at(2), f32({2}, {6.25F, 7}));
  OneOperator vector("BatchNormalization", 15);  // one channel
  vector.input(f32({2}, {1, 3})).constant(f32({1}, {1})).constant(f32({1}, {0}));
  vector.constant(f32({1}, {9})).constant(f32({1}, {9})).attribute("epsilon", 0.0F);
  EXPECT_EQ(vector.attribute("training_mode", std::int64_t{1}).output(), f32({2}, {-1, 1}));
}

TEST(Compositions, DeterminantsByElimination) {
  OneOperator two("Det", 22);
  EXPECT_EQ(two.input(f32({2, 2}, {0, 1, 2, 3})).output(), f32({}, {-2}));
  // Pivots from rows other than the first; a column of zeros; one element.
  OneOperator three("Det", 11);
  three.input(f32({2, 3, 3}, {0, 2, 0, 0, 0, 3, 4, 0, 0, 1, 0, 2, 2, 0, 4, 5, 0, 1}));
  const Tensor both = three.output();
  EXPECT_EQ(both.as<float>()[0], 24.0F);
  EXPECT_EQ(both.as<float>()[1], 0.0F);  // of either sign
  OneOperator one("Det", 11);
  EXPECT_EQ(one.input(f32({2, 1, 1}, {3, -4})).output(), f32({2}, {3, -4}));
  OneOperator flat("Det", 11);
  EXPECT_EQ(flat.input(f32({2, 3}, {0, 0, 0, 0, 0, 0})).errors(),
            "model: error[E-SHAPE]: node #0 (Det): X must be matrices of at most 32 equal rows and "
            "columns, got [2, 3]\n");
}

TEST(Compositions, SpaceToDepthKeepsTheBlocksOfAChannelTogether) {
  OneOperator node("SpaceToDepth", 28);
  node.input(counting({1, 2, 2, 2})).attribute("blocksize", std::int64_t{2});
  EXPECT_EQ(node.attribute("mode", std::string("CRD")).output(), counting({1, 8, 1, 1}));
  OneOperator depth("SpaceToDepth", 28);
  depth.input(counting({1, 2, 1, 2})).attribute("blocksize", std::int64_t{1});
  EXPECT_EQ(depth.attribute("mode", std::string("DCR")).output(), counting({1, 2, 1, 2}));
  OneOperator wrong("SpaceToDepth", 28);
  wrong.input(counting({1, 2, 2, 2})).attribute("blocksize", std::int64_t{2});
  EXPECT_EQ(wrong.attribute("mode", std::string("RCD")).errors(),
            "model: error[E-ATTR]: node #0 (SpaceToDepth): mode: must be DCR or CRD, got 'RCD'\n");
}

// Mels of so few hertz are nearly a straight line: 0, 2, 4 and 6 hertz, floor(9 / 16 of which) are
// the bins 0, 1, 2 and 3.
TEST(Compositions, MelWeightMatrixHasTriangles) {
  OneOperator node("MelWeightMatrix", 17);
  node.constant(s64({}, {2})).constant(s64({}, {8})).constant(s64({}, {16}));
  node.constant(f32({}, {0})).constant(f32({}, {8}));
  EXPECT_EQ(node.output(), f32({5, 2}, {0, 0, 1, 0, 0, 1, 0, 0, 0, 0}));
  OneOperator late("MelWeightMatrix", 17);
  late.input(s64({}, {2})).constant(s64({}, {8})).constant(s64({}, {16}));
  late.constant(f32({}, {0})).constant(f32({}, {8}));
  EXPECT_EQ(
      late.errors(),
      "model: error[E-UNSUPPORTED]: node #0 (MelWeightMatrix): input 0 (num_mel_bins): must be "
      "one number known at compile time; give it with --constant x0=N or x0=FILE.pb\n");
  OneOperator wide("MelWeightMatrix", 17);
  wide.constant(s64({}, {2})).constant(s64({}, {8})).constant(s64({}, {16}));
  wide.constant(f32({}, {0})).constant(f32({}, {9}));
  EXPECT_EQ(
      wide.errors(),
      "model: error[E-SHAPE]: node #0 (MelWeightMatrix): must have 1 to 1000000 bins, samples "
      "and hertz, edges from 0 to half of sample_rate in their order, and at most 4000000 "
      "elements\n");
}

// A DequantizeLinear is folded to a constant where what it reads is one.
TEST(Compositions, BatchNormalizationOfStatisticsThatAreDequantized) {
  for (const bool constant : {true, false}) {
    ModelBuilder model(15);
    model.input("x", DType::kF32, {1, 2}).initializer("s", f32({}, {0.5F}));
    for (const char* const name : {"q", "v"}) {
      if (constant) {
        model.initializer(name, s8({2}, {2, 8}));
      } else {
        model.input(name, DType::kS8, {2});
      }
    }
    model.node("DequantizeLinear", {"q", "s"}, {"a"}).node("DequantizeLinear", {"v", "s"}, {"b"});
    model.node("BatchNormalization", {"x", "a", "a", "a", "b"}, {"y"}, {{"epsilon", 0.0F}});
    Sink sink;
    const auto graph = load(model.output("y"), sink);
    ASSERT_TRUE(graph) << errors_of(sink);
    std::vector<Tensor> inputs = {f32({1, 2}, {3, 8})};
    if (!constant) inputs.insert(inputs.end(), 2, s8({2}, {2, 8}));
    // (3 - 1) / 1 * 1 + 1 and (8 - 4) / 2 * 4 + 4.
    EXPECT_EQ(evaluate(*graph, inputs).at(0), f32({1, 2}, {3, 12}));
    EXPECT_EQ(graph->nodes.back().op_type == "BatchNormalization", constant);
  }
}

TEST(Compositions, MayLeaveTheirInputAsItIs) {
  OneOperator einsum("Einsum", 13);
  einsum.input(counting({3, 2})).attribute("equation", std::string("ab->ab"));
  EXPECT_EQ(einsum.output(), counting({3, 2}));
  OneOperator crop("CenterCropPad", 18);
  EXPECT_EQ(crop.input(counting({3, 2})).constant(s64({2}, {3, 2})).output(), counting({3, 2}));
}

TEST(Compositions, TellWhichVersionHasThem) {
  OneOperator node("Trilu", 13);
  EXPECT_EQ(
      node.input(counting({2, 2})).errors(),
      "model: error[E-VERSION]: node #0 (Trilu): exists since version 14 of ai.onnx, the model "
      "imports 13\n");
}

TEST(Compositions, CoordinatesNameAtLeastOneAxis) {
  for (const char* const type : {"GatherND", "ScatterND"}) {
    OneOperator node(type, 13);
    node.input(u8({2, 3}, {1, 2, 3, 4, 5, 6})).constant(Tensor(DType::kS64, {0}));
    if (type == std::string("ScatterND")) node.input(u8({2, 3}, {1, 2, 3, 4, 5, 6}));
    EXPECT_NE(node.errors().find("E-SHAPE"), std::string::npos) << type;
  }
}

TEST(Compositions, NothingIsPickedAndNothingWritten) {
  const Tensor x = f32({2, 2}, {1, 2, 3, 4});
  OneOperator picks("GatherND", 13);
  EXPECT_EQ(picks.input(x).constant(Tensor(DType::kS64, {0, 1})).output(),
            Tensor(DType::kF32, {0, 2}));
  OneOperator writes("ScatterElements", 13);
  writes.input(x).constant(Tensor(DType::kS64, {0, 2})).input(Tensor(DType::kF32, {0, 2}));
  EXPECT_EQ(writes.output(), x);
  OneOperator triangle("Trilu", 14);
  EXPECT_EQ(triangle.input(Tensor(DType::kF32, {0, 3})).output(), Tensor(DType::kF32, {0, 3}));
}

TEST(Compositions, ConstantCoordinatesMustExist) {
  OneOperator node("GatherND", 13);
  EXPECT_EQ(node.input(counting({2})).constant(s64({1, 1}, {2})).errors(),
            "model: error[E-SHAPE]: node #0 (GatherND): input 1 (indices): must be in [-2, 1], got "
            "2\n");
}

TEST(Compositions, EyeLikeHasOnesOnOneDiagonal) {
  const Tensor like = s32({2, 3}, {9, 9, 9, 9, 9, 9});
  EXPECT_EQ(OneOperator("EyeLike", 9).input(like).output(), s32({2, 3}, {1, 0, 0, 0, 1, 0}));
  OneOperator above("EyeLike", 9);
  above.input(like).attribute("k", std::int64_t{1}).attribute("dtype", std::int64_t{1});
  EXPECT_EQ(above.output(), f32({2, 3}, {0, 1, 0, 0, 0, 1}));
  OneOperator half("EyeLike", 9);
  half.input(like).attribute("dtype", std::int64_t{10});
  const Tensor halves = half.output();
  EXPECT_EQ(halves.dtype(), DType::kF16);
  EXPECT_EQ(halves.real(0) + halves.real(4), 2);
  OneOperator row("EyeLike", 9);
  EXPECT_TRUE(says(row.input(f32({3}, {1, 2, 3})), "must have two axes, has shape [3]"));
  OneOperator text("EyeLike", 9);
  text.input(like).attribute("dtype", std::int64_t{8});
  EXPECT_TRUE(says(text, "elements of ONNX's type 8 cannot be compiled"));
}

TEST(Compositions, CastLikeTakesTheTypeOfTheOther) {
  OneOperator cast("CastLike", 15);
  cast.input(f32({2}, {1.5F, -2.5F})).input(s32({1}, {0}));
  EXPECT_EQ(cast.output(), s32({2}, {1, -2}));
}

TEST(Compositions, RefuseListsOfTheWrongLength) {
  OneOperator condition("Compress", 11);
  condition.input(f32({2}, {1, 2})).constant(boolean({3}, {1, 1, 1}));
  condition.attribute("axis", std::int64_t{0});
  EXPECT_TRUE(says(condition, "the condition has 3 elements, more than the 2 there are"));
  OneOperator lengths("ReverseSequence", 10);
  lengths.input(f32({2, 2}, {1, 2, 3, 4})).input(Tensor::of<std::int64_t>({3}, {1, 1, 1}));
  EXPECT_TRUE(says(lengths, "sequence_lens must have 2 elements"));
  OneOperator same("ReverseSequence", 10);
  same.input(f32({2, 2}, {1, 2, 3, 4})).input(Tensor::of<std::int64_t>({2}, {1, 1}));
  same.attribute("time_axis", std::int64_t{1}).attribute("batch_axis", std::int64_t{1});
  EXPECT_TRUE(says(same, "time_axis and batch_axis must be 0 and 1 or 1 and 0"));
}

TEST(Compositions, StatisticsThatAreInputsHaveOneElementPerChannel) {
  OneOperator batch("BatchNormalization", 15);
  batch.input(f32({1, 2}, {1, 3})).input(f32({2}, {3, 1})).input(f32({3}, {5, -2, 0}));
  batch.input(f32({2}, {1, 10})).input(f32({2}, {4, 0.25F}));
  EXPECT_TRUE(says(batch, "[2]"));
}

TEST(Compositions, GroupsOfChannelsAreWhole) {
  OneOperator groups("GroupNormalization", 21);
  groups.input(f32({1, 3, 1}, {1, 2, 3})).input(f32({3}, {1, 1, 1})).input(f32({3}, {0, 0, 0}));
  groups.attribute("num_groups", std::int64_t{2});
  EXPECT_TRUE(says(groups, "must be a multiple of 2 groups"));
}

}  // namespace
}  // namespace etch
