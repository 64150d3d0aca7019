// Attention of ai.onnx (since 23): heads by shape or by attribute, masks, caches as inputs and
// outputs, keys beyond a length known at run time (since 24), windows (since 25).
#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/base/text.h"
#include "compiler/passes/functions/attention_core.h"
#include "compiler/passes/functions/functions.h"

namespace etch {

namespace {

enum Input : std::size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths };

constexpr float kHidden = -std::numeric_limits<float>::infinity();

struct Heads {
  AttentionShape shape;
  std::int64_t fresh = 1;  // keys that come in; shape.columns also has those of the past
  bool merged = false;     // inputs are [batch, length, heads * size]
};

std::int64_t past_length(const Parts& parts) {
  return parts.has_input(kPastKey) ? parts.shape(kPastKey)[2] : 0;
}

std::optional<Heads> refused(Parts& parts, std::string what) {
  parts.fail(DiagKind::kShape, std::move(what));
  return std::nullopt;
}

// Reports what does not fit: shapes of query, key and value.
std::optional<Heads> heads_of(Parts& parts) {
  const auto query_heads = parts.take<std::int64_t>("q_num_heads", 0);
  const auto key_heads = parts.take<std::int64_t>("kv_num_heads", 0);
  const std::size_t rank = parts.rank(parts.input(kQuery));
  const Shape any(rank == 4 ? 4 : 3, -1);
  for (const std::size_t i : {kQuery, kKey, kValue}) {
    if (!parts.expects(i, DType::kF32, any)) return std::nullopt;
  }
  const Shape q = parts.shape(kQuery);
  const Shape k = parts.shape(kKey);
  const Shape v = parts.shape(kValue);
  Heads out;
  out.merged = rank == 3;
  if (out.merged && (query_heads <= 0 || key_heads <= 0))
    return refused(parts, "q_num_heads and kv_num_heads must be > 0 where inputs have rank 3");
  AttentionShape& s = out.shape;
  s = {q[0],
       out.merged ? query_heads : q[1],
       out.merged ? key_heads : k[1],
       q[rank - 2],
       k[rank - 2],
       out.merged ? q[2] / query_heads : q[3],
       out.merged ? v[2] / key_heads : v[3]};
  out.fresh = s.columns;
  const auto given = [&](std::int64_t batch, std::int64_t heads, std::int64_t length,
                         std::int64_t size) {
    return out.merged ? Shape{batch, length, heads * size} : Shape{batch, heads, length, size};
  };
  if (s.size == 0 || s.value_size == 0 || s.key_heads == 0 || s.heads % s.key_heads != 0 ||
      q != given(s.batch, s.heads, s.rows, s.size) ||
      k != given(s.batch, s.key_heads, s.columns, s.size) ||
      v != given(s.batch, s.key_heads, s.columns, s.value_size)) {
    return refused(parts, cat("shapes ", to_string(q), ", ", to_string(k), " and ", to_string(v),
                              " are not those of ", s.heads, " heads of queries and ", s.key_heads,
                              " of keys and values"));
  }
  return out;
}

// Keys or values with those of the past before them, as [batch, key_heads, columns, size].
ValueId with_past(Parts& parts, const Heads& heads, Input fresh, Input past, std::int64_t size) {
  const AttentionShape& s = heads.shape;
  ValueId id = parts.input(fresh);
  if (heads.merged) id = split_heads(parts, id, s.batch, heads.fresh, s.key_heads, size);
  return parts.has_input(past) ? parts.concat({parts.input(past), id}, 2) : id;
}

// The mask as a bias. Columns that it does not have are hidden.
std::optional<ValueId> mask_bias(Parts& parts, const AttentionShape& shape) {
  ValueId id = parts.input(kMask);
  Shape mask = parts.shape(kMask);
  const DType type = parts.dtype(kMask);
  const bool truth = type == DType::kBool;
  const Shape full{shape.batch, shape.heads, shape.rows, shape.columns};
  bool fits = !mask.empty() && mask.size() <= 4 && (truth || type == DType::kF32);
  for (std::size_t i = 0; fits && i + 1 < mask.size(); ++i)
    fits = mask[i] == 1 || mask[i] == full[4 - mask.size() + i];
  if (!fits || mask.back() > shape.columns) {
    parts.fail(DiagKind::kShape,
               cat("attn_mask must be bool or float32 and broadcast to ", to_string(full), ", is ",
                   name_of(type), " ", to_string(mask)));
    return std::nullopt;
  }
  if (truth) id = bias_where(parts, id, kHidden);
  const std::int64_t missing = shape.columns - mask.back();
  if (missing == 0) return id;
  mask.back() = missing;
  const ValueId rest = parts.add("Expand", {parts.scalar(kHidden), parts.ints(mask)});
  return parts.concat({id, rest}, static_cast<std::int64_t>(mask.size()) - 1);
}

// int64 [batch] -> bias that hides keys from that position on.
ValueId length_bias(Parts& parts, const AttentionShape& shape) {
  const ValueId lengths = parts.reshape(parts.input(kLengths), {shape.batch, 1, 1, 1});
  const ValueId columns = parts.positions(DType::kS64, 0, shape.columns, {1, 1, 1, shape.columns});
  return bias_where(parts, parts.add("Less", {columns, lengths}), kHidden);
}

// Queries are the last of the keys that there are; without a cache they begin with the keys.
AttentionWindow take_window(Parts& parts, const AttentionShape& shape) {
  AttentionWindow window;
  const auto left = parts.take<std::int64_t>("left_window_size", -1);
  const auto right = parts.take<std::int64_t>("right_window_size", -1);
  constexpr auto kFar = std::int64_t{1} << 40;  // beyond every position, and sums do not overflow
  if (left >= 0) window.left = std::min(left, kFar);
  if (right >= 0) window.right = std::min(right, kFar);
  if (parts.take<std::int64_t>("is_causal", 0) != 0) window.right = 0;
  window.offset = past_length(parts);
  if (parts.has_input(kLengths) && (window.left || window.right)) {
    window.offsets =
        parts.add("Sub", {parts.input(kLengths), parts.number(DType::kS64, shape.rows)});
  }
  return window;
}

std::optional<AttentionMask> take_mask(Parts& parts, const AttentionShape& shape) {
  AttentionMask mask;
  const AttentionWindow window = take_window(parts, shape);
  if (parts.has_input(kMask)) {
    const auto bias = mask_bias(parts, shape);
    if (!bias) return std::nullopt;
    mask.biases.push_back(*bias);
  }
  const ValueId seen = window_bias(parts, shape, window, kHidden);
  if (seen != kNoValue) mask.biases.push_back(seen);
  if (parts.has_input(kLengths)) mask.biases.push_back(length_bias(parts, shape));
  mask.may_hide_rows =
      parts.has_input(kMask) || parts.has_input(kLengths) || hides_rows(shape, window);
  return mask;
}

bool check_cache(Parts& parts, const AttentionShape& s) {
  if (parts.has_input(kPastKey) != parts.has_input(kPastValue)) {
    parts.fail(DiagKind::kGraph, "past_key and past_value must both be there, or neither");
    return false;
  }
  if (parts.has_input(kPastKey) && parts.has_input(kLengths)) {
    parts.fail(DiagKind::kGraph, "nonpad_kv_seqlen and past_key exclude each other");
    return false;
  }
  return parts.allows(kPastKey, DType::kF32, {s.batch, s.key_heads, -1, s.size}) &&
         parts.allows(kPastValue, DType::kF32,
                      {s.batch, s.key_heads, past_length(parts), s.value_size}) &&
         parts.allows(kLengths, DType::kS64, {s.batch});
}

}  // namespace

void write_attention(Parts& parts) {
  AttentionOptions options;
  options.softcap = parts.take<float>("softcap", 0);
  options.score_output = static_cast<int>(parts.take<std::int64_t>("qk_matmul_output_mode", 0));
  options.score_index = 3;
  if (!takes_softmax_precision(parts)) return;
  auto heads = heads_of(parts);
  if (!heads) return;
  AttentionShape& shape = heads->shape;
  if (!check_cache(parts, shape)) return;
  shape.columns += past_length(parts);
  options.scale = parts.take<float>("scale", default_scale(shape.size));
  const auto mask = take_mask(parts, shape);
  if (!mask) return;
  const ValueId query = heads->merged ? split_heads(parts, parts.input(kQuery), shape.batch,
                                                    shape.rows, shape.heads, shape.size)
                                      : parts.input(kQuery);
  const ValueId key = with_past(parts, *heads, kKey, kPastKey, shape.size);
  const ValueId value = with_past(parts, *heads, kValue, kPastValue, shape.value_size);
  const ValueId y = attended(parts, shape, query, key, value, *mask, options);
  parts.give(0, heads->merged ? merged_heads(parts, y, shape) : y);
  parts.give(1, key);
  parts.give(2, value);
}

}  // namespace etch
