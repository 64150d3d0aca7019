// Attention, QAttention and MultiHeadAttention of com.microsoft: queries, keys and values of one
// product or of several.
#include <optional>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/passes/functions/functions.h"
#include "compiler/passes/functions/microsoft_attention.h"

namespace etch {

namespace {

// x [batch, rows, queries + keys + values] with bias to the result [batch, rows, values]. `past`
// and `present`, output 1, are [2, batch, heads, columns, size]: keys, then values.
void attend_packed(Parts& parts, const MicrosoftAttention& common, ValueId x,
                   const AttentionShape& s, const AttentionMask& mask, ValueId past) {
  const std::int64_t widths[] = {s.heads * s.size, s.heads * s.size, s.heads * s.value_size};
  ValueId heads[3];
  std::int64_t begin = 0;
  for (int i = 0; i < 3; ++i) {
    const ValueId part = parts.slice(x, 2, begin, begin + widths[i]);
    heads[i] = split_heads(parts, part, s.batch, s.rows, s.heads, i < 2 ? s.size : s.value_size);
    begin += widths[i];
    if (past == kNoValue || i == 0) continue;
    const ValueId old = parts.reshape(parts.slice(past, 0, i - 1, i),
                                      {s.batch, s.heads, s.columns - s.rows, s.size});
    heads[i] = parts.concat({old, heads[i]}, 2);
  }
  if (parts.has_output(1)) {
    const Shape one{1, s.batch, s.heads, s.columns, s.size};
    parts.give(1, parts.concat({parts.reshape(heads[1], one), parts.reshape(heads[2], one)}, 0));
  }
  const ValueId y = attended(parts, s, heads[0], heads[1], heads[2], mask, options_of(common, s));
  parts.give(0, merged_heads(parts, y, s));
}

// The shape from input 0 [batch, rows, hidden], the widths of queries, keys and values, and the
// past, input `past`.
std::optional<AttentionShape> packed_shape(Parts& parts, std::int64_t heads,
                                           const std::vector<std::int64_t>& widths,
                                           std::size_t past) {
  const Shape x = parts.shape(0);
  AttentionShape s;
  s.batch = x[0];
  s.rows = x[1];
  s.heads = s.key_heads = heads;
  s.size = widths[0] / heads;
  s.value_size = widths[2] / heads;
  const bool divides = widths[0] % heads == 0 && widths[2] % heads == 0;
  if (!divides || widths[0] != widths[1] || s.size <= 0 || s.value_size <= 0) {
    parts.fail(DiagKind::kShape, cat("sizes ", to_string(widths), " of queries, keys and values ",
                                     "are not those of ", heads, " heads"));
    return std::nullopt;
  }
  s.columns = s.rows;
  const bool has_cache = parts.has_input(past) || parts.has_output(1);
  if (has_cache && s.size != s.value_size) {
    parts.fail(DiagKind::kShape, "keys and values must have one size where they are kept");
    return std::nullopt;
  }
  if (!parts.allows(past, DType::kF32, {2, s.batch, heads, -1, s.size})) return std::nullopt;
  if (parts.has_input(past)) s.columns += parts.shape(past)[3];
  return s;
}

// A third of the columns of the weights, input 1, three times.
std::vector<std::int64_t> equal_widths(const Parts& parts) {
  const std::int64_t third = parts.shape(1)[1] / 3;
  return {third, third, third};
}

bool refuse_rotation(Parts& parts) {
  parts.only("do_rotary", 0);
  parts.only("past_present_share_buffer", 0);
  parts.take<std::int64_t>("rotary_embedding_dim", 0);
  return !parts.failed();
}

}  // namespace

void write_packed_attention(Parts& parts) {
  const auto common = take_common(parts);
  if (!common || !refuse_rotation(parts)) return;
  if (!parts.expects(0, DType::kF32, {-1, -1, -1})) return;
  if (!parts.expects(1, DType::kF32, {parts.shape(0)[2], -1})) return;
  auto widths = parts.take<std::vector<std::int64_t>>("qkv_hidden_sizes", {});
  if (widths.empty()) widths = equal_widths(parts);
  const std::int64_t width = parts.shape(1)[1];
  if (widths.size() != 3 || widths[0] < 0 || widths[0] > width || widths[2] < 0 ||
      widths[2] != width - 2 * widths[0]) {
    return parts.fail(DiagKind::kShape, cat("the weights have ", width, " columns, not those of ",
                                            "queries, keys and values ", to_string(widths)));
  }
  if (!parts.allows(2, DType::kF32, {width})) return;
  const auto shape = packed_shape(parts, common->heads, widths, 4);
  if (!shape) return;
  const auto mask = mask_of(parts, *common, *shape, 3, 5);
  if (!mask) return;
  ValueId x = parts.add("MatMul", {parts.input(0), parts.input(1)});
  if (parts.has_input(2)) x = parts.add("Add", {x, parts.input(2)});
  attend_packed(parts, *common, x, *shape, *mask, parts.input(4));
}

// The first product is one of integers; everything after it is in float.
void write_quantized_attention(Parts& parts) {
  const auto common = take_common(parts);
  if (!common || !refuse_rotation(parts) || !parts.needs(1) || !parts.needs(4)) return;
  const ValueId x = parts.input(0);
  if (!parts.expects(0, parts.dtype(0), {-1, -1, -1})) return;
  if (!parts.expects(1, parts.dtype(1), {parts.shape(0)[2], -1})) return;
  const std::int64_t width = parts.shape(1)[1];
  if (width % 3 != 0 || !is_8bit(parts.dtype(0)) || !is_8bit(parts.dtype(1))) {
    return parts.fail(DiagKind::kShape,
                      "inputs 0 and 1 must have 8 bits, and the weights 3 equal parts");
  }
  if (!parts.expects(2, DType::kF32, {width}) || !parts.needs(3)) return;
  if (!parts.expects(3, DType::kF32, parts.rank(parts.input(3)) == 1 ? Shape{1} : Shape{})) return;
  const auto shape = packed_shape(parts, common->heads, equal_widths(parts), 8);
  if (!shape) return;
  const auto mask = mask_of(parts, *common, *shape, 5, 9);
  if (!mask) return;
  const ValueId sum =
      parts.add("MatMulInteger", {x, parts.input(1), parts.input(6), parts.input(7)});
  const ValueId scale = parts.add("Mul", {parts.input(3), parts.input(4)});
  const ValueId real = parts.add("Mul", {parts.cast(sum, DType::kF32), scale});
  attend_packed(parts, *common, parts.add("Add", {real, parts.input(2)}), *shape, *mask,
                parts.input(8));
}

}  // namespace etch
