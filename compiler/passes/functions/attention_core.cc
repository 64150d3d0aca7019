// See attention_core.h.
#include "compiler/passes/functions/attention_core.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/base/text.h"

namespace etch {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// 0 instead of the softmax of rows that no key is left of.
ValueId without_hidden_rows(Parts& parts, ValueId share, ValueId bias) {
  const ValueId most = parts.reduce("ReduceMax", bias, {-1});
  const ValueId hidden = parts.add("Equal", {most, parts.scalar(-kInfinity)});
  return parts.add("Where", {hidden, parts.scalar(0), share});
}

// The softmax of rows of scores that have one more column each, which is left out of the result.
ValueId softmax_with_sink(Parts& parts, const AttentionShape& s, ValueId scores, ValueId sink) {
  const ValueId column = parts.add("Expand", {parts.reshape(sink, {1, s.heads, 1, 1}),
                                              parts.ints({s.batch, s.heads, s.rows, 1})});
  const ValueId share =
      parts.add("Softmax", {parts.concat({scores, column}, 3)}, {{"axis", std::int64_t{3}}});
  return parts.slice(share, 3, 0, s.columns);
}

}  // namespace

// Each head of keys serves a group of heads of queries: their rows are those of one matrix, so that
// no copies of keys are needed.
ValueId grouped_product(Parts& parts, const AttentionShape& shape, ValueId left, ValueId right,
                        std::int64_t depth, std::int64_t width) {
  if (shape.heads == shape.key_heads) return parts.add("MatMul", {left, right});
  const std::int64_t group = shape.heads / shape.key_heads;
  const ValueId rows =
      parts.reshape(left, {shape.batch, shape.key_heads, group * shape.rows, depth});
  return parts.reshape(parts.add("MatMul", {rows, right}),
                       {shape.batch, shape.heads, shape.rows, width});
}

bool takes_softmax_precision(Parts& parts) {
  const auto given = parts.take<std::int64_t>("softmax_precision", 1);
  if (given == 1 || given == 10 || given == 11 || given == 16) return true;
  parts.fail(DiagKind::kAttr,
             cat("attribute 'softmax_precision' must be 1, 10, 11 or 16, the number of a type of "
                 "floats, got ",
                 given));
  return false;
}

ValueId attended(Parts& parts, const AttentionShape& shape, ValueId query, ValueId key,
                 ValueId value, const AttentionMask& mask, const AttentionOptions& options) {
  const auto score_output = [&](int stage, ValueId id) {
    if (options.score_output == stage) parts.give(options.score_index, id);
    return id;
  };
  const ValueId turned = parts.transpose(key, {0, 1, 3, 2});
  ValueId scores = grouped_product(parts, shape, query, turned, shape.size, shape.columns);
  scores = score_output(0, parts.add("Mul", {scores, parts.scalar(options.scale)}));
  if (options.softcap > 0) {
    const ValueId cap = parts.scalar(options.softcap);
    scores = parts.add("Mul", {parts.add("Tanh", {parts.add("Div", {scores, cap})}), cap});
  }
  score_output(1, scores);
  ValueId bias = kNoValue;
  for (const ValueId each : mask.biases)
    bias = bias == kNoValue ? each : parts.add("Add", {bias, each});
  if (bias != kNoValue) scores = parts.add("Add", {scores, bias});
  score_output(2, scores);
  ValueId share = options.sink == kNoValue
                      ? parts.add("Softmax", {scores}, {{"axis", std::int64_t{3}}})
                      : softmax_with_sink(parts, shape, scores, options.sink);
  if (mask.may_hide_rows) share = without_hidden_rows(parts, share, bias);
  score_output(3, share);
  return grouped_product(parts, shape, share, value, shape.columns, shape.value_size);
}

ValueId split_heads(Parts& parts, ValueId x, std::int64_t batch, std::int64_t length,
                    std::int64_t heads, std::int64_t size) {
  return parts.transpose(parts.reshape(x, {batch, length, heads, size}), {0, 2, 1, 3});
}

ValueId merged_heads(Parts& parts, ValueId x, const AttentionShape& shape) {
  return parts.reshape(parts.transpose(x, {0, 2, 1, 3}),
                       {shape.batch, shape.rows, shape.heads * shape.value_size});
}

ValueId bias_where(Parts& parts, ValueId seen, float hidden) {
  return parts.add("Where", {seen, parts.scalar(0), parts.scalar(hidden)});
}

ValueId window_bias(Parts& parts, const AttentionShape& shape, const AttentionWindow& window,
                    float hidden) {
  if (!window.left && !window.right) return kNoValue;
  constexpr DType kType = DType::kS64;
  ValueId rows = parts.positions(kType, window.offset, shape.rows, {shape.rows, 1});
  if (window.offsets != kNoValue) {
    const ValueId offsets = parts.reshape(window.offsets, {shape.batch, 1, 1, 1});
    rows = parts.add("Add", {rows, offsets});
  }
  const ValueId columns = parts.positions(kType, 0, shape.columns, {1, shape.columns});
  ValueId seen = kNoValue;
  const auto limit = [&](ValueId less, ValueId more) {
    const ValueId holds = parts.add("Not", {parts.add("Less", {more, less})});
    seen = seen == kNoValue ? holds : parts.add("And", {seen, holds});
  };
  const auto moved = [&](std::int64_t by) {
    return by == 0 ? rows : parts.add("Add", {rows, parts.number(kType, by)});
  };
  if (window.right) limit(columns, moved(*window.right));
  if (window.left) limit(moved(-*window.left), columns);
  return bias_where(parts, seen, hidden);
}

bool hides_rows(const AttentionShape& shape, const AttentionWindow& window) {
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const std::int64_t p = row + window.offset;
    const std::int64_t first = window.left ? std::max<std::int64_t>(p - *window.left, 0) : 0;
    const std::int64_t last =
        window.right ? std::min(p + *window.right, shape.columns - 1) : shape.columns - 1;
    if (first > last) return true;
  }
  return false;
}

float default_scale(std::int64_t size) { return 1.0F / std::sqrt(static_cast<float>(size)); }

}  // namespace etch
