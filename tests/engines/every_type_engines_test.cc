// Every operator that takes tensors of several types, with each of ONNX's types of numbers: it is
// refused with a diagnostic, or its steps on a third of the instruction sets' plans (all with
// ETCH_SWEEP) give what its reference gives.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/text.h"
#include "tests/support/agreement.h"
#include "tests/support/dealt.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {

using Attributes = std::map<std::string, Attribute>;

struct TypedInput {
  Shape shape;
  std::vector<std::int64_t> constant = {};  // int64 values; empty: of the type that is tried
  bool is_truth = false;
};

struct TypedOperator {
  const char* op = "";
  std::vector<TypedInput> inputs;
  Attributes attributes = {};
  int outputs = 1;
};

const TypedInput kRows{{3, 21}};

std::vector<TypedOperator> with_one_input() {
  std::vector<TypedOperator> out;
  for (const char* const op :
       {"Abs", "Neg", "Sign", "Relu", "Ceil", "Floor", "Round", "Sqrt", "Not", "BitwiseNot",
        "Trilu", "Transpose", "Flatten", "Identity", "Softmax", "IsNaN", "IsInf", "LeakyRelu"})
    out.push_back({op, {kRows}});
  for (const char* const op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd",
                               "ReduceL1", "ReduceL2", "ReduceSumSquare"})
    out.push_back({op, {kRows, {{1}, {1}}}, {{"keepdims", std::int64_t{0}}}});
  for (const char* const op : {"ArgMax", "ArgMin"})
    out.push_back({op, {kRows}, {{"axis", std::int64_t{1}}}});
  for (const char* const op : {"MaxPool", "AveragePool"})
    out.push_back({op, {{{1, 5, 6, 7}}}, {{"kernel_shape", Ints{2, 3}}}});
  for (const char* const op : {"GlobalMaxPool", "GlobalAveragePool"})
    out.push_back({op, {{{1, 5, 6, 7}}}});
  for (const char* const op : {"DepthToSpace", "SpaceToDepth"})
    out.push_back({op, {{{1, 8, 4, 2}}}, {{"blocksize", std::int64_t{2}}}});
  return out;
}

std::vector<TypedOperator> with_two_inputs() {
  std::vector<TypedOperator> out;
  for (const char* const op :
       {"Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "Pow", "Equal", "Less", "Greater",
        "LessOrEqual", "And", "Xor", "BitwiseAnd", "BitwiseOr", "PRelu", "Mean", "Sum"}) {
    out.push_back({op, {kRows, kRows}});
    out.push_back({op, {kRows, {{}}}});
    out.push_back({op, {{{3, 1}}, {{21}}}});
  }
  out.push_back({"BitShift", {kRows, kRows}, {{"direction", std::string("LEFT")}}});
  out.push_back({"MatMul", {kRows, {{21, 5}}}});
  out.push_back({"Gemm", {kRows, {{21, 5}}}});
  return out;
}

std::vector<TypedOperator> that_choose_and_move() {
  const TypedInput truths{{3, 21}, {}, true}, truth_per_row{{3, 1}, {}, true};
  const std::int64_t first = 1;
  return {
      {"Where", {truths, kRows, kRows}},
      {"Where", {truth_per_row, kRows, {{}}}},
      {"Clip", {kRows, {{}}, {{}}}},
      {"Concat", {kRows, {{3, 2}}}, {{"axis", first}}},
      {"Gather", {kRows, {{4}, {20, 0, 3, 3}}}, {{"axis", first}}},
      {"GatherND", {kRows, {{2, 2}, {0, 20, 2, 1}}}},
      {"ScatterND", {kRows, {{2, 2}, {0, 20, 2, 1}}, {{2}}}},
      {"ScatterND", {kRows, {{2, 2}, {0, 20, 2, 1}}, {{2}}}, {{"reduction", std::string("add")}}},
      {"ScatterElements", {kRows, {{1, 2}, {5, 7}}, {{1, 2}}}, {{"axis", first}}},
      {"GatherElements", {kRows, {{1, 2}, {5, 7}}}, {{"axis", first}}},
      {"TopK", {kRows, {{1}, {4}}}, {{"axis", first}}, 2},
      {"Reshape", {kRows, {{2}, {21, 3}}}},
      {"Expand", {{{3, 1}}, {{2}, {3, 21}}}},
      {"Tile", {kRows, {{2}, {2, 1}}}},
      {"Slice", {kRows, {{1}, {20}}, {{1}, {-100}}, {{1}, {1}}, {{1}, {-3}}}},
      {"Pad", {kRows, {{4}, {0, 1, 0, 2}}}},
      {"Pad", {kRows, {{4}, {0, 1, 0, 2}}}, {{"mode", std::string("reflect")}}},
      {"CumSum", {kRows, {{1}, {1}}}},
      {"Split", {kRows, {{2}, {20, 1}}}, {{"axis", first}}, 2},
      {"ReverseSequence", {kRows, {{21}, std::vector<std::int64_t>(21, 2)}}}};
}

std::vector<TypedOperator> casts() {
  std::vector<TypedOperator> out;
  for (std::int64_t to = 1; to <= 16; ++to) {
    if (to != 8 && to != 14 && to != 15)  // strings and complex numbers
      for (const char* const op : {"Cast", "BitCast"}) out.push_back({op, {kRows}, {{"to", to}}});
  }
  return out;
}

// Small numbers of either sign, some at the ends of an integer's range.
Tensor typed_numbers(Dice& dice, DType type, const Shape& shape) {
  Tensor out(type, shape);
  if (type == DType::kF32) {
    for (float& each : out.as<float>()) each = static_cast<float>(dice.between(-9, 9)) * 0.5F;
    return out;
  }
  const std::size_t bytes = static_cast<std::size_t>(bytes_of(type));
  for (std::size_t i = 0; i < out.mutable_bytes().size(); ++i) {
    const bool is_end = dice.one_in(7) && i % bytes + 1 == bytes;
    const auto small = i % bytes == 0 ? dice.between(0, 9) : 0;
    out.mutable_bytes()[i] = static_cast<std::byte>(is_end ? dice.between(0x3c, 0x7f) : small);
  }
  return out;
}

Case typed_case(const TypedOperator& of, DType type) {
  Dice dice(static_cast<std::uint64_t>(type) + 1);
  ModelBuilder model(std::string_view(of.op) == "BitCast" ? 26 : 20);
  std::vector<std::string> names, outputs;
  Case out;
  for (const TypedInput& each : of.inputs) {
    names.push_back(cat("x", names.size()));
    if (!each.constant.empty()) {
      model.initializer(names.back(), Tensor::of<std::int64_t>(each.shape, each.constant));
      continue;
    }
    const DType own = each.is_truth ? DType::kBool : type;
    model.input(names.back(), own, declared_dims(each.shape));
    out.inputs.push_back(own == DType::kBool ? random_bytes(dice, own, each.shape, 0, 1)
                                             : typed_numbers(dice, own, each.shape));
  }
  for (int i = 0; i < of.outputs; ++i) outputs.push_back(cat("y", i));
  model.node(of.op, names, outputs, of.attributes);
  for (const std::string& name : outputs) model.output(name);
  out.name = cat(of.op, "_", name_of(type), "_", of.inputs.size());
  out.model = model.bytes();
  return out;
}

constexpr DType kTypes[] = {DType::kBool, DType::kS8,  DType::kU8,   DType::kS16,
                            DType::kU16,  DType::kS32, DType::kU32,  DType::kS64,
                            DType::kU64,  DType::kF16, DType::kBF16, DType::kF32};

// Those that are not refused.
std::vector<Case> accepted(const std::vector<TypedOperator>& operators) {
  std::vector<Case> out;
  for (const TypedOperator& of : operators) {
    for (const DType type : kTypes) {
      Case each = typed_case(of, type);
      Sink sink;
      CompileOptions options;
      options.target = "scalar";
      const auto program = compile(each.model, options, sink);
      EXPECT_EQ(program == nullptr, sink.error_count() > 0) << each.name;
      if (program != nullptr) out.push_back(std::move(each));
    }
  }
  return out;
}

TEST(EveryType, WithOneInput) { expect_native_agrees(accepted(with_one_input())); }
TEST(EveryType, WithTwoInputs) { expect_native_agrees(accepted(with_two_inputs())); }
TEST(EveryType, InChoicesAndMoves) { expect_native_agrees(accepted(that_choose_and_move())); }
TEST(EveryType, InCasts) { expect_native_agrees(accepted(casts())); }

// A type that an operator has is not lost unseen.
TEST(EveryType, IsAcceptedByNoFewerOperatorsThanBefore) {
  EXPECT_GE(accepted(with_one_input()).size(), 213U);
  EXPECT_GE(accepted(with_two_inputs()).size(), 473U);
  EXPECT_GE(accepted(that_choose_and_move()).size(), 225U);
  EXPECT_GE(accepted(casts()).size(), 174U);
}

}  // namespace
}  // namespace etch
