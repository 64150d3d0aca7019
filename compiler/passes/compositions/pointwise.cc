// Functions of one element:
//   CastLike    Cast to the type of input 1
//   BitCast     between int8 and uint8 a Cast, which keeps all bits, too
//   IsNaN       x is not equal to itself
//   IsInf       x, or where both signs count its magnitude, is equal to infinity
//   Shrink      x < -lambd ? x + bias : x > lambd ? x - bias : 0
//   Swish       x Sigmoid(alpha x)
//   SwiGLU      Swish of input 0, times input 1 of the same shape
//   BitwiseNot  BitwiseXor with all ones
//   Clip        of integers of other types than its kernel takes, or with limits that are known at
//               run time only: Max with the lower, Min with the upper
#include <algorithm>
#include <cstddef>
#include <limits>

#include "compiler/ir/onnx_types.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

void cast_like(Parts& parts) {
  if (!parts.needs(1)) return;
  Attributes attributes = parts.take_all();
  attributes["to"] = std::int64_t{onnx_number_of(parts.dtype(1))};
  parts.add("Cast", {parts.input(0)}, std::move(attributes));
}

void is_nan(Parts& parts) {
  if (!parts.has_type(0, {DType::kF32})) return;
  parts.add("Not", {parts.add("Equal", {parts.input(0), parts.input(0)})});
}

void is_inf(Parts& parts) {
  if (!parts.has_type(0, {DType::kF32})) return;
  const bool negative = parts.take<std::int64_t>("detect_negative", 1) != 0;
  const bool positive = parts.take<std::int64_t>("detect_positive", 1) != 0;
  ValueId x = parts.input(0);
  if (negative == positive) x = parts.add("Abs", {x});
  const float infinity = std::numeric_limits<float>::infinity();
  // No magnitude is negative: that finds nothing.
  parts.add("Equal", {x, parts.scalar(positive ? infinity : -infinity)});
}

void shrink(Parts& parts) {
  if (!parts.has_type(0, {DType::kF32})) return;
  const auto bias = parts.take<float>("bias", 0.0F);
  const auto limit = parts.take<float>("lambd", 0.5F);
  const ValueId x = parts.input(0);
  const ValueId above = parts.add("Greater", {x, parts.scalar(limit)});
  const ValueId lowered = parts.add("Sub", {x, parts.scalar(bias)});
  const ValueId middle = parts.add("Where", {above, lowered, parts.scalar(0)});
  const ValueId below = parts.add("Less", {x, parts.scalar(-limit)});
  parts.add("Where", {below, parts.add("Add", {x, parts.scalar(bias)}), middle});
}

void swish(Parts& parts) {
  const auto alpha = parts.take<float>("alpha", 1.0F);
  parts.add("QuickGelu", {parts.input(0)}, {{"alpha", alpha}}, "com.microsoft");
}

void swiglu(Parts& parts) {
  if (!parts.needs(1)) return;
  if (parts.shape(0) != parts.shape(1)) {
    return parts.fail(DiagKind::kShape, cat("shapes ", to_string(parts.shape(0)), " and ",
                                            to_string(parts.shape(1)), " must be equal"));
  }
  const ValueId gate = parts.add("Swish", {parts.input(0)}, parts.take_all());
  parts.add("Mul", {gate, parts.input(1)});
}

void bitwise_not(Parts& parts) {
  if (!parts.has_type(
          0, {DType::kS32, DType::kS64, DType::kU8, DType::kS8, DType::kU16, DType::kS16})) {
    return;
  }
  Tensor ones(parts.dtype(0), {});
  std::ranges::fill(ones.mutable_bytes(), std::byte{0xff});
  parts.add("BitwiseXor", {parts.input(0), parts.constant(std::move(ones))});
}

// Whether a Clip is none for its kernel (ops/clip).
bool is_clip_of_others(const Graph& graph, const Node& node) {
  constexpr DType kOthers[] = {DType::kS64, DType::kU64, DType::kU32};
  const bool has_x = !node.inputs.empty() && node.inputs[0] != kNoValue;
  if (has_x && graph.opset("") >= 12 &&
      std::ranges::find(kOthers, graph.value(node.inputs[0]).dtype) != std::end(kOthers)) {
    return true;
  }
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != kNoValue && graph.value(node.inputs[i]).constant == nullptr) return true;
  }
  return false;
}

void clip(Parts& parts) {
  ValueId y = parts.input(0);
  for (std::size_t i = 1; i < 3; ++i) {
    if (parts.input(i) == kNoValue) continue;
    if (element_count(parts.shape(i)) != 1) {
      parts.fail(DiagKind::kShape, cat("input ", i, ": must have one element"));
      return;
    }
    ValueId limit = parts.input(i);
    if (!parts.shape(i).empty()) limit = parts.reshape(limit, {});
    y = parts.add(i == 1 ? "Max" : "Min", {y, limit});
  }
  if (y == parts.input(0)) parts.add("Identity", {y});  // no limits at all
}

bool is_of_bytes(const Graph& graph, const Node& node) {
  const auto from = first_type(graph, node);
  const auto to = dtype_from_onnx(int_attribute(node, "to", 0));
  return from && to && is_8bit(*from) && is_8bit(*to);
}

// int8 may be kept with its highest bit the other way round (View::flipped), so that another type
// of the view is not enough.
void bit_cast(Parts& parts) {
  parts.cast(parts.input(0), *dtype_from_onnx(parts.take<std::int64_t>("to", 0)));
}

constexpr Rule kPointwiseRules[] = {{"CastLike", cast_like, 2, 1, 15},
                                    {"BitCast", bit_cast, 1, 1, 26, is_of_bytes},
                                    {"IsNaN", is_nan, 1, 1, 9},
                                    {"IsInf", is_inf, 1, 1, 10},
                                    {"Shrink", shrink, 1, 1, 9},
                                    {"Swish", swish, 1, 1, 24},
                                    {"SwiGLU", swiglu, 2, 1, 28},
                                    {"BitwiseNot", bitwise_not, 1, 1, 18},
                                    {"Clip", clip, 3, 1, 11, is_clip_of_others}};
}  // namespace

std::span<const Rule> pointwise_rules() { return kPointwiseRules; }

}  // namespace etch
