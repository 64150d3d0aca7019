// MultiHeadAttention of com.microsoft: queries, keys and values apart or packed, with a cache.
#include <optional>

#include "compiler/base/text.h"
#include "compiler/passes/functions/functions.h"
#include "compiler/passes/functions/microsoft_attention.h"

namespace etch {

namespace {

enum Input : std::size_t { kQuery, kKey, kValue, kBias, kMask, kScores, kPastKey, kPastValue };

// Heads that come in, [batch, heads, length, size].
struct Heads {
  ValueId query = kNoValue, key = kNoValue, value = kNoValue;
};

// Input i, one matrix of `width` columns, plus its part of the bias from column `begin` on.
ValueId with_bias(Parts& parts, std::size_t i, std::int64_t begin, std::int64_t width) {
  if (!parts.has_input(kBias)) return parts.input(i);
  return parts.add("Add",
                   {parts.input(i), parts.slice(parts.input(kBias), 0, begin, begin + width)});
}

// Part `at` of a packed input [batch, length, heads, count, size].
ValueId unpacked(Parts& parts, std::size_t i, std::int64_t at) {
  const Shape x = parts.shape(i);
  ValueId part = parts.slice(parts.input(i), 3, at, at + 1);
  part = parts.reshape(part, {x[0], x[1], x[2], x[4]});
  return parts.transpose(part, {0, 2, 1, 3});
}

// Query [batch, rows, heads * size]; keys and values like it, packed, or as heads of another
// network, which take no bias. False after a report.
bool read_apart(Parts& parts, AttentionShape& s, Heads& out) {
  const Shape q = parts.shape(kQuery);
  s.size = q[2] / s.heads;
  s.value_size = s.size;
  if (s.size == 0 || !parts.expects(kQuery, DType::kF32, {s.batch, s.rows, s.heads * s.size}) ||
      !parts.needs(kKey))
    return false;
  const std::int64_t width = s.heads * s.size;
  const std::size_t rank = parts.rank(parts.input(kKey));
  if (rank == 5) {
    if (!parts.expects(kKey, DType::kF32, {s.batch, -1, s.heads, 2, s.size})) return false;
    s.columns = parts.shape(kKey)[1];
  } else if (rank == 4) {
    if (!parts.expects(kKey, DType::kF32, {s.batch, s.heads, -1, s.size})) return false;
    s.columns = parts.shape(kKey)[2];
    if (!parts.expects(kValue, DType::kF32, {s.batch, s.heads, s.columns, -1})) return false;
    s.value_size = parts.shape(kValue)[3];
  } else {
    if (!parts.expects(kKey, DType::kF32, {s.batch, -1, width})) return false;
    s.columns = parts.shape(kKey)[1];
    if (!parts.expects(kValue, DType::kF32, {s.batch, s.columns, -1})) return false;
    s.value_size = parts.shape(kValue)[2] / s.heads;
    if (!parts.expects(kValue, DType::kF32, {s.batch, s.columns, s.heads * s.value_size}))
      return false;
  }
  if (!parts.allows(kBias, DType::kF32, {2 * width + s.heads * s.value_size})) return false;
  const auto heads = [&](std::size_t i, std::int64_t begin, std::int64_t length,
                         std::int64_t size) {
    return split_heads(parts, with_bias(parts, i, begin, s.heads * size), s.batch, length, s.heads,
                       size);
  };
  out.query = heads(kQuery, 0, s.rows, s.size);
  out.key = rank == 5   ? unpacked(parts, kKey, 0)
            : rank == 4 ? parts.input(kKey)
                        : heads(kKey, width, s.columns, s.size);
  out.value = rank == 5   ? unpacked(parts, kKey, 1)
              : rank == 4 ? parts.input(kValue)
                          : heads(kValue, 2 * width, s.columns, s.value_size);
  return true;
}

// Query [batch, rows, heads, 3, size] with keys and values in it. False after a report.
bool read_packed(Parts& parts, AttentionShape& s, Heads& out) {
  const Shape q = parts.shape(kQuery);
  s.size = s.value_size = q[4];
  s.columns = s.rows;
  if (!parts.expects(kQuery, DType::kF32, {s.batch, s.rows, s.heads, 3, s.size})) return false;
  out = {unpacked(parts, kQuery, 0), unpacked(parts, kQuery, 1), unpacked(parts, kQuery, 2)};
  return true;
}

// Puts the past, where there is one, before keys and values. False after a report.
bool add_past(Parts& parts, AttentionShape& s, Heads& heads) {
  if (!parts.has_input(kPastKey) && !parts.has_input(kPastValue)) return true;
  if (!parts.expects(kPastKey, DType::kF32, {s.batch, s.heads, -1, s.size})) return false;
  const std::int64_t past = parts.shape(kPastKey)[2];
  if (!parts.expects(kPastValue, DType::kF32, {s.batch, s.heads, past, s.value_size})) return false;
  s.columns += past;
  heads.key = parts.concat({parts.input(kPastKey), heads.key}, 2);
  heads.value = parts.concat({parts.input(kPastValue), heads.value}, 2);
  return true;
}

}  // namespace

void write_multi_head_attention(Parts& parts) {
  const auto common = take_common(parts);
  if (!common) return;
  const std::size_t rank = parts.rank(parts.input(kQuery));
  if (!parts.expects(kQuery, DType::kF32, Shape(rank == 5 ? 5 : 3, -1))) return;
  if (parts.has_input(8) || parts.has_input(9)) {
    return parts.fail(DiagKind::kUnsupported,
                      "past_sequence_length and cache_indirection are not supported");
  }
  AttentionShape s;
  s.batch = parts.shape(kQuery)[0];
  s.rows = parts.shape(kQuery)[1];
  s.heads = s.key_heads = common->heads;
  const bool apart = rank == 3 && parts.has_input(kKey) && parts.rank(parts.input(kKey)) == 3;
  if (parts.has_input(kBias) && !apart)
    return parts.fail(DiagKind::kGraph, "a bias needs queries, keys and values of rank 3");
  Heads heads;
  const bool good = rank == 5 ? read_packed(parts, s, heads) : read_apart(parts, s, heads);
  if (!good) return;
  if (common->causal && s.columns != s.rows) {
    // ONNX Runtime counts positions from the first key, but lets the last query see all of them.
    return parts.fail(DiagKind::kUnsupported,
                      cat("attribute 'unidirectional' needs as many new keys as queries, has ",
                          s.columns, " and ", s.rows));
  }
  if (!add_past(parts, s, heads)) return;
  const auto mask = mask_of(parts, *common, s, kMask, kScores);
  if (!mask) return;
  AttentionOptions options = options_of(*common, s);
  options.score_output = 0;
  options.score_index = 3;
  const ValueId y = attended(parts, s, heads.query, heads.key, heads.value, *mask, options);
  parts.give(0, merged_heads(parts, y, s));
  parts.give(1, heads.key);
  parts.give(2, heads.value);
}

}  // namespace etch
