// Losses:
//   NegativeLogLikelihoodLoss   of each place minus x of the target's class, times its weight; 0
//   where
//                               the target is ignore_index; then all, their sum, or it over the sum
//                               of the weights
//   SoftmaxCrossEntropyLoss     the same of LogSoftmax over the classes
#include <string>

#include "compiler/ir/op_def.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

bool inputs_fit(Parts& parts) {
  if (!parts.needs(1) || !parts.has_type(0, {DType::kF32}) ||
      !parts.has_type(1, {DType::kS32, DType::kS64})) {
    return false;
  }
  const Shape x = parts.shape(0);
  Shape expected = x;
  if (x.size() >= 2) expected.erase(expected.begin() + 1);
  const bool weights_fit =
      parts.input(2) == kNoValue ||
      (parts.has_type(2, {DType::kF32}) && x.size() >= 2 && parts.shape(2) == Shape{x[1]});
  if (x.size() >= 2 && parts.shape(1) == expected && weights_fit && element_count(x) > 0)
    return true;
  parts.fail(DiagKind::kShape, cat("targets of shape ", to_string(parts.shape(1)),
                                   " and weights do not fit scores of shape ", to_string(x)));
  return false;
}

// Of the log-probabilities x of shape `shape`.
void likelihood(Parts& parts, ValueId x) {
  const auto reduction = parts.take<std::string>("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    parts.fail(DiagKind::kAttr, "reduction: must be none, sum or mean");
  const bool ignores = parts.has("ignore_index");
  const auto ignored = parts.take<std::int64_t>("ignore_index", 0);
  const Shape shape = parts.shape(0), places = parts.shape(1);
  ValueId target = parts.input(1);
  if (parts.dtype(1) != DType::kS64) target = parts.cast(target, DType::kS64);
  ValueId out = kNoValue;  // where nothing counts
  if (ignores) {
    out = parts.add("Equal", {target, parts.number(DType::kS64, ignored)});
    target = parts.add("Where", {out, parts.number(DType::kS64, 0), target});
  }
  Shape listed = shape;
  listed[1] = 1;
  const ValueId picked =
      parts.add("GatherElements", {x, parts.reshape(target, listed)}, {{"axis", std::int64_t{1}}});
  ValueId loss = parts.add("Neg", {parts.reshape(picked, places)});
  ValueId weight = kNoValue;
  if (parts.input(2) != kNoValue)
    weight = parts.add("Gather", {parts.input(2), target}, {{"axis", std::int64_t{0}}});
  if (weight != kNoValue) loss = parts.add("Mul", {loss, weight});
  if (ignores) {
    loss = parts.add("Where", {out, parts.scalar(0), loss});
    const ValueId full = weight == kNoValue ? parts.scalar(1) : weight;
    weight = parts.add("Where", {out, parts.scalar(0), full});
  }
  const Ints all = count_up(places.size());
  if (reduction == "sum") loss = parts.reduce("ReduceSum", loss, all, false);
  if (reduction == "mean" && weight == kNoValue)
    loss = parts.reduce("ReduceMean", loss, all, false);
  if (reduction == "mean" && weight != kNoValue) {
    loss = parts.add("Div", {parts.reduce("ReduceSum", loss, all, false),
                             parts.reduce("ReduceSum", weight, all, false)});
  }
  parts.give(0, loss);
}

void negative_log_likelihood(Parts& parts) {
  if (inputs_fit(parts)) likelihood(parts, parts.input(0));
}

void cross_entropy(Parts& parts) {
  if (!inputs_fit(parts)) return;
  if (parts.opset() < 13 && parts.shape(0).size() > 2) {
    parts.fail(DiagKind::kVersion, "scores of more than two axes need version 13 of ai.onnx");
    return;
  }
  const ValueId x = parts.add("LogSoftmax", {parts.input(0)}, {{"axis", std::int64_t{1}}});
  if (parts.output(1) != kNoValue) parts.give(1, x);
  likelihood(parts, x);
}

constexpr Rule kLossRules[] = {{"NegativeLogLikelihoodLoss", negative_log_likelihood, 3, 1, 12},
                               {"SoftmaxCrossEntropyLoss", cross_entropy, 3, 2, 12}};
}  // namespace

std::span<const Rule> loss_rules() { return kLossRules; }

}  // namespace etch
