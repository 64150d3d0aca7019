// Normalizations that are functions of ONNX:
//   MeanVarianceNormalization  (x - mean) / (Sqrt(mean of x^2 - mean^2) + 1e-9)
//   GroupNormalization         InstanceNormalization of groups of channels, then scale and bias
//   BatchNormalization         of run-time statistics: the factor and the offset of a channel, then
//                              both of each element, as its reference rounds; in training mode
//                              the statistics of X itself, population variance, and outputs 1 and 2
//                              fl(fl(input * momentum) + fl(X's * fl(1 - momentum)))
#include <algorithm>

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

// Whether an inference computes what the operator's kernel needs as constants. A DequantizeLinear
// of constants is one, though it is folded later.
bool has_run_time_statistics(const Graph& graph, const Node& node) {
  const auto is_known = [&](ValueId id) {
    return id == kNoValue || graph.value(id).constant != nullptr;
  };
  const auto is_computed = [&](ValueId id) {
    if (is_known(id)) return false;
    const auto makes = [&](const Node& each) { return std::ranges::count(each.outputs, id) != 0; };
    const auto producer = std::ranges::find_if(graph.nodes, makes);
    return producer == graph.nodes.end() || producer->op_type != "DequantizeLinear" ||
           !std::ranges::all_of(producer->inputs, is_known);
  };
  return node.inputs.size() == 5 &&
         std::any_of(node.inputs.begin() + 1, node.inputs.end(), is_computed);
}

// Exporters write so where weights are standardized, as NFNet's are.
bool trains(const Node& node) {
  const auto found = node.attributes.find("training_mode");
  return found != node.attributes.end() && found->second != Attribute(std::int64_t{0});
}

bool lacks_known_statistics(const Graph& graph, const Node& node) {
  return (trains(node) && graph.opset("") >= 14) || has_run_time_statistics(graph, node);
}

struct Statistics {
  ValueId mean = kNoValue, variance = kNoValue;  // one element per channel
};

// Those of X, whose channels are its axis 1.
Statistics own_statistics(Parts& parts, const Shape& x, std::int64_t channels) {
  Ints axes = count_up(x.size());
  if (axes.size() > 1) axes.erase(axes.begin() + 1);
  const ValueId mean = parts.reduce("ReduceMean", parts.input(0), axes);
  const ValueId centred = parts.add("Sub", {parts.input(0), mean});
  const ValueId squares = parts.add("Mul", {centred, centred});
  const ValueId variance = parts.reduce("ReduceMean", squares, axes);
  return {parts.reshape(mean, {channels}), parts.reshape(variance, {channels})};
}

// Output i: what input i + 2 was, moved towards the statistics of X.
void give_running(Parts& parts, std::size_t i, ValueId now, float momentum) {
  if (!parts.has_output(i)) return;
  const ValueId before = parts.add("Mul", {parts.input(i + 2), parts.scalar(momentum)});
  const ValueId more = parts.add("Mul", {now, parts.scalar(1 - momentum)});
  parts.give(i, parts.add("Add", {before, more}));
}

void batch_normalization(Parts& parts) {
  const auto epsilon = parts.take<float>("epsilon", 1e-5F);
  const auto momentum = parts.take<float>("momentum", 0.9F);
  const bool training = parts.take<std::int64_t>("training_mode", 0) != 0;
  parts.only("spatial", 1);
  if (!parts.needs(0) || !parts.has_type(0, {DType::kF32})) return;
  const Shape x = parts.shape(0);
  if (x.empty()) return parts.fail(DiagKind::kShape, "X must be [N, C, ...] or [N], got []");
  const std::int64_t channels = x.size() > 1 ? x[1] : 1;
  for (std::size_t i = 1; i < 5; ++i) {
    if (!parts.expects(i, DType::kF32, {channels})) return;
  }
  for (std::size_t i = training ? 3 : 1; i < 5; ++i) {
    if (parts.has_output(i))
      return parts.fail(DiagKind::kUnsupported, "outputs besides Y belong to training");
  }
  if (training && element_count(x) == 0)
    return parts.fail(DiagKind::kShape, "X without elements has no statistics");
  Statistics statistics{parts.input(3), parts.input(4)};
  if (training) {
    statistics = own_statistics(parts, x, channels);
    give_running(parts, 1, statistics.mean, momentum);
    give_running(parts, 2, statistics.variance, momentum);
  }
  const ValueId deviation =
      parts.add("Sqrt", {parts.add("Add", {statistics.variance, parts.scalar(epsilon)})});
  const ValueId factor =
      parts.add("Mul", {parts.add("Div", {parts.scalar(1), deviation}), parts.input(1)});
  const ValueId offset =
      parts.add("Sub", {parts.input(2), parts.add("Mul", {statistics.mean, factor})});
  const Shape wide = x.size() > 1 ? along(x.size(), 1, channels) : Shape{1};
  const ValueId scaled = parts.add("Mul", {parts.input(0), parts.reshape(factor, wide)});
  parts.give(0, parts.add("Add", {scaled, parts.reshape(offset, wide)}));
}

constexpr Rule kNormalizationRules[] = {
    {"MeanVarianceNormalization", mean_variance, 1, 1, 9},
    {"GroupNormalization", group_normalization, 3, 1, 18},
    {"BatchNormalization", batch_normalization, 5, 5, 7, lacks_known_statistics}};
}  // namespace

std::span<const Rule> normalization_rules() { return kNormalizationRules; }

}  // namespace etch
