// See microsoft_attention.h.
#include "compiler/passes/functions/microsoft_attention.h"

#include <limits>

#include "compiler/base/text.h"

namespace etch {

namespace {

// int32 [batch]: keys before that position are seen; [2 batch]: those from the second half's on.
ValueId bias_of_lengths(Parts& parts, std::size_t input, const AttentionShape& s, float hidden) {
  const ValueId columns = parts.positions(DType::kS32, 0, s.columns, {1, 1, 1, s.columns});
  const auto part = [&](std::int64_t i) {
    return parts.reshape(parts.slice(parts.input(input), 0, i * s.batch, (i + 1) * s.batch),
                         {s.batch, 1, 1, 1});
  };
  ValueId seen = parts.add("Less", {columns, part(0)});
  if (parts.shape(input)[0] == 2 * s.batch && s.batch != 0)
    seen = parts.add("And", {seen, parts.add("Not", {parts.add("Less", {columns, part(1)})})});
  return bias_where(parts, seen, hidden);
}

// The mask of input i, int32: lengths, or 0 and 1 as [batch, columns] or [batch, rows, columns].
std::optional<ValueId> bias_of_mask(Parts& parts, std::size_t i, const AttentionShape& s,
                                    float hidden) {
  const ValueId id = parts.input(i);
  const Shape shape = parts.shape(i);
  const bool lengths = shape == Shape{s.batch} || shape == Shape{2 * s.batch};
  const bool columns = shape == Shape{s.batch, s.columns};
  const bool all = shape == Shape{s.batch, s.rows, s.columns};
  if (parts.dtype(i) != DType::kS32 || !(lengths || columns || all)) {
    parts.fail(DiagKind::kUnsupported,
               cat("input ", i, " (mask) must be int32 [", s.batch, "], [", 2 * s.batch, "], ",
                   to_string({s.batch, s.columns}), " or ", to_string({s.batch, s.rows, s.columns}),
                   ", is ", name_of(parts.dtype(i)), " ", to_string(shape)));
    return std::nullopt;
  }
  if (lengths) return bias_of_lengths(parts, i, s, hidden);
  const ValueId mask = parts.reshape(id, {s.batch, 1, all ? s.rows : 1, s.columns});
  const ValueId seen = parts.add("Less", {parts.number(DType::kS32, 0), mask});
  return bias_where(parts, seen, hidden);
}

}  // namespace

std::optional<MicrosoftAttention> take_common(Parts& parts) {
  MicrosoftAttention out;
  out.heads = parts.take<std::int64_t>("num_heads", 0);
  out.scale = parts.take<float>("scale", 0);
  out.hidden = parts.take<float>("mask_filter_value", -10000);
  out.causal = parts.take<std::int64_t>("unidirectional", 0) != 0;
  if (out.heads > 0) return out;
  parts.fail(DiagKind::kAttr, "attribute 'num_heads' must be > 0");
  return std::nullopt;
}

std::optional<AttentionMask> mask_of(Parts& parts, const MicrosoftAttention& common,
                                     const AttentionShape& s, std::size_t mask, std::size_t bias) {
  AttentionMask out;
  if (parts.has_input(mask)) {
    const auto id = bias_of_mask(parts, mask, s, common.hidden);
    if (!id) return std::nullopt;
    out.biases.push_back(*id);
  }
  AttentionWindow window;
  window.offset = s.columns - s.rows;
  if (common.causal) window.right = 0;
  const ValueId order = window_bias(parts, s, window, std::numeric_limits<float>::lowest());
  if (order != kNoValue) out.biases.push_back(order);
  if (!parts.has_input(bias)) return out;
  const Shape shape = parts.shape(bias);
  const bool fits = shape.size() == 4 && (shape[0] == 1 || shape[0] == s.batch) &&
                    (shape[1] == 1 || shape[1] == s.heads);
  if (!parts.expects(bias, DType::kF32,
                     {fits ? -1 : s.batch, fits ? -1 : s.heads, s.rows, s.columns}))
    return std::nullopt;
  out.biases.push_back(parts.input(bias));
  return out;
}

AttentionOptions options_of(const MicrosoftAttention& common, const AttentionShape& s) {
  AttentionOptions options;
  options.scale = common.scale == 0 ? default_scale(s.size) : common.scale;
  return options;
}

}  // namespace etch
