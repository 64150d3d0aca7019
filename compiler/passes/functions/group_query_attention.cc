// GroupQueryAttention of com.microsoft, for fixed sizes: how many keys are valid is known at run
// time (seqlens_k), where they are kept is not: keys are written after the valid ones of the past.
#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/base/text.h"
#include "compiler/passes/functions/attention_core.h"
#include "compiler/passes/functions/functions.h"
#include "compiler/passes/functions/rotary.h"

namespace etch {

namespace {

enum Input : std::size_t {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kLengths,
  kTotal,
  kCosine,
  kSine,
  kPlaces,
  kBias,
  kSink
};

constexpr float kHidden = -std::numeric_limits<float>::infinity();

struct Step {
  AttentionShape shape;
  std::int64_t past = 0;  // positions that the cache has
  ValueId before;         // int64 [batch]: how many keys of the past are valid
  bool rotates = false, interleaved = false;
};

// Queries, keys and values as [batch, length, heads, size].
struct Heads {
  ValueId query, key, value;
};

bool read_shape(Parts& parts, AttentionShape& s) {
  s.heads = parts.take<std::int64_t>("num_heads", 0);
  s.key_heads = parts.take<std::int64_t>("kv_num_heads", 0);
  if (s.key_heads <= 0 || s.heads <= 0 || s.heads % s.key_heads != 0) {
    parts.fail(DiagKind::kAttr, cat("num_heads ", s.heads, " must be a multiple of kv_num_heads ",
                                    s.key_heads, ", both > 0"));
    return false;
  }
  if (!parts.expects(kQuery, DType::kF32, {-1, -1, -1})) return false;
  const Shape q = parts.shape(kQuery);
  s.batch = q[0];
  s.rows = q[1];
  const bool packed = !parts.has_input(kKey);
  const std::int64_t parts_of_q = packed ? s.heads + 2 * s.key_heads : s.heads;
  s.size = s.value_size = q[2] / parts_of_q;
  const Shape kv{s.batch, s.rows, s.key_heads * s.size};
  return s.size > 0 && parts.expects(kQuery, DType::kF32, {s.batch, s.rows, parts_of_q * s.size}) &&
         (packed ||
          (parts.expects(kKey, DType::kF32, kv) && parts.expects(kValue, DType::kF32, kv)));
}

// How many positions the caches that go out have: what the file says, or what the total says, or
// those of the past and the new ones.
bool read_sizes(Parts& parts, Step& step) {
  AttentionShape& s = step.shape;
  const Shape cache{s.batch, s.key_heads, -1, s.size};
  if (!parts.allows(kPastKey, DType::kF32, cache)) return false;
  if (parts.has_input(kPastKey)) step.past = parts.shape(kPastKey)[2];
  const Shape same{s.batch, s.key_heads, step.past, s.size};
  if (!parts.allows(kPastValue, DType::kF32, same) ||
      !parts.expects(kLengths, DType::kS32,
                     parts.needs(kLengths) && parts.rank(parts.input(kLengths)) == 2
                         ? Shape{s.batch, 1}
                         : Shape{s.batch}))
    return false;
  const Tensor* total = parts.constant(kTotal);
  s.columns = parts.declared_size(1, 2);
  if (total != nullptr && total->dtype() == DType::kS32 && total->size() == 1) {
    s.columns = std::max(step.past, total->integer(0));
  } else if (s.columns < 0) {
    s.columns = step.past + s.rows;
  }
  if (s.columns >= std::max(step.past, s.rows) && s.columns <= step.past + s.rows) return true;
  parts.fail(DiagKind::kShape, cat("a cache of ", s.columns, " positions does not fit one of ",
                                   step.past, " and ", s.rows, " new ones"));
  return false;
}

Heads heads_of(Parts& parts, const AttentionShape& s) {
  const auto part = [&](std::size_t i, std::int64_t first, std::int64_t heads) {
    ValueId id = parts.input(i);
    if (id == kNoValue || !parts.has_input(kKey)) {
      id = parts.slice(parts.input(kQuery), 2, first * s.size, (first + heads) * s.size);
    }
    return parts.reshape(id, {s.batch, s.rows, heads, s.size});
  };
  return {part(kQuery, 0, s.heads), part(kKey, s.heads, s.key_heads),
          part(kValue, s.heads + s.key_heads, s.key_heads)};
}

// Turns queries and keys by their positions. False after a report.
bool rotate(Parts& parts, const Step& step, Heads& heads) {
  const AttentionShape& s = step.shape;
  if (!parts.expects(kCosine, DType::kF32, {-1, -1})) return false;
  const std::int64_t half = parts.shape(kCosine)[1];
  if (!parts.expects(kSine, DType::kF32, {-1, half})) return false;
  if (half < 1 || half > s.size / 2) {
    parts.fail(DiagKind::kShape, cat("cos_cache has ", half, " columns for heads of ", s.size));
    return false;
  }
  if (!parts.allows(kPlaces, DType::kS64, {s.batch, s.rows})) return false;
  ValueId places = parts.input(kPlaces);
  if (places == kNoValue) {
    places = parts.add("Add", {parts.reshape(step.before, {s.batch, 1}),
                               parts.positions(DType::kS64, 0, s.rows, {1, s.rows})});
  }
  const auto angles = [&](std::size_t i) {
    return parts.reshape(parts.gather(parts.input(i), places, 0), {s.batch, s.rows, 1, half});
  };
  const ValueId cosine = angles(kCosine), sine = angles(kSine);
  RotaryShape shape{s.batch, s.rows, s.heads, s.size, 2 * half, step.interleaved};
  heads.query = turned_heads(parts, heads.query, shape, cosine, sine);
  shape.heads = s.key_heads;
  heads.key = turned_heads(parts, heads.key, shape, cosine, sine);
  return true;
}

// The cache with new rows, [batch, key_heads, rows, size], from position `before` on. Positions
// after the new rows are 0.
ValueId updated(Parts& parts, const Step& step, ValueId past, ValueId fresh) {
  const AttentionShape& s = step.shape;
  if (step.past == 0 && s.columns == s.rows) return fresh;
  const std::int64_t missing = s.columns - step.past;
  std::vector<ValueId> rows;
  if (step.past != 0) rows.push_back(past);
  if (missing != 0) {
    const ValueId shape = parts.ints({s.batch, s.key_heads, missing, s.size});
    rows.push_back(parts.add("Expand", {parts.scalar(0), shape}));
  }
  const ValueId old = rows.size() == 1 ? rows[0] : parts.concat(rows, 2);
  std::vector<ValueId> all;  // batch by batch, whose positions differ
  for (std::int64_t b = 0; b < s.batch; ++b) {
    const auto of_batch = [&](ValueId id) {
      return s.batch == 1 ? id : parts.slice(id, 0, b, b + 1);
    };
    const ValueId places = parts.positions(DType::kS64, 0, s.columns, {s.columns});
    const ValueId at = parts.add("Sub", {places, of_batch(step.before)});
    const ValueId zero = parts.number(DType::kS64, 0);
    const ValueId last = parts.number(DType::kS64, s.rows - 1);
    const ValueId within = parts.add("Min", {parts.add("Max", {at, zero}), last});
    const auto choose = [&](ValueId condition, ValueId one, ValueId other) {
      return parts.add("Where", {parts.reshape(condition, {1, 1, s.columns, 1}), one, other});
    };
    const ValueId rest = choose(parts.add("Less", {last, at}), parts.scalar(0),
                                parts.gather(of_batch(fresh), within, 2));
    all.push_back(choose(parts.add("Less", {at, zero}), of_batch(old), rest));
  }
  return all.size() == 1 ? all[0] : parts.concat(all, 0);
}

std::optional<AttentionMask> take_mask(Parts& parts, const Step& step) {
  const AttentionShape& s = step.shape;
  AttentionWindow window{.left = std::nullopt, .right = 0, .offset = 0, .offsets = step.before};
  const auto local = parts.take<std::int64_t>("local_window_size", -1);
  if (local > 0) window.left = std::min(local, std::int64_t{1} << 40) - 1;
  AttentionMask mask{{window_bias(parts, s, window, kHidden)}, false};
  if (!parts.has_input(kBias)) return mask;
  const Shape shape = parts.shape(kBias);
  const bool fits = shape.size() == 4 && (shape[0] == 1 || shape[0] == s.batch) &&
                    (shape[1] == 1 || shape[1] == s.heads);
  if (!parts.expects(kBias, DType::kF32,
                     {fits ? -1 : s.batch, fits ? -1 : s.heads, s.rows, s.columns}))
    return std::nullopt;
  mask.biases.push_back(parts.input(kBias));
  return mask;
}

bool take_rest(Parts& parts, Step& step, AttentionOptions& options) {
  options.scale = parts.take<float>("scale", 0);
  options.softcap = parts.take<float>("softcap", 0);
  step.rotates = parts.take<std::int64_t>("do_rotary", 0) != 0;
  step.interleaved = parts.take<std::int64_t>("rotary_interleaved", 0) != 0;
  parts.only("qk_output", 0);
  return !parts.failed();
}

// The sink of each head: an input, or 0 where the softmax is a smooth one. False after a report.
bool take_sink(Parts& parts, const AttentionShape& shape, AttentionOptions& options) {
  const bool smooth = parts.take<std::int64_t>("smooth_softmax", 0) == 1;
  if (!parts.allows(kSink, DType::kF32, {shape.heads})) return false;
  if (parts.has_input(kSink)) {
    options.sink = parts.input(kSink);
  } else if (smooth) {
    options.sink = parts.add("Expand", {parts.scalar(0), parts.ints({shape.heads})});
  }
  return true;
}

}  // namespace

void write_group_query_attention(Parts& parts) {
  Step step;
  AttentionShape& s = step.shape;
  AttentionOptions options;
  if (!take_rest(parts, step, options) || !read_shape(parts, s) || !read_sizes(parts, step) ||
      !take_sink(parts, s, options))
    return;
  if (options.scale == 0) options.scale = default_scale(s.size);
  // Valid keys of the past: seqlens_k + 1 with the new ones; none where the new ones are all.
  const ValueId lengths = parts.reshape(parts.cast(parts.input(kLengths), DType::kS64), {s.batch});
  const ValueId before = parts.add("Add", {lengths, parts.number(DType::kS64, 1 - s.rows)});
  step.before = parts.add("Max", {before, parts.number(DType::kS64, 0)});
  Heads heads = heads_of(parts, s);
  if (step.rotates && !rotate(parts, step, heads)) return;
  const auto mask = take_mask(parts, step);
  if (!mask) return;
  const auto first = [&](ValueId id) { return parts.transpose(id, {0, 2, 1, 3}); };
  const ValueId key = updated(parts, step, parts.input(kPastKey), first(heads.key));
  const ValueId value = updated(parts, step, parts.input(kPastValue), first(heads.value));
  const ValueId y = attended(parts, s, first(heads.query), key, value, *mask, options);
  parts.give(0, merged_heads(parts, y, s));
  parts.give(1, key);
  parts.give(2, value);
}

}  // namespace etch
