// Normalizations that are functions of ONNX:
//   MeanVarianceNormalization  (x - mean) / (Sqrt(mean of x^2 - mean^2) + 1e-9)
//   GroupNormalization         InstanceNormalization of groups of channels, then scale and bias
#include "compiler/ir/op_def.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

void mean_variance(Parts& parts) {
  if (!parts.has_type(0, {DType::kF32})) return;
  const auto rank = static_cast<std::int64_t>(parts.shape(0).size());
  Ints axes = parts.take<Ints>("axes", {0, 2, 3});
  for (std::int64_t& axis : axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) {
      parts.fail(DiagKind::kAttr, cat("axes: each must be in [", -rank, ", ", rank - 1, "]"));
      return;
    }
  }
  const ValueId x = parts.input(0);
  const ValueId mean = parts.reduce("ReduceMean", x, axes);
  const ValueId squares = parts.reduce("ReduceMean", parts.add("Mul", {x, x}), axes);
  const ValueId variance = parts.add("Sub", {squares, parts.add("Mul", {mean, mean})});
  const ValueId deviation = parts.add("Add", {parts.add("Sqrt", {variance}), parts.scalar(1e-9F)});
  parts.add("Div", {parts.add("Sub", {x, mean}), deviation});
}

// `x` of one element per channel or group as [1, n, 1 ...].
ValueId per_channel(Parts& parts, std::size_t input, std::size_t rank) {
  return parts.reshape(parts.input(input), along(rank, 1, parts.shape(input)[0]));
}

void group_normalization(Parts& parts) {
  if (!parts.needs(1) || !parts.needs(2) || !parts.has_type(0, {DType::kF32})) return;
  const auto epsilon = parts.take<float>("epsilon", 1e-5F);
  const auto groups = parts.take<std::int64_t>("num_groups", 0);
  if (parts.take<std::int64_t>("stash_type", 1) != 1)
    parts.fail(DiagKind::kAttr, "stash_type: must be 1");
  const Shape& shape = parts.shape(0);
  const bool has_channels = shape.size() >= 3 && element_count(shape) > 0;
  if (!has_channels || groups < 1 || shape[1] % groups != 0) {
    parts.fail(DiagKind::kShape, cat("the channels of ", to_string(shape),
                                     " must be a multiple of ", groups, " groups"));
    return;
  }
  const std::int64_t factors = parts.opset() < 21 ? groups : shape[1];
  if (parts.shape(1) != Shape{factors} || parts.shape(2) != Shape{factors}) {
    parts.fail(DiagKind::kShape, cat("scale and bias must have ", factors, " elements"));
    return;
  }
  const auto count = static_cast<std::size_t>(groups);
  const ValueId one = parts.constant(Tensor::of<float>({groups}, std::vector<float>(count, 1)));
  const ValueId zero = parts.constant(Tensor::of<float>({groups}, std::vector<float>(count, 0)));
  const ValueId grouped =
      parts.reshape(parts.input(0), {shape[0], groups, element_count(shape) / shape[0] / groups});
  ValueId y = parts.add("InstanceNormalization", {grouped, one, zero}, {{"epsilon", epsilon}});
  if (factors == shape[1]) y = parts.reshape(y, shape);
  const std::size_t rank = factors == shape[1] ? shape.size() : 3;
  y = parts.add("Add",
                {parts.add("Mul", {y, per_channel(parts, 1, rank)}), per_channel(parts, 2, rank)});
  if (factors != shape[1]) y = parts.reshape(y, shape);
  parts.give(0, y);
}

constexpr Rule kNormalizationRules[] = {{"MeanVarianceNormalization", mean_variance, 1, 1, 9},
                                        {"GroupNormalization", group_normalization, 3, 1, 18}};
}  // namespace

std::span<const Rule> normalization_rules() { return kNormalizationRules; }

}  // namespace etch
