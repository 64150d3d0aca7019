// Normalization by operators of ai.onnx: LayerNormalization with its statistics, by the root of the
// mean square, after a sum (Skip...), after a sum of embeddings (Embed...). See functions.h.
#include <algorithm>
#include <numeric>
#include <optional>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/functions/functions.h"

namespace etch {

namespace {

// `axis`, counted from 0, to the last axis of input 0; empty after a report.
std::vector<std::int64_t> trailing_axes(Parts& parts) {
  const auto rank = static_cast<std::int64_t>(parts.rank(parts.input(0)));
  const auto axis = parts.take<std::int64_t>("axis", -1);
  if (axis < -rank || axis >= rank) {
    parts.fail(DiagKind::kAttr,
               cat("attribute 'axis' must be in [", -rank, ", ", rank - 1, "], got ", axis));
    return {};
  }
  std::vector<std::int64_t> axes(static_cast<std::size_t>(axis < 0 ? -axis : rank - axis));
  std::iota(axes.begin(), axes.end(), axis < 0 ? axis + rank : axis);
  return axes;
}

// sqrt(mean(x * x) + epsilon)
ValueId root_of_mean_square(Parts& parts, ValueId x, const std::vector<std::int64_t>& axes,
                            float epsilon) {
  const ValueId mean = parts.reduce("ReduceMean", parts.add("Mul", {x, x}), axes);
  return parts.add("Sqrt", {parts.add("Add", {mean, parts.scalar(epsilon)})});
}

// Sum of the first two inputs and, where it is there, of a bias; output 3 too.
ValueId sum_with_skip(Parts& parts, std::size_t bias) {
  ValueId sum = parts.add("Add", {parts.input(0), parts.input(1)});
  if (parts.has_input(bias)) sum = parts.add("Add", {sum, parts.input(bias)});
  if (parts.has_output(1) || parts.has_output(2))
    parts.fail(DiagKind::kUnsupported, "mean and deviation as outputs are not supported");
  parts.give(3, sum);
  return sum;
}

// What the embeddings of one word are made of: rows of tables, in float.
struct Tables {
  ValueId word, position, segment;
};

// The rows of a table that `indices` choose, with scale and zero point where it has them.
ValueId rows_of(Parts& parts, ValueId table, ValueId indices, ValueId scale, ValueId zero) {
  const ValueId rows = parts.gather(table, indices, 0);
  return scale == kNoValue ? rows : parts.add("DequantizeLinear", {rows, scale, zero});
}

struct EmbedInputs {
  std::size_t position_ids;   // 0: none
  std::size_t scales, zeros;  // of word, position, segment, gamma and beta; 0: all are float
};

ValueId scale_of(Parts& parts, const EmbedInputs& at, std::size_t i) {
  return at.scales == 0 ? kNoValue : parts.input(at.scales + i);
}
ValueId zero_of(Parts& parts, const EmbedInputs& at, std::size_t i) {
  return at.scales == 0 ? kNoValue : parts.input(at.zeros + i);
}

bool check_embedding(Parts& parts, const EmbedInputs& at) {
  const Shape ids{-1, -1};
  if (!parts.needs(2)) return false;
  const DType words = parts.dtype(2);  // of all tables
  const DType type = at.scales == 0 ? DType::kF32 : is_8bit(words) ? words : DType::kU8;
  bool good = parts.expects(0, DType::kS32, ids) && parts.allows(1, DType::kS32, ids);
  for (const std::size_t i : {2U, 3U}) good = good && parts.expects(i, type, {-1, -1});
  good = good && parts.allows(4, type, {-1, -1});
  for (const std::size_t i : {5U, 6U}) good = good && parts.expects(i, type, {-1});
  good = good && parts.allows(7, DType::kS32, ids);
  for (std::size_t i = 0; at.scales != 0 && good && i < 5; ++i) {
    if (i == 2 && !parts.has_input(1)) continue;
    good = parts.expects(at.scales + i, DType::kF32, {});
  }
  if (good && parts.has_input(1)) good = parts.needs(4);
  return good;
}

// Words, then positions, then segments, added in that order.
ValueId embeddings(Parts& parts, const EmbedInputs& at) {
  const std::int64_t length = parts.shape(0)[1];
  ValueId places = at.position_ids == 0 ? kNoValue : parts.input(at.position_ids);
  if (places == kNoValue) places = parts.positions(DType::kS32, 0, length, {1, length});
  const auto rows = [&](std::size_t i, ValueId ids) {
    return rows_of(parts, parts.input(2 + i), ids, scale_of(parts, at, i), zero_of(parts, at, i));
  };
  const ValueId words = rows(0, parts.input(0));
  const ValueId sum = parts.add("Add", {words, rows(1, places)});
  if (!parts.has_input(1)) return sum;
  return parts.add("Add", {sum, rows(2, parts.input(1))});
}

// How many entries of each row of the mask are 1; 0 without a mask.
ValueId mask_lengths(Parts& parts) {
  const std::int64_t batch = parts.shape(0)[0];
  if (!parts.has_input(7)) return parts.constant(Tensor(DType::kS32, {batch}));
  const ValueId is_one = parts.add("Equal", {parts.input(7), parts.number(DType::kS32, 1)});
  const ValueId count = parts.reduce("ReduceSum", parts.cast(is_one, DType::kS32), {1});
  return parts.reshape(count, {batch});
}

void write_embedding(Parts& parts, const EmbedInputs& at) {
  const auto epsilon = parts.take<float>("epsilon", 1e-12F);
  parts.only("mask_index_type", 0);
  if (!check_embedding(parts, at)) return;
  const auto vector = [&](std::size_t i) {  // gamma or beta
    const ValueId id = parts.input(2 + i);
    if (at.scales == 0) return id;
    return parts.add("DequantizeLinear", {id, scale_of(parts, at, i), zero_of(parts, at, i)});
  };
  const ValueId sum = embeddings(parts, at);
  const ValueId y =
      parts.add("LayerNormalization", {sum, vector(3), vector(4)}, {{"epsilon", epsilon}});
  parts.give(0, y);
  if (parts.has_output(1)) parts.give(1, mask_lengths(parts));
  parts.give(2, sum);
}

// Whether all axes before those of `row` have one element.
bool is_of_one_row(const Shape& factors, const Shape& row) {
  const std::size_t outer = factors.size() > row.size() ? factors.size() - row.size() : 0;
  return std::all_of(factors.begin(), factors.begin() + static_cast<std::ptrdiff_t>(outer),
                     [](std::int64_t size) { return size == 1; });
}

// Output 0 of LayerNormalization. A Scale and B that are the same for each of the normalized rows
// are repeated along them; others are applied after it, with the roundings of its own.
ValueId scaled_rows(Parts& parts, const Shape& row, const Attributes& attributes) {
  ValueId factors[] = {parts.input(1), parts.input(2)};
  bool by_rows = true;
  for (const std::size_t i : {1U, 2U}) {
    if (parts.has_input(i)) by_rows = by_rows && is_of_one_row(parts.shape(i), row);
  }
  const std::size_t count = as_index(element_count(row));
  for (const std::size_t i : {1U, 2U}) {
    if (!by_rows || !parts.has_input(i) || parts.shape(i) == row) continue;
    Shape last = parts.shape(i);
    if (last.size() > row.size()) last.erase(last.begin(), last.end() - rank_of(row));
    const ValueId narrow =
        last == parts.shape(i) ? parts.input(i) : parts.reshape(parts.input(i), last);
    factors[i - 1] = last == row ? narrow : parts.add("Expand", {narrow, parts.ints(row)});
  }
  const auto normalize = [&](ValueId scale, ValueId bias) {
    return parts.add("LayerNormalization", {parts.input(0), scale, bias}, attributes);
  };
  if (by_rows) return normalize(factors[0], factors[1]);
  const ValueId ones = parts.constant(Tensor::of<float>(row, std::vector<float>(count, 1)));
  const ValueId y = parts.add("Mul", {normalize(ones, kNoValue), factors[0]});
  return parts.has_input(2) ? parts.add("Add", {y, factors[1]}) : y;
}

}  // namespace

// A Scale or B of another shape than the normalized axes broadcasts to X, as in ONNX Runtime.
bool has_broadcast_factors(const Graph& graph, const Node& node) {
  // After a node that is refused shapes are not known.
  const auto shape_of = [&](std::size_t i) -> const std::optional<Shape>& {
    static const std::optional<Shape> omitted;
    const bool is_there = i < node.inputs.size() && node.inputs[i] != kNoValue;
    return is_there ? graph.value(node.inputs[i]).shape : omitted;
  };
  const std::optional<Shape>& x = shape_of(0);
  if (!x) return false;
  const std::size_t axis = from_start(int_attribute(node, "axis", -1), x->size());
  if (axis >= x->size()) return false;
  const Shape row(x->begin() + static_cast<std::ptrdiff_t>(axis), x->end());
  bool other = false;
  for (const std::size_t i : {1U, 2U}) {
    const std::optional<Shape>& factors = shape_of(i);
    if (!factors) continue;
    if (broadcast_shape(*factors, *x) != *x) return false;  // the kernel reports it
    other = other || *factors != row;
  }
  return other;
}

void write_layer_normalization(Parts& parts) {
  if (!parts.needs(1)) return;
  const auto epsilon = parts.take<float>("epsilon", 1e-5F);
  parts.only("stash_type", 1);
  const ValueId x = parts.input(0);
  const Shape shape = parts.shape(0);
  if (!parts.expects(0, DType::kF32, Shape(shape.size(), -1))) return;
  const std::vector<std::int64_t> axes = trailing_axes(parts);
  if (axes.empty()) return;
  parts.give(0, scaled_rows(parts, Shape(shape.begin() + axes.front(), shape.end()),
                            {{"epsilon", epsilon}, {"axis", axes.front()}}));
  if (!parts.has_output(1) && !parts.has_output(2)) return;
  const ValueId mean = parts.reduce("ReduceMean", x, axes);
  const ValueId distance = parts.add("Sub", {x, mean});
  parts.give(1, mean);
  parts.give(2, parts.add("Reciprocal", {root_of_mean_square(parts, distance, axes, epsilon)}));
}

void write_rms_normalization(Parts& parts) {
  const auto epsilon = parts.take<float>("epsilon", 1e-5F);
  parts.only("stash_type", 1);
  const ValueId x = parts.input(0);
  if (!parts.expects(0, DType::kF32, Shape(parts.rank(x), -1)) || !parts.needs(1)) return;
  const std::vector<std::int64_t> axes = trailing_axes(parts);
  if (axes.empty()) return;
  const ValueId root = root_of_mean_square(parts, x, axes, epsilon);
  parts.give(0, parts.add("Mul", {parts.add("Div", {x, root}), parts.input(1)}));
  if (parts.has_output(1)) parts.give(1, parts.add("Reciprocal", {root}));
}

void write_skip_layer_normalization(Parts& parts) {
  if (!parts.needs(1) || !parts.needs(2)) return;
  const auto epsilon = parts.take<float>("epsilon", 1e-12F);
  const ValueId sum = sum_with_skip(parts, 4);
  parts.give(0, parts.add("LayerNormalization", {sum, parts.input(2), parts.input(3)},
                          {{"epsilon", epsilon}}));
}

void write_skip_simplified_normalization(Parts& parts) {
  if (!parts.needs(1) || !parts.needs(2)) return;
  const auto epsilon = parts.take<float>("epsilon", 1e-12F);
  const ValueId sum = sum_with_skip(parts, 3);
  const auto last = static_cast<std::int64_t>(parts.rank(parts.input(0))) - 1;
  const ValueId root = root_of_mean_square(parts, sum, {last}, epsilon);
  parts.give(0, parts.add("Mul", {parts.add("Div", {sum, root}), parts.input(2)}));
}

void write_embed_layer_normalization(Parts& parts) {
  write_embedding(parts, {.position_ids = 8, .scales = 0, .zeros = 0});
}

void write_quantized_embed_normalization(Parts& parts) {
  write_embedding(parts, {.position_ids = 0, .scales = 8, .zeros = 13});
}

}  // namespace etch
