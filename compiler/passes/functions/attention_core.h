// What all operators of attention have in common: heads, products, masks, softmax.
#pragma once

#include <optional>
#include <vector>

#include "compiler/passes/compositions/parts.h"

namespace etch {

// `rows` queries of `heads` heads look at `columns` keys. Each head of keys and values serves
// heads / key_heads consecutive heads of queries.
struct AttentionShape {
  std::int64_t batch = 1, heads = 1, key_heads = 1;
  std::int64_t rows = 1, columns = 1;
  std::int64_t size = 1, value_size = 1;  // elements of one query and key, and of one value
};

// What is added to the scores before the softmax, in order; each broadcasts to [batch, heads, rows,
// columns].
struct AttentionMask {
  std::vector<ValueId> biases;
  bool may_hide_rows = false;  // a row may be -infinity in all columns; its result is 0
};

struct AttentionOptions {
  float scale = 1;              // of the scores
  float softcap = 0;            // > 0: scores are softcap * tanh(score / softcap)
  ValueId sink = kNoValue;      // [heads]: the score of a key without a value, in each row
  int score_output = 0;         // 0 scaled, 1 capped, 2 with mask, 3 after softmax ...
  std::size_t score_index = 4;  // ... as this output of the node, where it is used
};

// Query [batch, heads, rows, size], key [batch, key_heads, columns, size], value [batch, key_heads,
// columns, value_size]. Returns [batch, heads, rows, value_size].
ValueId attended(Parts& parts, const AttentionShape& shape, ValueId query, ValueId key,
                 ValueId value, const AttentionMask& mask, const AttentionOptions& options);

// The product of each head of queries with the head of keys or values that it has: left [batch,
// heads, rows, depth], right [batch, key_heads, depth, width].
ValueId grouped_product(Parts& parts, const AttentionShape& shape, ValueId left, ValueId right,
                        std::int64_t depth, std::int64_t width);

// Takes the attribute of this name. Whatever type of floats it names, the softmax is computed in
// float32 (docs/spec/float.md section 9.5). False after a report.
bool takes_softmax_precision(Parts& parts);

// x [batch, length, heads * size] as [batch, heads, length, size], and back.
ValueId split_heads(Parts& parts, ValueId x, std::int64_t batch, std::int64_t length,
                    std::int64_t heads, std::int64_t size);
ValueId merged_heads(Parts& parts, ValueId x, const AttentionShape& shape);

// Which keys a query sees by position: with p = row + offset those in [p - left, p + right].
struct AttentionWindow {
  std::optional<std::int64_t> left, right;
  std::int64_t offset = 0;
  ValueId offsets = kNoValue;  // instead: int64 [batch], known at run time
};

// 0 for keys inside the window, else `hidden`: [rows, columns], or [batch, 1, rows, columns] where
// there are `offsets`. kNoValue: all keys are inside.
ValueId window_bias(Parts& parts, const AttentionShape& shape, const AttentionWindow& window,
                    float hidden);
// Whether a window with a fixed offset hides all keys of some row.
bool hides_rows(const AttentionShape& shape, const AttentionWindow& window);

// 0 where `seen` (bool) holds, else `hidden`.
ValueId bias_where(Parts& parts, ValueId seen, float hidden);

// 1 / sqrt(size), rounded as ONNX Runtime rounds it.
float default_scale(std::int64_t size);

}  // namespace etch
